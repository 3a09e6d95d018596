//! A hundred thousand machines on Machinist alone: loading, pages, a watch, memory, a restart.

use std::{path::Path, time::Instant};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::{creates, fan_out, machine, server::Server};
use crate::bench::{
    figure::{Figure, Target, Unit},
    memory,
    process::Tools,
};

const MACHINES: usize = 100_000;
const PAGE: usize = 500;

pub(super) async fn measure(tools: &Tools, home: &Path) -> Result<Vec<Figure>> {
    let dir = home.join("many");
    let mut server = Server::machinist(tools, &dir).await?;
    eprintln!("bench: creating {MACHINES} machines");
    let rate = creates::create(&mut server, MACHINES).await?;
    eprintln!("bench: listing them by page");
    let pages = list_by_page(&server).await?;
    let watching = fan_out::open(&server.door, fan_out::Way::Http1, fan_out::FEW).await?;
    let loaded = memory::idle(&mut server.processes()).await?;
    drop(watching);
    eprintln!("bench: starting again");
    let restart = server.restart(tools, &dir).await?;
    let again = list_by_page(&server).await?;
    let after = memory::idle(&mut server.processes()).await?;
    let alone = |name, unit, value: f64, target| Figure {
        name,
        unit,
        machinist: vec![value],
        peer: Vec::new(),
        target,
    };
    Ok(vec![
        alone(
            "100,000 machines: creates",
            Unit::PerSecond,
            rate,
            Target::Told,
        ),
        alone(
            "100,000 machines: a page of 500",
            Unit::Milliseconds,
            pages.min(again),
            Target::Told,
        ),
        alone(
            "100,000 machines: memory",
            Unit::Mebibytes,
            loaded.resident,
            Target::Below(600.0),
        ),
        alone(
            "100,000 machines: start to ready",
            Unit::Seconds,
            restart,
            Target::Below(3.0),
        ),
        alone(
            "100,000 machines: memory after it",
            Unit::Mebibytes,
            after.resident,
            Target::Below(600.0),
        ),
    ])
}

/// Milliseconds of one page, over all pages; makes sure that every machine is on one of them.
async fn list_by_page(server: &Server) -> Result<f64> {
    let mut connection = server.door.connect().await?;
    let (mut seen, mut pages, mut token) = (0, 0, String::new());
    let began = Instant::now();
    loop {
        let path = format!("{}?limit={PAGE}&continue={token}", machine::MACHINES);
        let page = connection.ask("GET", &path, &[]).await?;
        let page: Value = serde_json::from_slice(&page).context("a list that is no JSON")?;
        seen += page["items"].as_array().map_or(0, Vec::len);
        pages += 1;
        token = page["metadata"]["continue"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        if token.is_empty() {
            break;
        }
    }
    ensure!(seen == server.created, "{seen} machines were listed");
    Ok(began.elapsed().as_secs_f64() * 1e3 / f64::from(pages))
}
