//! Fan-out: from one write to its arrival at the last of many watchers.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use tokio::{sync::mpsc, task::JoinSet, time::timeout};

use super::{
    creates::name,
    machine,
    server::{Pair, Server},
    wire::Door,
};
use crate::bench::figure::{Figure, Target, Unit, median};

/// Watchers of the fan-out, and of the memory.
const WATCHERS: usize = 1000;
pub(super) const FEW: usize = 100;
/// Writes of a round.
const WRITES: usize = 5;
const PATIENCE: Duration = Duration::from_secs(60);

pub(super) async fn measure(pair: &mut Pair, rounds: u32) -> Result<Figure> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 1..=rounds {
        eprintln!("bench: fan-out, round {round} of {rounds}");
        ours.push(fan_out(&pair.ours, round).await?);
        theirs.push(fan_out(&pair.theirs, round).await?);
    }
    Ok(Figure {
        name: "one write to 1,000 watchers",
        unit: Unit::Milliseconds,
        machinist: ours,
        peer: theirs,
        target: Target::Fraction(3.0),
    })
}

/// Watchers that are connected; they end when this is dropped.
pub(super) struct Watchers {
    _tasks: JoinSet<()>,
    arrived: mpsc::UnboundedReceiver<Instant>,
}

/// Connects watchers that wait for what comes next.
pub(super) async fn open(door: &Door, count: usize) -> Result<Watchers> {
    let mut connection = door.connect().await?;
    let page = format!("{}?limit=1", machine::MACHINES);
    let list: serde_json::Value = serde_json::from_slice(&connection.ask("GET", &page, &[]).await?)
        .context("a list that is no JSON")?;
    let version = list["metadata"]["resourceVersion"].as_str();
    let version = version.context("a list has no version")?;
    let path = format!("{}?watch=true&resourceVersion={version}", machine::MACHINES);
    let (sender, arrived) = mpsc::unbounded_channel();
    let mut tasks = JoinSet::new();
    for _ in 0..count {
        let mut events = door.connect().await?.watch(&path).await?;
        let sender = sender.clone();
        tasks.spawn(async move {
            while let Ok(ended) = events.more().await {
                for _ in 0..ended {
                    let _ = sender.send(Instant::now());
                }
            }
        });
    }
    Ok(Watchers {
        _tasks: tasks,
        arrived,
    })
}

/// Milliseconds from a write to the last arrival.
async fn fan_out(server: &Server, round: u32) -> Result<f64> {
    let mut watchers = open(&server.door, WATCHERS).await?;
    let mut writer = server.door.connect().await?;
    let mut times = Vec::with_capacity(WRITES);
    for write in 0..=WRITES {
        let path = machine::path(&name(write));
        let body = format!(r#"{{"metadata":{{"annotations":{{"round":"{round}"}}}}}}"#);
        let began = Instant::now();
        writer.count("PATCH", &path, body.as_bytes()).await?;
        let mut last = began;
        for _ in 0..WATCHERS {
            let arrived = timeout(PATIENCE, watchers.arrived.recv()).await;
            let arrived = arrived.context("an event did not arrive")?;
            last = last.max(arrived.context("no watcher is left")?);
        }
        // The first write wakes what the others find awake.
        if write > 0 {
            times.push((last - began).as_secs_f64() * 1e3);
        }
    }
    Ok(median(&times))
}
