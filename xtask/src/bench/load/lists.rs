//! Lists of all machines, and gets of one while lists run.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use tokio::task::JoinSet;

use super::{
    creates::name,
    machine,
    server::{Pair, Server},
};
use crate::bench::figure::{Figure, Target, Unit, median, percentile};

/// Lists of a round.
const LISTS: usize = 5;
/// Gets of a round, at most, and the pause between two of them.
const GETS: usize = 400;
const PAUSE: Duration = Duration::from_millis(5);

pub(super) async fn measure(pair: &mut Pair, rounds: u32) -> Result<Vec<Figure>> {
    let mut lists = (Vec::new(), Vec::new());
    let mut gets = (Vec::new(), Vec::new());
    for round in 1..=rounds {
        eprintln!("bench: lists, round {round} of {rounds}");
        lists.0.push(list(&pair.ours).await?);
        lists.1.push(list(&pair.theirs).await?);
        gets.0.push(get_while_listing(&pair.ours).await?);
        gets.1.push(get_while_listing(&pair.theirs).await?);
    }
    let figure = |name, (machinist, peer), target| Figure {
        name,
        unit: Unit::Milliseconds,
        machinist,
        peer,
        target,
    };
    Ok(vec![
        figure("list of 10,000 machines", lists, Target::Fraction(5.0)),
        figure("get while lists run, p99", gets, Target::Fraction(1.0)),
    ])
}

/// Milliseconds of a list of everything.
async fn list(server: &Server) -> Result<f64> {
    let mut connection = server.door.connect().await?;
    let mut times = Vec::with_capacity(LISTS);
    for _ in 0..LISTS {
        let began = Instant::now();
        let size = connection.count("GET", machine::MACHINES, &[]).await?;
        times.push(began.elapsed().as_secs_f64() * 1e3);
        ensure!(
            size > server.created * 1000,
            "a list of {size} bytes is too small"
        );
    }
    Ok(median(&times))
}

/// The 99th percentile of the milliseconds of a get, while another client lists all the time.
async fn get_while_listing(server: &Server) -> Result<f64> {
    let mut lister = server.door.connect().await?;
    // On a task of its own, so that the getter does not wait while the lister reads.
    let mut listing = JoinSet::new();
    listing.spawn(async move {
        loop {
            if let Err(error) = lister.count("GET", machine::MACHINES, &[]).await {
                return error;
            }
        }
    });
    let mut getter = server.door.connect().await?;
    let mut times = Vec::with_capacity(GETS);
    for number in 0..GETS {
        let path = machine::path(&name(number * server.created / GETS));
        let began = Instant::now();
        getter.count("GET", &path, &[]).await?;
        times.push(began.elapsed().as_secs_f64() * 1e3);
        tokio::time::sleep(PAUSE).await;
    }
    if let Some(Ok(error)) = listing.try_join_next() {
        return Err(error);
    }
    Ok(percentile(&times, 99.0))
}
