//! The same calls to the embedded server and to a real kube-apiserver: the answers are equal.
//!
//! The calls are data in `tests/differential`; `MACHINIST_DIFFERENTIAL=part-of-a-name` runs only
//! the scenarios whose name has that part.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failed assumption in a test is a failed test"
)]
#![allow(
    unreachable_pub,
    reason = "a module of a test is its own crate's whole interface"
)]

mod compare;
mod exchange;
mod mask;
mod run;
mod scenario;
mod servers;
#[path = "../support/mod.rs"]
mod support;

use std::panic::AssertUnwindSafe;

use futures::{FutureExt as _, StreamExt as _};
use servers::Servers;
use support::{
    Sandbox,
    kube::{self, Cluster},
    peers,
};

/// How many scenarios run at once.
const AT_ONCE: usize = 6;

#[test]
fn the_embedded_server_answers_as_kubernetes_does() {
    let mut scenarios = scenario::load(&peers::tree().join("tests/differential"));
    if let Ok(part) = std::env::var("MACHINIST_DIFFERENTIAL") {
        scenarios.retain(|scenario| scenario.name.contains(&part));
        assert!(!scenarios.is_empty(), "no scenario is called like {part}");
    }
    let sandbox = Sandbox::new();
    let Some(cluster) = Cluster::with_controllers(&sandbox) else {
        return;
    };
    let outcomes = kube::runtime().block_on(async {
        let servers = Servers::start(cluster, &sandbox).await;
        // One that breaks off must not hide what the others find.
        let runs = scenarios.iter().map(|one| async {
            let run = AssertUnwindSafe(run::run(&servers, one));
            run.catch_unwind().await.unwrap_or_else(|_| run::Outcome {
                compared: 0,
                report: format!("{} broke off; see above", one.name),
            })
        });
        let runs = futures::stream::iter(runs).buffered(AT_ONCE);
        runs.collect::<Vec<_>>().await
    });
    let compared: usize = outcomes.iter().map(|outcome| outcome.compared).sum();
    let reports: Vec<&str> = outcomes
        .iter()
        .map(|outcome| outcome.report.as_str())
        .filter(|report| !report.is_empty())
        .collect();
    println!("{} scenarios, {compared} calls compared", scenarios.len());
    assert!(reports.is_empty(), "\n{}", reports.join("\n"));
}
