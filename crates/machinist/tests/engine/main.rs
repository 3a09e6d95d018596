//! The whole engine over the in-process API server and a simulated platform that fails on demand.
//!
//! After every fault the law is the same: one machine for one declaration, as declared, and
//! nothing left when it is deleted.
#![allow(clippy::expect_used, reason = "a failed assumption is a failed test")]

mod bad_input;
mod election;
mod endpoints;
mod faults;
mod fleet;
mod inventory;
mod lab;
mod leases;
mod lifecycle;
mod placement;
mod provider_input;
mod providers;
mod rotation;
mod simulation;
mod stack;
#[path = "../support/mod.rs"]
#[allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failed assumption is a failed test"
)]
mod support;
mod sweeper;
mod trust;
mod world;

use std::time::Duration;

use futures::{StreamExt, TryStreamExt};
use kube::{
    ResourceExt,
    api::{DeleteParams, PostParams, WatchEvent, WatchParams},
};
use machinist_api::vitistack::{Machine, MachinePhase};
use machinist_core::{
    machine::{Facts, MachineId, PowerState},
    provider::Lookup,
};
use machinist_providers::{
    SimOptions,
    sim::{Fault, Verb},
};
use serde_json::json;
use world::{LIMIT, World, phase_of};

#[tokio::test(flavor = "multi_thread")]
async fn a_machine_goes_through_its_phases_in_few_writes() {
    let world = World::new(SimOptions::default()).await;
    let api = world.machines();
    let mut changes = api
        .watch(&WatchParams::default(), "0")
        .await
        .expect("a watch")
        .boxed();
    world.declare("m").await;
    let mut phases = Vec::new();
    let mut writes = 0;
    while phases.last() != Some(&MachinePhase::Running) {
        let next = tokio::time::timeout(LIMIT, changes.try_next()).await;
        match next.expect("in time").expect("no error").expect("no end") {
            WatchEvent::Added(machine) | WatchEvent::Modified(machine) => {
                writes += 1;
                let phase = phase_of(Some(&machine)).expect("born with a phase");
                if phases.last() != Some(&phase) {
                    phases.push(phase);
                }
            }
            _ => {}
        }
    }
    assert_eq!(
        phases,
        [
            MachinePhase::Pending,
            MachinePhase::Creating,
            MachinePhase::Running
        ]
    );
    assert!(writes <= 4, "{writes} writes for one machine");
    world.delete_and_prove("m").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_fault_of_every_call_ends_with_one_machine() {
    let faults = [
        Fault::Before,
        Fault::LostAnswer,
        Fault::Stale,
        Fault::Throttle {
            retry_after: Some(Duration::from_millis(50)),
        },
    ];
    for verb in [Verb::Find, Verb::Create, Verb::Delete] {
        for fault in faults {
            // Without the platform's help wherever that is possible: only a look that is behind the
            // times needs a platform that knows its tokens.
            let options = SimOptions {
                idempotent: matches!(fault, Fault::Stale),
                lookup: match fault {
                    Fault::Stale => Lookup::Eventual,
                    _ => Lookup::Consistent,
                },
                ..SimOptions::default()
            };
            let world = World::new(options).await;
            world.cloud.fault_next(verb, fault);
            world.declare("m").await;
            world.until_phase("m", MachinePhase::Running).await;
            assert_eq!(world.cloud.count(), 1, "{verb:?} with {fault:?}");
            // The same on a machine that is there, and on its way out. A step with consequences
            // is preceded by two looks: one that is behind the times is made good by the other,
            // and a look that fails does harm only if failing counts as absence, twice.
            let times = match (verb, &fault) {
                (_, Fault::Stale) => 1,
                (Verb::Find, _) => 2,
                (_, _) => 0,
            };
            (0..times).for_each(|_| world.cloud.fault_next(verb, fault));
            world.look_again("m").await;
            (0..times).for_each(|_| world.cloud.fault_next(verb, fault));
            assert_eq!(world.cloud.made(), 1, "{verb:?} with {fault:?}");
            assert!(
                world.cloud.peak_duplicates() <= 1,
                "{verb:?} with {fault:?}"
            );
            world.delete_and_prove("m").await;
            world.engine.abort();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_that_dies_after_the_create_leaves_one_machine_to_the_next() {
    let mut world = World::new(SimOptions::default()).await;
    world.cloud.fault_next(Verb::Create, Fault::LostAnswer);
    world.declare("m").await;
    let made = async {
        while world.cloud.made() == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(LIMIT, made)
        .await
        .expect("made in time");
    world.replace_engine().await;
    world.until_phase("m", MachinePhase::Running).await;
    assert_eq!((world.cloud.made(), world.cloud.count()), (1, 1));
    world.replace_engine().await;
    world.delete_and_prove("m").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn power_follows_the_declaration_and_what_happens_behind_our_back() {
    let world = World::new(SimOptions::default()).await;
    world.declare("m").await;
    let machine = world.until_phase("m", MachinePhase::Running).await;
    world
        .patch("m", json!({"spec": {"powerState": "Stopped"}}))
        .await;
    world.until_phase("m", MachinePhase::Stopped).await;
    world
        .patch("m", json!({"spec": {"powerState": "Running"}}))
        .await;
    world.until_phase("m", MachinePhase::Running).await;
    let id = machine
        .status
        .and_then(|status| status.machine_id)
        .expect("an id");
    let stop = |facts: Option<&mut Facts>| {
        if let Some(facts) = facts {
            facts.power = PowerState::Stopped;
        }
        true
    };
    let updates = || {
        world
            .cloud
            .calls()
            .iter()
            .filter(|call| call.verb == Verb::Update)
            .count()
    };
    let before = updates();
    world.cloud.meddle(&MachineId::new(id), stop);
    let started = async {
        while updates() == before {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(LIMIT, started)
        .await
        .expect("started again");
    world.until_phase("m", MachinePhase::Running).await;
    assert_eq!(world.cloud.made(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_stays_while_machines_need_it() {
    let world = World::new(SimOptions::default()).await;
    world.declare("m").await;
    world.until_phase("m", MachinePhase::Running).await;
    let providers = world.providers();
    providers
        .delete("cloud", &DeleteParams::default())
        .await
        .expect("asked");
    let provider = providers.get("cloud").await.expect("still there");
    assert!(provider.metadata.deletion_timestamp.is_some());
    world.delete_and_prove("m").await;
    let gone = async {
        while providers
            .get_opt("cloud")
            .await
            .expect("an answer")
            .is_some()
        {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(LIMIT, gone)
        .await
        .expect("gone when nothing needs it");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_machine_without_its_provider_says_so_and_goes_on_when_it_comes() {
    let world = World::new(SimOptions::default()).await;
    let machine = json!({
        "apiVersion": "vitistack.io/v1alpha1", "kind": "Machine", "metadata": {"name": "m"},
        "spec": {"providerRef": {"name": "later"}},
    });
    let machine = serde_json::from_value(machine).expect("a machine");
    let machines = world.machines();
    machines
        .create(&PostParams::default(), &machine)
        .await
        .expect("created");
    let waits = |machine: Option<&Machine>| {
        let status = machine.and_then(|machine| machine.status.as_ref());
        status.is_some_and(|s| s.conditions.iter().any(|c| c.reason == "ProviderNotFound"))
    };
    let waiting = world.until("m", waits).await.expect("a machine");
    assert_eq!(phase_of(Some(&waiting)), Some(MachinePhase::Pending));
    assert!(waiting.finalizers().is_empty(), "bound to nothing");
    let provider = json!({
        "apiVersion": "vitistack.io/v1alpha1", "kind": "MachineProvider",
        "metadata": {"name": "later"}, "spec": {"type": "sim", "region": "here"},
    });
    let provider = serde_json::from_value(provider).expect("a provider");
    let providers = world.providers();
    providers
        .create(&PostParams::default(), &provider)
        .await
        .expect("created");
    world.until_phase("m", MachinePhase::Running).await;
    assert_eq!(world.cloud.count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_ends_whenever_it_is_told_to() {
    let world = World::new(SimOptions::default()).await;
    for life in 0..20 {
        world.run_for(Duration::from_millis(life)).await;
    }
}
