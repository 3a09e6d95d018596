//! Vitistacks: providers that are declared inline, what a namespace has, quotas below use, and two
//! that claim one namespace.

use k8s_openapi::api::core::v1::Secret;
use kube::{
    Api, ResourceExt,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
};
use machinist_api::{
    conditions,
    vitistack::{Machine, MachinePhase, StackPhase, Vitistack},
};
use machinist_providers::SimOptions;
use serde_json::{Value, json};

use crate::world::{LIMIT, World, condition};

fn stacks(world: &World) -> Api<Vitistack> {
    Api::default_namespaced(world.client.clone())
}

async fn declare(world: &World, name: &str, spec: Value) {
    let stack = json!({
        "apiVersion": "vitistack.io/v1alpha1", "kind": "Vitistack",
        "metadata": {"name": name}, "spec": spec,
    });
    let stack = serde_json::from_value(stack).expect("a Vitistack");
    let made = stacks(world).create(&PostParams::default(), &stack).await;
    made.expect("created");
}

async fn patch(world: &World, name: &str, patch: Value) {
    let params = PatchParams::default();
    let patched = stacks(world)
        .patch(name, &params, &Patch::Merge(&patch))
        .await;
    patched.expect("patched");
}

/// Waits until something holds of a Vitistack.
async fn until(world: &World, name: &str, holds: impl Fn(&Vitistack) -> bool) -> Vitistack {
    let api = stacks(world);
    let look = async {
        loop {
            let stack = api.get(name).await.expect("a Vitistack");
            if holds(&stack) {
                return stack;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    match tokio::time::timeout(LIMIT, look).await {
        Ok(stack) => stack,
        Err(_) => unreachable!("waited too long: {:#?}", api.get(name).await),
    }
}

fn is(stack: &Vitistack, kind: &str, status: &str, reason: &str) -> bool {
    let all = stack.status.as_ref().map(|status| &status.conditions);
    let found = all.and_then(|all| conditions::find(all, kind));
    found.is_some_and(|c| c.status == status && c.reason == reason)
}

#[tokio::test(flavor = "multi_thread")]
async fn inline_providers_become_machine_providers_and_are_kept_as_declared() {
    let world = World::new(SimOptions::default()).await;
    let secret = json!({"metadata": {"name": "login"}, "stringData": {"password": "none"}});
    let secret: Secret = serde_json::from_value(secret).expect("a Secret");
    let secrets: Api<Secret> = Api::default_namespaced(world.client.clone());
    let made = secrets.create(&PostParams::default(), &secret).await;
    made.expect("created");
    let pve = json!({
        "type": "proxmox", "name": "pve", "endpoint": "https://pve.example.com:8006",
        "credentials": {"secretRef": {"name": "login"}},
    });
    let kea = json!({"type": "kea", "name": "leases"});
    // There already, and nobody's.
    let taken =
        json!({"type": "proxmox", "name": "cloud", "endpoint": "https://other.example.com"});
    let spec = json!({"infrastructure": {"providers": [pve, kea, taken]}});
    declare(&world, "prod", spec).await;
    let healthy = |stack: &Vitistack| {
        let status = stack.status.as_ref();
        let mut providers = status.into_iter().flat_map(|status| &status.providers);
        providers.any(|p| p.name == "pve" && p.healthy == Some(true))
    };
    let stack = until(&world, "prod", healthy).await;
    assert!(
        is(&stack, "ProvidersHealthy", "False", "Unhealthy"),
        "{stack:#?}"
    );
    let providers = world.providers();
    let made = providers.get("pve").await.expect("made");
    assert_eq!(made.owner_references()[0].name, "prod");
    let other = providers.get("cloud").await.expect("left alone");
    assert!(other.owner_references().is_empty() && other.spec.endpoint.is_none());
    // Somebody else's change of what is declared does not stay.
    let meddle = json!({"spec": {"endpoint": {"url": "https://elsewhere.example.com"}}});
    let params = PatchParams::default();
    let meddled = providers
        .patch("pve", &params, &Patch::Merge(&meddle))
        .await;
    meddled.expect("patched");
    let back = async {
        loop {
            let provider = providers.get("pve").await.expect("there");
            let url = provider.spec.endpoint.and_then(|endpoint| endpoint.url);
            if url.as_deref() == Some("https://pve.example.com:8006") {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(LIMIT, back).await.expect("put back");
    patch(
        &world,
        "prod",
        json!({"spec": {"infrastructure": {"providers": []}}}),
    )
    .await;
    let gone = async {
        while providers.get_opt("pve").await.expect("an answer").is_some() {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(LIMIT, gone).await.expect("gone");
    providers.get("cloud").await.expect("left alone");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_namespace_is_counted_and_a_quota_below_use_takes_nothing_away() {
    let world = World::new(SimOptions::default()).await;
    for name in ["a", "b"] {
        world.declare(name).await;
        world.until_phase(name, MachinePhase::Running).await;
    }
    let disks = json!([{"name": "root", "sizeGB": 2, "boot": true}]);
    world.patch("a", json!({"spec": {"disks": disks}})).await;
    let quotas = json!({"machines": {"total": 5}, "network": {"maxNetworks": 1}});
    declare(&world, "prod", json!({"quotas": quotas})).await;
    let counted = |stack: &Vitistack| {
        let resources = stack
            .status
            .as_ref()
            .and_then(|status| status.resources.clone());
        resources.is_some_and(|r| {
            r.machines == Some(2) && r.networks == Some(0) && r.storage != Some("0".into())
        }) && is(stack, "QuotaAvailable", "True", "Available")
    };
    let stack = until(&world, "prod", counted).await;
    assert_eq!(
        stack.status.and_then(|status| status.phase),
        Some(StackPhase::Active)
    );
    patch(
        &world,
        "prod",
        json!({"spec": {"quotas": {"machines": {"total": 1}}}}),
    )
    .await;
    let exceeded = |stack: &Vitistack| is(stack, "QuotaAvailable", "False", "QuotaExceeded");
    let stack = until(&world, "prod", exceeded).await;
    let told = stack.status.expect("a status").conditions;
    let told = conditions::find(&told, "QuotaAvailable").expect("it");
    let words = "There are more than the quota allows: 2 of 1 machines. Nothing is removed, and no more are admitted.";
    assert_eq!(told.message, words);
    let machines = world.machines().list(&ListParams::default()).await;
    assert_eq!(machines.expect("machines").items.len(), 2);
    assert_eq!(world.cloud.count(), 2);
    // A machine that goes is seen to go.
    let deleted = world.machines().delete("b", &DeleteParams::default()).await;
    deleted.expect("deleted");
    let reached = |stack: &Vitistack| is(stack, "QuotaAvailable", "False", "QuotaReached");
    until(&world, "prod", reached).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_that_claim_one_namespace_the_older_has_it() {
    let world = World::new(SimOptions::default()).await;
    let quota = |total: u32| json!({"quotas": {"machines": {"total": total}}});
    declare(&world, "older", quota(5)).await;
    until(&world, "older", |stack| {
        is(stack, "Ready", "True", "Active")
    })
    .await;
    // Ages are told in whole seconds; of the same age, the first name counts.
    declare(&world, "younger", quota(0)).await;
    let claimed = |stack: &Vitistack| is(stack, "Ready", "False", "NamespaceClaimed");
    let younger = until(&world, "younger", claimed).await;
    let status = younger.status.expect("a status");
    assert_eq!(status.phase, Some(StackPhase::Failed));
    let ready = conditions::find(&status.conditions, "Ready").expect("it");
    let words = "Vitistack older has this namespace already; delete one of them. Until then quotas and settings here do not count";
    assert!(ready.message.starts_with(words), "{}", ready.message);
    until(&world, "older", |stack| {
        is(stack, "Ready", "True", "Active")
    })
    .await;
    let deleted = stacks(&world)
        .delete("older", &DeleteParams::default())
        .await;
    deleted.expect("deleted");
    until(&world, "younger", |stack| {
        is(stack, "Ready", "True", "Active")
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_fill_what_machines_and_providers_leave_open_and_are_told() {
    let world = World::new(SimOptions::default()).await;
    let settings = json!({"defaultStorageClass": "slow", "defaultNetworkPolicy": "deny"});
    declare(&world, "prod", json!({"settings": settings})).await;
    let told = |stack: &Vitistack| is(stack, "SpecInEffect", "False", "FieldsWithoutEffect");
    let stack = until(&world, "prod", told).await;
    let told = stack.status.expect("a status").conditions;
    let told = conditions::find(&told, "SpecInEffect").expect("it");
    let words = "Nothing acts on these fields yet: spec.settings.defaultNetworkPolicy.";
    assert_eq!(told.message, words);
    world.declare("m").await;
    let told = |machine: Option<&Machine>| {
        let applied = machine.and_then(|machine| condition(machine, "DefaultsApplied"));
        applied.is_some_and(|c| c.status == "True" && c.message.contains("storage class slow"))
    };
    world.until("m", told).await;
    let machine = world.until_phase("m", MachinePhase::Running).await;
    assert!(machine.spec.disks.iter().all(|disk| disk.type_.is_none()));
}
