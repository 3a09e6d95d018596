//! Creates: how many a second with many clients, and how long one takes with one.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};

use anyhow::{Context, Result};
use tokio::task::JoinSet;

use super::{
    machine,
    server::{Pair, Server},
};
use crate::bench::figure::{Figure, Target, Unit, percentile};

/// Clients that create at once.
const CLIENTS: usize = 64;
/// Creates of a round, by all clients.
const MANY: usize = 2000;
/// Creates of a round, one after the other.
const ALONE: usize = 400;

pub(super) async fn measure(pair: &mut Pair, rounds: u32) -> Result<Vec<Figure>> {
    let mut rates = (Vec::new(), Vec::new());
    let mut middles = (Vec::new(), Vec::new());
    let mut worsts = (Vec::new(), Vec::new());
    // The first creates find caches cold on both sides.
    create(&mut pair.ours, 200).await?;
    create(&mut pair.theirs, 200).await?;
    for round in 1..=rounds {
        eprintln!("bench: creates, round {round} of {rounds}");
        rates.0.push(create(&mut pair.ours, MANY).await?);
        rates.1.push(create(&mut pair.theirs, MANY).await?);
        let ours = one_by_one(&mut pair.ours).await?;
        let theirs = one_by_one(&mut pair.theirs).await?;
        middles.0.push(percentile(&ours, 50.0));
        middles.1.push(percentile(&theirs, 50.0));
        worsts.0.push(percentile(&ours, 99.0));
        worsts.1.push(percentile(&theirs, 99.0));
    }
    let figure = |name, unit, (machinist, peer), target| Figure {
        name,
        unit,
        machinist,
        peer,
        target,
    };
    Ok(vec![
        figure(
            "creates, 64 clients",
            Unit::PerSecond,
            rates,
            Target::Times(3.0),
        ),
        figure(
            "create, one client, median",
            Unit::Milliseconds,
            middles,
            Target::Told,
        ),
        figure(
            "create, one client, p99",
            Unit::Milliseconds,
            worsts,
            Target::Fraction(1.0),
        ),
    ])
}

/// Creates machines until there are so many.
pub(super) async fn fill(server: &mut Server, count: usize) -> Result<()> {
    let missing = count.saturating_sub(server.created);
    if missing > 0 {
        eprintln!("bench: filling {} with {missing} machines", server.name);
        create(server, missing).await?;
    }
    Ok(())
}

/// Creates machines by many clients; gives how many it were a second.
pub(super) async fn create(server: &mut Server, count: usize) -> Result<f64> {
    let next = Arc::new(AtomicUsize::new(server.created));
    let end = server.created + count;
    let mut connections = Vec::new();
    for _ in 0..CLIENTS {
        connections.push(server.door.connect().await?);
    }
    let began = Instant::now();
    let mut clients = JoinSet::new();
    for mut connection in connections {
        let next = next.clone();
        clients.spawn(async move {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= end {
                    return anyhow::Ok(());
                }
                let body = machine::body(&name(number));
                connection.count("POST", machine::MACHINES, &body).await?;
            }
        });
    }
    while let Some(client) = clients.join_next().await {
        client.context("a client was lost")??;
    }
    server.created = end;
    Ok(count as f64 / began.elapsed().as_secs_f64())
}

/// Milliseconds of creates one after the other.
pub(super) async fn one_by_one(server: &mut Server) -> Result<Vec<f64>> {
    let mut connection = server.door.connect().await?;
    let mut times = Vec::with_capacity(ALONE);
    for number in server.created..server.created + ALONE {
        let body = machine::body(&name(number));
        let began = Instant::now();
        connection.count("POST", machine::MACHINES, &body).await?;
        times.push(began.elapsed().as_secs_f64() * 1e3);
    }
    server.created += ALONE;
    Ok(times)
}

/// The name of a machine by its number.
pub(super) fn name(number: usize) -> String {
    format!("bench-{number:06}")
}
