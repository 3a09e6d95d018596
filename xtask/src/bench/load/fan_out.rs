//! Fan-out: from one write to its arrival at the last of many watchers.

use std::time::SystemTime;

use anyhow::{Context, Result};

use super::{
    arrival,
    creates::name,
    events::Events,
    floor, machine,
    server::{Pair, Server},
    wire::{Door, PIECE},
};
use crate::bench::figure::{Figure, Target, Unit, median};

/// Watchers of the fan-out, and of the memory.
const WATCHERS: usize = 1000;
pub(super) const FEW: usize = 100;
/// Writes of a round.
const WRITES: usize = 5;

/// The protocol of the watchers.
#[derive(Debug, Clone, Copy)]
pub(super) enum Way {
    Http1,
    Http2,
}

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
    let (mut first, mut second) = (Sides::default(), Sides::default());
    let mut bare = Vec::new();
    for round in 1..=rounds {
        eprintln!("bench: fan-out, round {round} of {rounds}");
        first.measure(pair, Way::Http1, round).await?;
        second.measure(pair, Way::Http2, round).await?;
        let size = first.ours.last().map_or(0, |round| round.size);
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
    Ok(vec![
        first.figure(
            "one write to 1,000 watchers",
            Unit::Milliseconds,
            |round| round.time,
            Target::Fraction(3.0),
        ),
        of_kernel,
        first.figure(
            "processor time of one delivery",
            Unit::Microseconds,
            |round| round.effort,
            Target::Told,
        ),
        second.figure(
            "one write to 1,000 watchers, HTTP/2",
            Unit::Milliseconds,
            |round| round.time,
            Target::Told,
        ),
        second.figure(
            "processor time of one delivery, HTTP/2",
            Unit::Microseconds,
            |round| round.effort,
            Target::Told,
        ),
    ])
}

/// The rounds of both servers.
#[derive(Default)]
struct Sides {
    ours: Vec<Round>,
    theirs: Vec<Round>,
}

impl Sides {
    async fn measure(&mut self, pair: &mut Pair, way: Way, round: u32) -> Result<()> {
        self.ours.push(fan_out(&mut pair.ours, way, round).await?);
        self.theirs
            .push(fan_out(&mut pair.theirs, way, round).await?);
        Ok(())
    }

    fn figure(
        &self,
        name: &'static str,
        unit: Unit,
        of: fn(&Round) -> f64,
        target: Target,
    ) -> Figure {
        Figure {
            name,
            unit,
            machinist: self.ours.iter().map(of).collect(),
            peer: self.theirs.iter().map(of).collect(),
            target,
        }
    }
}

/// Connects watchers that wait for what comes next.
pub(super) async fn open(door: &Door, way: Way, count: usize) -> Result<Vec<Events>> {
    let mut connection = door.connect().await?;
    let page = format!("{}?limit=1", machine::MACHINES);
    let list: serde_json::Value = serde_json::from_slice(&connection.ask("GET", &page, &[]).await?)
        .context("a list that is no JSON")?;
    let version = list["metadata"]["resourceVersion"].as_str();
    let version = version.context("a list has no version")?;
    let path = format!("{}?watch=true&resourceVersion={version}", machine::MACHINES);
    let mut watchers = Vec::with_capacity(count);
    for _ in 0..count {
        watchers.push(match way {
            Way::Http1 => door.connect().await?.watch(&path).await?,
            Way::Http2 => door.watch_over_http2(&path).await?,
        });
    }
    Ok(watchers)
}

/// When the last of the watchers had its event.
fn last_arrival(watchers: &mut [Events]) -> Result<SystemTime> {
    let mut buffer = vec![0; PIECE];
    let mut last = SystemTime::UNIX_EPOCH;
    for watcher in watchers {
        last = last.max(watcher.event(&mut buffer)?);
    }
    Ok(last)
}

async fn fan_out(server: &mut Server, way: Way, round: u32) -> Result<Round> {
    let mut watchers = open(&server.door, way, WATCHERS).await?;
    let mut writer = server.door.connect().await?;
    let mut times = Vec::with_capacity(WRITES);
    let mut before = 0.0;
    for write in 0..=WRITES {
        if write == 1 {
            before = server.processor_time()?;
        }
        let path = machine::path(&name(write));
        let body = format!(r#"{{"metadata":{{"annotations":{{"round":"{way:?} {round}"}}}}}}"#);
        let began = SystemTime::now();
        writer.count("PATCH", &path, body.as_bytes()).await?;
        tokio::time::sleep(arrival::SLEEP).await;
        let reading = tokio::task::spawn_blocking(move || {
            let last = last_arrival(&mut watchers)?;
            anyhow::Ok((watchers, last))
        });
        let (back, last) = reading.await.context("the watchers were lost")??;
        watchers = back;
        // The first write wakes what the others find awake.
        if write > 0 {
            times.push(arrival::between(began, last)?);
        }
    }
    let effort = server.processor_time()? - before;
    Ok(Round {
        time: median(&times),
        effort: effort * 1e6 / (WRITES * WATCHERS) as f64,
        size: watchers.first().map_or(0, Events::size),
    })
}
