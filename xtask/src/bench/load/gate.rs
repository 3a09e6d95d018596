//! What quotas and the checks of providers cost at admission, while machines are created at a
//! steady rate.
//!
//! The server measures each question to the gate itself; clients only keep the rate, whatever the
//! answers take.

use std::{sync::Arc, time::Duration};

use anyhow::{Context, Result, bail, ensure};
use serde_json::json;
use tokio::{task::JoinSet, time::Instant};

use super::{creates, machine, server::Server};
use crate::bench::figure::{Figure, Target, Unit};

/// Creates a second.
const RATE: u32 = 1_000;
/// Creates of a round.
const COUNT: usize = 5_000;
/// Clients that share them: enough that none is late for its turn.
const CLIENTS: usize = 64;
/// The microseconds that were promised, for 99 of 100.
const MICROSECONDS: f64 = 1_000.0;
/// The counter of the server.
const COUNTER: &str = "apiserver_admission_webhook_admission_duration_seconds_bucket";
/// The questions that are meant.
const LABELS: &str =
    "name=\"quota.vitistack.io\",operation=\"CREATE\",rejected=\"false\",type=\"validating\"";

/// Measures on a server that nobody else uses.
pub(super) async fn measure(server: &mut Server, rounds: u32) -> Result<Figure> {
    declare(server).await?;
    steady(server, COUNT / 5).await?;
    let mut values = Vec::new();
    for round in 1..=rounds {
        eprintln!("bench: the gate of quotas, round {round} of {rounds}");
        let before = buckets(server).await?;
        steady(server, COUNT).await?;
        let after = buckets(server).await?;
        values.push(p99(&before, &after)? * 1e6);
    }
    Ok(Figure {
        name: "quota and provider checks, p99",
        unit: Unit::Microseconds,
        machinist: values,
        peer: Vec::new(),
        target: Target::Below(MICROSECONDS),
    })
}

/// A provider, and a Vitistack with quotas that are never reached; waits until they are held to.
async fn declare(server: &Server) -> Result<()> {
    let mut connection = server.door.connect().await?;
    let vitistack = "/apis/vitistack.io/v1alpha1/namespaces/default";
    let provider = json!({
        "apiVersion": "vitistack.io/v1alpha1", "kind": "MachineProvider",
        "metadata": {"name": "sim"}, "spec": {"type": "sim", "region": "local"},
    });
    let path = format!("{vitistack}/machineproviders");
    connection
        .ask("POST", &path, provider.to_string().as_bytes())
        .await?;
    let stack = json!({
        "apiVersion": "vitistack.io/v1alpha1", "kind": "Vitistack",
        "metadata": {"name": "bench"},
        "spec": {"quotas": {
            "machines": {"total": 1_000_000, "perProvider": 1_000_000},
            "storage": {"total": "1000000Ti", "perMachine": "1Ti"},
        }},
    });
    let path = format!("{vitistack}/vitistacks");
    connection
        .ask("POST", &path, stack.to_string().as_bytes())
        .await?;
    // A disk that is larger than any may be is refused as soon as somebody looks.
    let large = json!({
        "apiVersion": "vitistack.io/v1alpha1", "kind": "Machine",
        "metadata": {"name": "large"},
        "spec": {
            "providerRef": {"name": "sim"},
            "disks": [{"name": "root", "sizeGB": 2048}],
        },
    });
    let large = large.to_string().into_bytes();
    let path = format!("{}?dryRun=All", machine::MACHINES);
    for _ in 0..1_000 {
        match connection.ask("POST", &path, &large).await {
            Err(error) if error.to_string().contains("exceeds the quota") => return Ok(()),
            Err(error) => return Err(error),
            Ok(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
    bail!("nobody holds to the quota")
}

/// Creates machines at the rate.
async fn steady(server: &mut Server, count: usize) -> Result<()> {
    let began = Instant::now();
    let first = server.created;
    let mut clients = JoinSet::new();
    let door = Arc::new(server.door.clone());
    for client in 0..CLIENTS {
        let door = door.clone();
        clients.spawn(async move {
            let mut connection = door.connect().await?;
            for number in (client..count).step_by(CLIENTS) {
                let turn = u32::try_from(number).context("too many")?;
                tokio::time::sleep_until(began + Duration::from_secs(1) * turn / RATE).await;
                let body = machine::body(&creates::name(first + number));
                connection.count("POST", machine::MACHINES, &body).await?;
            }
            anyhow::Ok(())
        });
    }
    while let Some(client) = clients.join_next().await {
        client.context("a client was lost")??;
    }
    server.created += count;
    let rate = count as f64 / began.elapsed().as_secs_f64();
    eprintln!("bench: {rate:.0} creates a second");
    Ok(())
}

/// How many answers took how many seconds at most, so far.
async fn buckets(server: &Server) -> Result<Vec<(f64, f64)>> {
    let mut connection = server.door.connect().await?;
    let metrics = connection.ask("GET", "/metrics", &[]).await?;
    let metrics = String::from_utf8(metrics).context("metrics that are no text")?;
    let start = format!("{COUNTER}{{{LABELS},le=\"");
    let lines = metrics.lines().filter_map(|line| line.strip_prefix(&start));
    let buckets = lines.map(|line| {
        let (bound, count) = line.split_once("\"} ").context("no bucket")?;
        let bound = match bound {
            "+Inf" => f64::INFINITY,
            bound => bound.parse().context("a bound that is no number")?,
        };
        Ok((bound, count.parse().context("a count that is no number")?))
    });
    buckets.collect()
}

/// The seconds that 99 of 100 answers took at most, as Prometheus reads a histogram.
fn p99(before: &[(f64, f64)], after: &[(f64, f64)]) -> Result<f64> {
    let since = |(place, (bound, count)): (usize, &(f64, f64))| {
        (
            *bound,
            count - before.get(place).map_or(0.0, |(_, old)| *old),
        )
    };
    let counts: Vec<(f64, f64)> = after.iter().enumerate().map(since).collect();
    let all = counts.last().map_or(0.0, |(_, count)| *count);
    ensure!(all > 0.0, "the server asked nobody about quotas");
    let wanted = all * 0.99;
    let place = counts.iter().position(|(_, count)| *count >= wanted);
    let place = place.context("counts that do not add up")?;
    let (below, fewer) = place
        .checked_sub(1)
        .and_then(|place| counts.get(place))
        .copied()
        .unwrap_or_default();
    let (bound, count) = counts.get(place).copied().unwrap_or_default();
    ensure!(
        bound.is_finite(),
        "answers took longer than the server tells apart"
    );
    Ok(below + (bound - below) * (wanted - fewer) / (count - fewer))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_read_out_of_what_came_since() {
        let before = [(0.1, 5.0), (0.2, 5.0), (f64::INFINITY, 5.0)];
        let after = [(0.1, 95.0), (0.2, 105.0), (f64::INFINITY, 105.0)];
        let found = p99(&before, &after).unwrap();
        assert!((found - 0.19).abs() < 1e-9, "{found}");
        assert!(p99(&after, &after).is_err());
    }
}
