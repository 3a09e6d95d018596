//! Two engines at once: one has lost its lease, and does not know it yet.

use std::time::Duration;

use machinist_core::machine::PowerState;
use machinist_providers::{SimOptions, sim::Transition};

use crate::lab::{Declared, Life, in_virtual_time};

/// Seed 30 found it: a machine that takes its time to come up was asked to start by each engine in
/// turn, and began anew each time. What is on its way up is waited for.
#[test]
fn two_engines_do_not_keep_a_machine_from_coming_up() {
    in_virtual_time(async |lab| {
        let options = SimOptions {
            latency: Duration::from_millis(150),
            transition: Transition::After(Duration::from_secs(3)),
            ..SimOptions::default()
        };
        let mut life = Life::begin(lab, options).await;
        life.patience = Duration::from_secs(120);
        let declared = Declared::default();
        life.declare(&declared).await;
        life.until_as_declared(&declared).await.expect("made");
        life.add_engine();
        let machines = life.cloud.snapshot();
        life.cloud.meddle(&machines[0].id, |facts| {
            facts.expect("a machine").power = PowerState::Stopped;
            true
        });
        let before = life.cloud.calls().len();
        life.until_as_declared(&declared).await.expect("up again");
        let updates = life.cloud.calls()[before..]
            .iter()
            .filter(|call| call.verb == machinist_providers::sim::Verb::Update)
            .count();
        assert!(updates <= 4, "{updates} calls for one start");
        life.end().await;
    });
}
