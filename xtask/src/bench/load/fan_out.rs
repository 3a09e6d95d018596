//! Fan-out: from one write to its arrival at the last of many watchers.

use std::time::Instant;

use anyhow::{Context, Result};

use super::{
    creates::name,
    floor, machine,
    server::{Pair, Server},
    wire::{Door, Events, PIECE},
};
use crate::bench::figure::{Figure, Target, Unit, median};

/// Watchers of the fan-out, and of the memory.
const WATCHERS: usize = 1000;
pub(super) const FEW: usize = 100;
/// Writes of a round.
const WRITES: usize = 5;

/// What one round shows.
struct Round {
    /// Milliseconds from a write to the last arrival.
    time: f64,
    /// Microseconds of a processor that the server spent on one delivery.
    effort: f64,
    /// Bytes of one event on the wire.
    size: usize,
}

pub(super) async fn measure(pair: &mut Pair, rounds: u32) -> Result<Vec<Figure>> {
    let (mut ours, mut theirs, mut bare) = (Vec::new(), Vec::new(), Vec::new());
    for round in 1..=rounds {
        eprintln!("bench: fan-out, round {round} of {rounds}");
        ours.push(fan_out(&mut pair.ours, round).await?);
        theirs.push(fan_out(&mut pair.theirs, round).await?);
        let size = ours.last().map_or(0, |round: &Round| round.size);
        let floor = move || floor::fan_out(WATCHERS, size);
        bare.push(tokio::task::spawn_blocking(floor).await??);
    }
    let of_kernel = Figure {
        name: "the kernel's part of it",
        unit: Unit::Milliseconds,
        machinist: bare,
        peer: Vec::new(),
        target: Target::Told,
    };
    let figure = |name, unit, of: fn(&Round) -> f64, target| Figure {
        name,
        unit,
        machinist: ours.iter().map(of).collect(),
        peer: theirs.iter().map(of).collect(),
        target,
    };
    Ok(vec![
        figure(
            "one write to 1,000 watchers",
            Unit::Milliseconds,
            |round| round.time,
            Target::Fraction(3.0),
        ),
        of_kernel,
        figure(
            "processor time of one delivery",
            Unit::Microseconds,
            |round| round.effort,
            Target::Told,
        ),
    ])
}

/// Connects watchers that wait for what comes next.
pub(super) async fn open(door: &Door, count: usize) -> Result<Vec<Events>> {
    let mut connection = door.connect().await?;
    let page = format!("{}?limit=1", machine::MACHINES);
    let list: serde_json::Value = serde_json::from_slice(&connection.ask("GET", &page, &[]).await?)
        .context("a list that is no JSON")?;
    let version = list["metadata"]["resourceVersion"].as_str();
    let version = version.context("a list has no version")?;
    let path = format!("{}?watch=true&resourceVersion={version}", machine::MACHINES);
    let mut watchers = Vec::with_capacity(count);
    for _ in 0..count {
        watchers.push(door.connect().await?.watch(&path).await?);
    }
    Ok(watchers)
}

/// When the last of the watchers has its event.
fn all_arrive(watchers: &mut [Events]) -> Result<Instant> {
    let mut buffer = vec![0; PIECE];
    // In any order: the last one to arrive is waited for in the end.
    for watcher in &mut *watchers {
        watcher.arrive(&mut buffer)?;
    }
    let mut last = Instant::now();
    for watcher in watchers {
        if !watcher.finish(&mut buffer)? {
            last = Instant::now();
        }
    }
    Ok(last)
}

async fn fan_out(server: &mut Server, round: u32) -> Result<Round> {
    let mut watchers = open(&server.door, WATCHERS).await?;
    let mut writer = server.door.connect().await?;
    let mut times = Vec::with_capacity(WRITES);
    let mut before = 0.0;
    for write in 0..=WRITES {
        if write == 1 {
            before = server.processor_time()?;
        }
        let path = machine::path(&name(write));
        let body = format!(r#"{{"metadata":{{"annotations":{{"round":"{round}"}}}}}}"#);
        let began = Instant::now();
        let arriving = tokio::task::spawn_blocking(move || {
            let last = all_arrive(&mut watchers)?;
            anyhow::Ok((watchers, last))
        });
        writer.count("PATCH", &path, body.as_bytes()).await?;
        let (back, last) = arriving.await.context("the watchers were lost")??;
        watchers = back;
        // The first write wakes what the others find awake.
        if write > 0 {
            times.push((last - began).as_secs_f64() * 1e3);
        }
    }
    let effort = server.processor_time()? - before;
    Ok(Round {
        time: median(&times),
        effort: effort * 1e6 / (WRITES * WATCHERS) as f64,
        size: watchers.first().map_or(0, Events::size),
    })
}
