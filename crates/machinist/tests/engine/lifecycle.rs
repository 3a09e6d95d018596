//! Changes of a machine that exists: in place, with a restart, or refused, and said beforehand.

use k8s_openapi::api::events::v1::Event;
use kube::{
    Api,
    api::{ListParams, Patch, PatchParams},
};
use machinist_api::vitistack::{Machine, MachinePhase};
use machinist_core::{
    machine::{Facts, MachineId, PowerState},
    provider::{Changes, Lookup, When},
};
use machinist_providers::{
    SimOptions,
    sim::{Chaos, Fault, Verb},
};
use serde_json::json;

use crate::world::{World, condition, phase_of};

/// Waits until the one machine at the platform is as wanted.
async fn until_facts(world: &World, wanted: impl Fn(&Facts) -> bool) {
    let look = async {
        loop {
            if let [machine] = world.cloud.snapshot().as_slice()
                && wanted(machine)
            {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    let in_time = tokio::time::timeout(crate::world::LIMIT, look).await;
    assert!(
        in_time.is_ok(),
        "the platform has {:#?}",
        world.cloud.snapshot()
    );
}

async fn until_settled(world: &World) -> Machine {
    let settled = |machine: Option<&Machine>| {
        let seen = machine.and_then(|m| m.status.as_ref()?.observed_generation);
        let reconciling = machine.and_then(|m| condition(m, "Reconciling"));
        seen == machine.and_then(|m| m.metadata.generation)
            && reconciling.is_some_and(|c| c.status == "False")
    };
    world.until("m", settled).await.expect("a machine")
}

async fn reasons(world: &World) -> Vec<String> {
    let api: Api<Event> = Api::default_namespaced(world.client.clone());
    let events = api.list(&ListParams::default()).await.expect("events");
    events.items.into_iter().filter_map(|e| e.reason).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resize_that_needs_it_restarts_the_machine_and_says_so() {
    let world = World::new(SimOptions::default()).await;
    world.declare("m").await;
    world.until_phase("m", MachinePhase::Running).await;
    world
        .patch(
            "m",
            json!({"spec": {"cpu": {"cores": 4}, "memory": 4_294_967_296_i64}}),
        )
        .await;
    until_facts(&world, |m| {
        m.cpus == Some(4) && m.memory == Some(4 << 30) && m.power == PowerState::Running
    })
    .await;
    until_settled(&world).await;
    let reasons = reasons(&world).await;
    for reason in ["RestartNeeded", "Stopped", "Resized", "Started"] {
        assert!(
            reasons.iter().any(|r| r == reason),
            "{reason} is not in {reasons:?}"
        );
    }
    assert_eq!(world.cloud.made(), 1);
    world.delete_and_prove("m").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resize_is_done_in_place_or_refused_as_the_platform_can() {
    for (resize, cores) in [(When::Always, 4), (When::Never, 1)] {
        let changes = Changes {
            resize,
            ..SimOptions::default().changes
        };
        let world = World::new(SimOptions {
            changes,
            ..SimOptions::default()
        })
        .await;
        world.declare("m").await;
        world.until_phase("m", MachinePhase::Running).await;
        world
            .patch("m", json!({"spec": {"cpu": {"cores": 4}}}))
            .await;
        let machine = until_settled(&world).await;
        until_facts(&world, |m| {
            m.cpus == Some(cores) && m.power == PowerState::Running
        })
        .await;
        let stalled = condition(&machine, "Stalled").expect("a condition");
        match resize {
            When::Never => {
                assert_eq!(
                    (stalled.status.as_str(), stalled.reason.as_str()),
                    ("True", "Refused")
                );
                assert!(
                    stalled.message.contains("delete the machine"),
                    "{}",
                    stalled.message
                );
            }
            _ => assert_eq!(stalled.status, "False"),
        }
        world.engine.abort();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn disks_interfaces_and_tags_follow_the_declaration() {
    let world = World::new(SimOptions::default()).await;
    world.declare("m").await;
    world.until_phase("m", MachinePhase::Running).await;
    let disks = json!([
        {"name": "root", "sizeGB": 2, "boot": true}, {"name": "data", "sizeGB": 3},
    ]);
    let network = json!({"interfaces": [{"name": "eth0", "primary": true}, {"name": "eth1"}]});
    let spec = json!({"disks": disks, "network": network, "tags": {"team": "a"}});
    world.patch("m", json!({"spec": spec})).await;
    let names = |m: &Facts| {
        m.nics
            .iter()
            .map(|nic| nic.name.clone())
            .collect::<Vec<_>>()
    };
    until_facts(&world, |m| {
        let sizes: Vec<_> = m.disks.iter().map(|disk| disk.size).collect();
        sizes == [Some(2 << 30), Some(3 << 30)]
            && names(m) == ["eth0", "eth1"]
            && m.tags.get("team").is_some_and(|team| team == "a")
    })
    .await;
    let disks = json!([{"name": "root", "sizeGB": 2, "boot": true}]);
    let spec = json!({"disks": disks, "tags": {"team": null}});
    world.patch("m", json!({"spec": spec})).await;
    until_facts(&world, |m| m.disks.len() == 1 && m.tags.is_empty()).await;
    until_settled(&world).await;
    assert_eq!(world.cloud.made(), 1);
    world.delete_and_prove("m").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_request_is_one_restart() {
    let world = World::new(SimOptions::default()).await;
    world.declare("m").await;
    world.until_phase("m", MachinePhase::Running).await;
    // A time far ahead of the platform's clock: nothing is compared with it.
    let asked = "2099-01-01T00:00:00Z";
    world.cloud.fault_next(Verb::Update, Fault::LostAnswer);
    world
        .patch(
            "m",
            json!({"metadata": {"annotations": {"vitistack.io/restarted-at": asked}}}),
        )
        .await;
    until_facts(&world, |m| {
        m.restart.as_deref() == Some(asked) && m.power == PowerState::Running
    })
    .await;
    world.look_again("m").await;
    until_settled(&world).await;
    assert_eq!(world.cloud.restarts(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_made_the_machine_cannot_be_changed_once_it_exists() {
    let world = World::new(SimOptions::default()).await;
    world.declare("m").await;
    world.until_phase("m", MachinePhase::Running).await;
    let patches = [
        json!({"spec": {"os": {"imageID": "other"}}}),
        json!({"spec": {"providerConfig": {"region": "elsewhere"}}}),
        json!({"spec": {"userData": "#!/bin/sh"}}),
        json!({"spec": {"boot": {"firmware": {"type": "uefi"}}}}),
    ];
    for patch in patches {
        let refused = world
            .machines()
            .patch("m", &PatchParams::default(), &Patch::Merge(&patch))
            .await;
        match refused {
            Err(kube::Error::Api(status)) => {
                assert_eq!(status.code, 422, "{patch}");
                assert!(
                    status.message.contains("create it anew"),
                    "{}",
                    status.message
                );
            }
            other => assert!(other.is_err(), "{patch} was accepted"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn looks_behind_the_times_do_not_let_a_machine_go() {
    // On a platform that knows its tokens, and whose lookup is behind the times more than twice in
    // a row: the object stays until the machine is proven to be gone.
    let options = || SimOptions {
        lookup: Lookup::Eventual,
        ..SimOptions::default()
    };
    let stale = |mut looks: u32, create: Option<Fault>| -> Option<Chaos> {
        Some(Box::new(move |_, verb| match verb {
            Verb::Create => create,
            Verb::Find if looks > 0 => {
                looks -= 1;
                Some(Fault::Stale)
            }
            _ => None,
        }))
    };
    // The id is known: it is read by it.
    let world = World::new(options()).await;
    world.declare("m").await;
    world.until_phase("m", MachinePhase::Running).await;
    world.cloud.set_chaos(stale(6, None));
    world.delete_and_prove("m").await;
    // The id is not known, because the answer was lost: the machine is asked for once more.
    let world = World::new(options()).await;
    world.cloud.set_chaos(stale(1000, Some(Fault::LostAnswer)));
    world.declare("m").await;
    let made = |machine: Option<&Machine>| machine.is_some() && world.cloud.made() == 1;
    world.until("m", made).await;
    let asked = world.machines().delete("m", &Default::default()).await;
    asked.expect("asked");
    world.cloud.set_chaos(stale(6, None));
    world.until("m", |machine| machine.is_none()).await;
    assert_eq!(world.cloud.count(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn duplicates_are_a_condition_and_go_with_the_object() {
    let world = World::new(SimOptions::default()).await;
    world.declare("m").await;
    let machine = world.until_phase("m", MachinePhase::Running).await;
    let id = machine.status.and_then(|s| s.machine_id).expect("an id");
    world.cloud.duplicate(&MachineId::new(id));
    let told = |machine: Option<&Machine>| {
        let stalled = machine.and_then(|m| condition(m, "Stalled"));
        stalled.is_some_and(|c| c.status == "True" && c.reason == "Duplicates")
    };
    let machine = world.until("m", told).await;
    assert_eq!(phase_of(machine.as_ref()), Some(MachinePhase::Failed));
    assert_eq!(world.cloud.count(), 2, "neither was guessed away");
    world.delete_and_prove("m").await;
}
