//! Machines that name no provider: which is chosen, why the others are not, and what wakes a
//! machine for which there is none.

use k8s_openapi::api::events::v1::Event;
use kube::{
    Api, ResourceExt,
    api::{DeleteParams, ListParams, PostParams},
};
use machinist_api::{
    names,
    vitistack::{Machine, MachinePhase},
};
use machinist_providers::SimOptions;
use serde_json::{Value, json};

use crate::world::{LIMIT, World, condition, phase_of};

async fn provider(world: &World, name: &str, mut spec: Value) {
    spec["type"] = "sim".into();
    let provider = json!({
        "apiVersion": "vitistack.io/v1alpha1", "kind": "MachineProvider",
        "metadata": {"name": name}, "spec": spec,
    });
    let provider = serde_json::from_value(provider).expect("a provider");
    let api = world.providers();
    let made = api.create(&PostParams::default(), &provider).await;
    made.expect("created");
    // Until the engine knows it: what is not known yet cannot be a reason.
    let known = async {
        loop {
            let provider = api.get(name).await.expect("a provider");
            let seen = provider
                .status
                .and_then(|status| status.observed_generation);
            if seen == provider.metadata.generation {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    };
    let in_time = tokio::time::timeout(LIMIT, known).await;
    in_time.expect("looked at in time");
}

/// A machine that asks for what these labels say, and names no provider.
async fn anywhere(world: &World, name: &str, labels: Value) {
    let machine = json!({
        "apiVersion": "vitistack.io/v1alpha1", "kind": "Machine",
        "metadata": {"name": name, "labels": labels},
        "spec": {"os": {"family": "linux", "distribution": "debian", "version": "12", "imageID": "debian"}},
    });
    let machine = serde_json::from_value(machine).expect("a machine");
    let api = world.machines();
    let made = api.create(&PostParams::default(), &machine).await;
    made.expect("created");
}

fn bound_to(machine: &Machine) -> Option<&str> {
    let bound = machine.annotations().get(names::PROVIDER_ANNOTATION);
    bound.map(String::as_str)
}

fn is_unplaced(machine: Option<&Machine>, reason: &str) -> bool {
    let placed = machine.and_then(|machine| condition(machine, "Placed"));
    placed.is_some_and(|c| c.status == "False" && c.reason == reason)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_choice_is_durable_and_says_why_the_others_were_not_chosen() {
    let mut world = World::new(SimOptions::default()).await;
    provider(&world, "north", json!({"region": "north"})).await;
    let windows = json!({"region": "north", "capabilities": {"supportedOSTypes": ["windows"]}});
    provider(&world, "windows", windows).await;
    let key = json!({"secretRef": {"name": "none", "key": "key"}});
    let away = json!({"region": "north", "authentication": {"type": "apikey", "apiKey": key}});
    provider(&world, "away", away).await;
    let north = json!({"topology.kubernetes.io/region": "north"});
    anywhere(&world, "m", north).await;
    let machine = world.until_phase("m", MachinePhase::Running).await;
    assert_eq!(bound_to(&machine), Some("default/north"));
    let placed = condition(&machine, "Placed").expect("a condition");
    assert_eq!(
        (placed.status.as_str(), placed.reason.as_str()),
        ("True", "Chosen")
    );
    let api: Api<Event> = Api::default_namespaced(world.client.clone());
    let events = api.list(&ListParams::default()).await.expect("events");
    let mut told = events
        .items
        .into_iter()
        .filter(|e| e.reason.as_deref() == Some("Bound"));
    let told = told.find_map(|event| event.note).expect("an event");
    for words in [
        "default/north was chosen",
        "default/cloud is in region here, not north",
        "default/windows does not offer linux",
        "default/away is not ready: Secret default/none",
    ] {
        assert!(
            placed.message.contains(words),
            "{words} is not in {}",
            placed.message
        );
        assert!(told.contains(words), "{words} is not in {told}");
    }
    // Whatever else is better by now, for whoever looks.
    let better = json!({"region": "north", "capacity": {"maxMachines": 1000}});
    provider(&world, "a-better-one", better).await;
    world.replace_engine().await;
    world.look_again("m").await;
    let machine = world.until_phase("m", MachinePhase::Running).await;
    assert_eq!(bound_to(&machine), Some("default/north"));
    assert_eq!(world.cloud.made(), 1);
    world.delete_and_prove("m").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_machine_that_fits_nowhere_lists_every_provider_and_is_woken() {
    let world = World::new(SimOptions::default()).await;
    let zones = json!({"region": "here", "availabilityZones": ["a", "b"]});
    provider(&world, "zoned", zones).await;
    let leaving = json!({"region": "here", "capacity": {"maxMachines": 0}});
    provider(&world, "full", leaving).await;
    world
        .providers()
        .delete("cloud", &DeleteParams::default())
        .await
        .expect("deleted");
    let there =
        json!({"topology.kubernetes.io/region": "here", "topology.kubernetes.io/zone": "z"});
    anywhere(&world, "m", there).await;
    let both = |machine: Option<&Machine>| {
        let placed = machine.and_then(|machine| condition(machine, "Placed"));
        let says = |words: &str| placed.as_ref().is_some_and(|c| c.message.contains(words));
        is_unplaced(machine, "NoProviderFits")
            && says("default/zoned does not offer zone z")
            && says("default/full has 0 machines, which is all that it may have")
    };
    let machine = world.until("m", both).await.expect("a machine");
    assert_eq!(phase_of(Some(&machine)), Some(MachinePhase::Pending));
    assert!(machine.finalizers().is_empty(), "bound to nothing");
    assert_eq!(world.cloud.made(), 0);
    let other = json!({"region": "here", "availabilityZones": ["z"]});
    provider(&world, "other", other).await;
    let machine = world.until_phase("m", MachinePhase::Running).await;
    assert_eq!(bound_to(&machine), Some("default/other"));
    world.delete_and_prove("m").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crowd_does_not_overfill_a_provider_and_a_freed_place_is_taken() {
    let world = World::new(SimOptions::default()).await;
    let small = json!({"region": "small", "capacity": {"maxMachines": 3}});
    provider(&world, "small", small).await;
    let crowd: Vec<String> = (0..8).map(|number| format!("m{number}")).collect();
    let asked = crowd.iter().map(|name| {
        anywhere(
            &world,
            name,
            json!({"topology.kubernetes.io/region": "small"}),
        )
    });
    futures::future::join_all(asked).await;
    let mut placed = Vec::new();
    for name in &crowd {
        let decided = |machine: Option<&Machine>| {
            let bound = machine.is_some_and(|machine| bound_to(machine).is_some());
            bound || is_unplaced(machine, "NoProviderFits")
        };
        let machine = world.until(name, decided).await.expect("a machine");
        placed.extend(bound_to(&machine).map(|_| name.clone()));
    }
    assert_eq!(placed.len(), 3, "{placed:?}");
    let first = placed.first().expect("one").clone();
    world
        .machines()
        .delete(&first, &DeleteParams::default())
        .await
        .expect("deleted");
    let count = async || {
        let all = world.machines().list(&ListParams::default()).await;
        let all = all.expect("machines").items;
        let freed = all.iter().all(|machine| machine.name_any() != first);
        (freed, all.iter().filter(|m| bound_to(m).is_some()).count())
    };
    let taken = async {
        while count().await != (true, 3) {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    };
    let in_time = tokio::time::timeout(LIMIT, taken).await;
    assert!(in_time.is_ok(), "{:?}", count().await);
}
