//! Two engines at once: one has lost its lease, and does not know it yet.

use std::time::Duration;

use kube::api::{Patch, PatchParams};
use machinist_core::machine::PowerState;
use machinist_providers::{
    SimOptions,
    sim::{Fault, Transition, Verb},
};
use serde_json::json;

use crate::{
    lab::{Declared, Life, in_virtual_time, simulated},
    world::condition,
};

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
        let mut life = Life::begin(lab, simulated(options)).await;
        life.patience = Duration::from_secs(120);
        let declared = Declared::default();
        life.declare(&declared).await;
        life.until_as_declared(&declared).await.expect("made");
        life.add_engine();
        let machines = life.platform.snapshot();
        life.platform.meddle(&machines[0].id, |facts| {
            facts.expect("a machine").power = PowerState::Stopped;
            true
        });
        let before = life.platform.calls().len();
        life.until_as_declared(&declared).await.expect("up again");
        let updates = life.platform.calls()[before..]
            .iter()
            .filter(|call| call.verb == Verb::Update)
            .count();
        assert!(updates <= 4, "{updates} calls for one start");
        life.end().await;
    });
}

/// Seed 481 found it: an engine that had lost its lease wrote what it believed, and the other one,
/// which saw the machine as declared, never looked at the object again.
#[test]
fn what_another_engine_wrote_last_is_put_right() {
    in_virtual_time(async |lab| {
        let mut life = Life::begin(lab, simulated(SimOptions::default())).await;
        life.patience = Duration::from_secs(300);
        let declared = Declared::default();
        life.declare(&declared).await;
        life.until_as_declared(&declared).await.expect("made");
        let status = json!({"status": {
            "phase": "Failed", "machineID": "another",
            "conditions": [{
                "type": "Ready", "status": "False", "reason": "Lost", "message": "Not so.",
                "lastTransitionTime": "2026-01-01T00:00:00Z",
            }],
        }});
        let (machines, params) = (life.machines(), PatchParams::default());
        let patch = Patch::Merge(&status);
        let written = machines.patch_status("m", &params, &patch).await;
        written.expect("written");
        life.until_as_declared(&declared).await.expect("put right");
        life.end().await;
    });
}

/// No platform can tell a create that is late from one that is wanted; where it knows no tokens,
/// there are two machines then, and a person is told.
#[test]
fn a_create_that_comes_late_on_a_platform_without_tokens_is_a_duplicate_that_is_told() {
    in_virtual_time(async |lab| {
        let options = SimOptions {
            idempotent: false,
            ..SimOptions::default()
        };
        let mut life = Life::begin(lab, simulated(options)).await;
        let late = Fault::Held(Duration::from_secs(100));
        life.platform.fault_next(Verb::Create, late);
        let declared = Declared::default();
        life.declare(&declared).await;
        tokio::time::sleep(Duration::from_secs(5)).await;
        life.add_engine();
        life.until_as_declared(&declared)
            .await
            .expect("made by the other");
        let told = |machine: &_| {
            let stalled = condition(machine, "Stalled");
            stalled.is_some_and(|c| c.status == "True" && c.reason == "Duplicates")
        };
        life.until("told", told).await;
        assert_eq!(life.platform.count(), 2);
        life.delete().await;
        life.until_gone().await.expect("both go with the object");
        life.end().await;
    });
}

/// The object is let go by one engine while the create of another is on its way: what that makes
/// belongs to nobody, is reported after a while, and goes when a person names it.
#[test]
fn a_create_that_comes_late_for_an_object_that_is_gone_is_a_reported_orphan() {
    in_virtual_time(async |lab| {
        let mut life = Life::begin(lab, simulated(SimOptions::default())).await;
        let late = Fault::Held(Duration::from_secs(100));
        life.platform.fault_next(Verb::Create, late);
        life.declare(&Declared::default()).await;
        tokio::time::sleep(Duration::from_secs(5)).await;
        life.delete().await;
        life.add_engine();
        tokio::time::sleep(Duration::from_secs(20)).await;
        assert!(
            life.machine().await.is_none(),
            "nothing was there to remove"
        );
        // The grace of an orphan, and two sweeps.
        tokio::time::sleep(Duration::from_secs(900)).await;
        assert_eq!(life.platform.count(), 1);
        let told = life.events("cloud").await;
        let found = told.iter().find(|(reason, _)| reason == "OrphanFound");
        let (_, note) = found.unwrap_or_else(|| unreachable!("{told:#?}"));
        assert!(note.contains("=sim-1"), "{note}");
        let named = serde_json::json!({"metadata": {"annotations": {
            machinist_api::names::DELETE_ORPHANS_ANNOTATION: "sim-1",
        }}});
        let patch = kube::api::Patch::Merge(&named);
        let asked = life.providers();
        let asked = asked.patch("cloud", &Default::default(), &patch).await;
        asked.expect("asked");
        tokio::time::sleep(Duration::from_secs(200)).await;
        assert_eq!(life.platform.count(), 0);
        life.end().await;
    });
}
