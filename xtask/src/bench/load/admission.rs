//! What judging one Machine costs: pruning, defaults, schema and rules, as the server counts it.
//!
//! The server measures itself while a client creates machines, so that the figure is about the
//! very code and the very object, without the network and the store around it.

use anyhow::{Context, Result, ensure};

use super::{creates, server::Server};
use crate::bench::figure::{Figure, Target, Unit};

/// The counter of the server.
const COUNTER: &str = "machinist_apiserver_schema_duration_seconds";
/// The microseconds that were promised.
const MICROSECONDS: f64 = 50.0;

/// Measures on a server that nobody else uses.
pub(super) async fn measure(server: &mut Server, rounds: u32) -> Result<Figure> {
    // The first object makes the schema ready.
    creates::one_by_one(server).await?;
    let mut values = Vec::new();
    for round in 1..=rounds {
        eprintln!("bench: admission, round {round} of {rounds}");
        let before = spent(server).await?;
        creates::one_by_one(server).await?;
        let after = spent(server).await?;
        ensure!(after.1 > before.1, "the server counted no machine");
        values.push((after.0 - before.0) * 1e6 / (after.1 - before.1));
    }
    Ok(Figure {
        name: "validating and defaulting a machine",
        unit: Unit::Microseconds,
        machinist: values,
        peer: Vec::new(),
        target: Target::Below(MICROSECONDS),
    })
}

/// The seconds that went into judging so far, and the number of objects.
async fn spent(server: &Server) -> Result<(f64, f64)> {
    let mut connection = server.door.connect().await?;
    let metrics = connection.ask("GET", "/metrics", &[]).await?;
    let metrics = String::from_utf8(metrics).context("metrics that are no text")?;
    let value = |part: &str| {
        let name = format!("{COUNTER}_{part} ");
        let line = metrics.lines().find_map(|line| line.strip_prefix(&name));
        let number = line.and_then(|number| number.trim().parse::<f64>().ok());
        number.with_context(|| format!("the server does not tell {name}"))
    };
    Ok((value("sum")?, value("count")?))
}
