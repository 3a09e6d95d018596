//! Thousands of machines on the simulator: how soon all of them run, what that costs, and what it
//! costs to keep them.
//!
//! The machines are declared first, without an engine. Then the engine starts, the provider is
//! declared, and the time until the last machine runs is compared with what the simulator itself
//! needs for one look and one create a machine.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::{
    creates, machine,
    server::Server,
    wire::{Connection, Door},
};
use crate::bench::{
    figure::{Figure, Target, Unit},
    memory,
    process::Tools,
};

const FLEET: usize = 10_000;
const LARGE: usize = 100_000;
/// Seconds of one call to the simulator, and how many it serves at a time.
const LATENCY: f64 = 0.05;
const AT_A_TIME: usize = 100;
/// How long the quiet fleet is watched.
const QUIET: Duration = Duration::from_secs(60);
const PROVIDERS: &str = "/apis/vitistack.io/v1alpha1/namespaces/default/machineproviders";
/// A machine that takes longer than this for each machine that there is does not come.
const PATIENCE: Duration = Duration::from_millis(60);
/// A server that wrote nothing for so long is quiet.
const SETTLED: Duration = Duration::from_secs(3);
const LOOK: Duration = Duration::from_millis(250);

/// What one fleet showed.
struct Shown {
    /// Seconds until the last machine ran.
    seconds: f64,
    /// Durable writes a machine.
    writes: f64,
    /// Calls to the simulator a machine.
    calls: f64,
    /// Microseconds of a processor for one machine, engine and API server together.
    effort: f64,
    /// MiB with the engine, and of the same API server without.
    memory: (f64, f64),
    /// Percent of a processor while nothing happens.
    idle: f64,
    /// Calls to the simulator meanwhile.
    idle_calls: f64,
}

pub(super) async fn measure(tools: &Tools, home: &Path, large: bool) -> Result<Vec<Figure>> {
    let fleet = run(tools, &home.join("fleet"), FLEET).await?;
    let mut figures = of_fleet(&fleet);
    if large {
        let large = run(tools, &home.join("large-fleet"), LARGE).await?;
        figures.push(Figure {
            name: "100,000 on the simulator: effort a machine",
            unit: Unit::Microseconds,
            machinist: vec![large.effort],
            peer: vec![fleet.effort],
            target: Target::AtMostTimes(1.3),
        });
        figures.push(alone(
            "100,000 on the simulator: all run",
            Unit::Seconds,
            large.seconds,
            Target::Told,
        ));
        figures.push(alone(
            "100,000 on the simulator: kept, of a core",
            Unit::Percent,
            large.idle,
            Target::Told,
        ));
    }
    Ok(figures)
}

fn alone(name: &'static str, unit: Unit, value: f64, target: Target) -> Figure {
    Figure {
        name,
        unit,
        machinist: vec![value],
        peer: Vec::new(),
        target,
    }
}

fn of_fleet(fleet: &Shown) -> Vec<Figure> {
    vec![
        Figure {
            name: "10,000 on the simulator: all run",
            unit: Unit::Seconds,
            machinist: vec![fleet.seconds],
            peer: vec![FLEET as f64 * 2.0 * LATENCY / AT_A_TIME as f64],
            target: Target::AtMostTimes(1.3),
        },
        alone(
            "10,000 on the simulator: writes a machine",
            Unit::Count,
            fleet.writes,
            // Three, and not more than four; a few are about the provider.
            Target::Below(4.01),
        ),
        alone(
            "10,000 on the simulator: calls a machine",
            Unit::Count,
            fleet.calls,
            Target::Told,
        ),
        alone(
            "10,000 on the simulator: effort a machine",
            Unit::Microseconds,
            fleet.effort,
            Target::Told,
        ),
        Figure {
            name: "10,000 on the simulator: memory",
            unit: Unit::Mebibytes,
            machinist: vec![fleet.memory.0],
            peer: vec![fleet.memory.1],
            target: Target::More(60.0),
        },
        alone(
            "10,000 kept as declared, of a core",
            Unit::Percent,
            fleet.idle,
            Target::Below(2.0),
        ),
        alone(
            "10,000 kept as declared, calls a minute",
            Unit::Count,
            fleet.idle_calls,
            // A probe and a list or two: not one for each machine.
            Target::Below(10.0),
        ),
    ]
}

async fn run(tools: &Tools, dir: &Path, count: usize) -> Result<Shown> {
    let mut server = Server::machinist(tools, dir).await?;
    eprintln!("bench: declaring {count} machines");
    creates::create(&mut server, count).await?;
    server.restart_with_engine(tools, dir).await?;
    eprintln!("bench: running {count} machines on the simulator");
    let mut connection = server.door.connect().await?;
    let revision = until_quiet(&mut connection).await?;
    let effort = server.processor_time()?;
    let began = Instant::now();
    let provider = provider().to_string();
    connection
        .ask("POST", PROVIDERS, provider.as_bytes())
        .await?;
    until_all_run(&mut connection, count, began).await?;
    let seconds = began.elapsed().as_secs_f64();
    let effort = server.processor_time()? - effort;
    let written = self::revision(&mut connection).await? - revision;
    let calls = provider_calls(&server.door).await?;
    eprintln!("bench: watching {count} machines that do not change");
    let with_engine = memory::idle(&mut server.processes()).await?;
    let (idle, before) = (
        server.processor_time()?,
        provider_calls(&server.door).await?,
    );
    sleep(QUIET).await;
    let idle = server.processor_time()? - idle;
    let idle_calls = provider_calls(&server.door).await? - before;
    server.restart(tools, dir).await?;
    let without = memory::idle(&mut server.processes()).await?;
    Ok(Shown {
        seconds,
        writes: written / count as f64,
        calls: calls / count as f64,
        effort: effort * 1e6 / count as f64,
        memory: (with_engine.resident, without.resident),
        idle: idle * 100.0 / QUIET.as_secs_f64(),
        idle_calls,
    })
}

fn provider() -> Value {
    json!({
        "apiVersion": "vitistack.io/v1alpha1",
        "kind": "MachineProvider",
        "metadata": { "name": "fleet" },
        "spec": {
            "type": "sim",
            "region": "local",
            "config": { "customSettings": {
                "latency": format!("{}ms", LATENCY * 1e3),
                "concurrency": AT_A_TIME.to_string(),
            } },
        },
    })
}

/// The revision once nothing is written any more: each machine is told that it has no provider
/// yet, which is no part of running it.
async fn until_quiet(connection: &mut Connection) -> Result<f64> {
    let mut before = revision(connection).await?;
    loop {
        sleep(SETTLED).await;
        let now = revision(connection).await?;
        if now == before {
            return Ok(now);
        }
        before = now;
    }
}

async fn until_all_run(connection: &mut Connection, count: usize, began: Instant) -> Result<()> {
    let path = format!(
        "{}?limit=1&fieldSelector=status.phase%21%3DRunning",
        machine::MACHINES
    );
    let patience = PATIENCE * u32::try_from(count).context("so many machines")?;
    loop {
        let list = ask(connection, &path).await?;
        let Some(waiting) = list["items"].get(0) else {
            return Ok(());
        };
        ensure!(
            began.elapsed() < patience,
            "a machine does not run: {waiting:#}"
        );
        sleep(LOOK).await;
    }
}

/// The store's revision, which every durable write moves by one.
async fn revision(connection: &mut Connection) -> Result<f64> {
    let list = ask(connection, &format!("{}?limit=1", machine::MACHINES)).await?;
    let version = list["metadata"]["resourceVersion"].as_str();
    let version = version.context("a list has no version")?;
    version.parse().context("a version that is no number")
}

async fn ask(connection: &mut Connection, path: &str) -> Result<Value> {
    let answer = connection.ask("GET", path, &[]).await?;
    serde_json::from_slice(&answer).context("an answer that is no JSON")
}

/// How many calls were made to providers.
async fn provider_calls(door: &Door) -> Result<f64> {
    const COUNTER: &str = "machinist_provider_call_duration_seconds_count{";
    let metrics = door.connect().await?.ask("GET", "/metrics", &[]).await?;
    let metrics = String::from_utf8(metrics).context("metrics that are no text")?;
    let lines = metrics.lines().filter(|line| line.starts_with(COUNTER));
    let counts = lines.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok());
    Ok(counts.sum())
}
