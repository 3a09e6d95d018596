//! Vitistacks: providers that are declared inline, what a namespace has, quotas below use, and two
//! that claim one namespace.

use k8s_openapi::{
    api::core::v1::{ConfigMap, Namespace, Secret},
    apimachinery::pkg::apis::meta::v1::Condition,
};
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
    let spec = json!({"settings": settings, "tags": {"team": "a"}});
    declare(&world, "prod", spec).await;
    let told = |stack: &Vitistack| is(stack, "SpecInEffect", "False", "FieldsWithoutEffect");
    let stack = until(&world, "prod", told).await;
    let told = stack.status.expect("a status").conditions;
    let told = conditions::find(&told, "SpecInEffect").expect("it");
    let words = "Nothing acts on these fields yet: spec.tags.";
    assert_eq!(told.message, words);
    world.declare("m").await;
    let told = |machine: Option<&Machine>| {
        let applied = machine.and_then(|machine| condition(machine, "DefaultsApplied"));
        let words = ["storage class slow", "security group deny"];
        let told = |c: &Condition| words.iter().all(|word| c.message.contains(word));
        applied.is_some_and(|c| c.status == "True" && told(&c))
    };
    world.until("m", told).await;
    let machine = world.until_phase("m", MachinePhase::Running).await;
    assert!(machine.spec.disks.iter().all(|disk| disk.type_.is_none()));
}

/// Waits until the machines that are listed for monitoring in a namespace are these.
async fn until_listed(world: &World, namespace: &str, wanted: Option<&[&str]>) {
    let api: Api<ConfigMap> = Api::namespaced(world.client.clone(), namespace);
    let listed = async || {
        let map = api.get_opt("machinist-targets").await.expect("an answer")?;
        let file = map.data?.remove("default.json")?;
        let groups: Vec<Value> = serde_json::from_str(&file).expect("JSON");
        let name = |group: &Value| group["labels"]["machine"].as_str().map(str::to_owned);
        Some(groups.iter().filter_map(name).collect::<Vec<_>>())
    };
    let look = async {
        while listed()
            .await
            .as_deref()
            .map(|l| l.iter().map(String::as_str).collect::<Vec<_>>())
            != wanted.map(<[&str]>::to_vec)
        {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    if tokio::time::timeout(LIMIT, look).await.is_err() {
        unreachable!("{namespace}: {:?} instead of {wanted:?}", listed().await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn monitoring_is_told_of_the_machines_that_run_wherever_it_is() {
    let world = World::new(SimOptions::default()).await;
    let namespaces: Api<Namespace> = Api::all(world.client.clone());
    for name in ["watching", "elsewhere"] {
        let namespace = json!({"metadata": {"name": name}});
        let namespace = serde_json::from_value(namespace).expect("a namespace");
        let made = namespaces.create(&PostParams::default(), &namespace).await;
        made.expect("created");
    }
    let monitoring = |settings: Value| json!({"spec": {"settings": {"monitoring": settings}}});
    let spec = &monitoring(json!({"enabled": true, "namespace": "nowhere"}))["spec"];
    declare(&world, "prod", spec.clone()).await;
    let refused = |stack: &Vitistack| is(stack, "TargetsPublished", "False", "NamespaceNotFound");
    let stack = until(&world, "prod", refused).await;
    assert_eq!(stack.finalizers(), ["machinist.vitistack.io/targets"]);
    patch(&world, "prod", monitoring(json!({"namespace": "watching"}))).await;
    until_listed(&world, "watching", Some(&[])).await;
    for name in ["b", "a", "shy"] {
        world.declare(name).await;
        world.until_phase(name, MachinePhase::Running).await;
    }
    world
        .patch("shy", json!({"spec": {"monitoring": false}}))
        .await;
    until_listed(&world, "watching", Some(&["a", "b"])).await;
    let published = |stack: &Vitistack| is(stack, "TargetsPublished", "True", "Published");
    until(&world, "prod", published).await;
    // What stops is not watched any more.
    world
        .patch("b", json!({"spec": {"powerState": "Stopped"}}))
        .await;
    until_listed(&world, "watching", Some(&["a"])).await;
    patch(
        &world,
        "prod",
        monitoring(json!({"namespace": "elsewhere"})),
    )
    .await;
    until_listed(&world, "elsewhere", Some(&["a"])).await;
    until_listed(&world, "watching", None).await;
    patch(&world, "prod", monitoring(json!({"enabled": false}))).await;
    until_listed(&world, "elsewhere", None).await;
    until(&world, "prod", |stack| stack.finalizers().is_empty()).await;
    // A Vitistack that goes leaves nothing behind.
    patch(&world, "prod", monitoring(json!({"enabled": true}))).await;
    until_listed(&world, "elsewhere", Some(&["a"])).await;
    let deleted = stacks(&world)
        .delete("prod", &DeleteParams::default())
        .await;
    deleted.expect("deleted");
    until_listed(&world, "elsewhere", None).await;
    let gone = async {
        while stacks(&world)
            .get_opt("prod")
            .await
            .expect("an answer")
            .is_some()
        {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(LIMIT, gone).await.expect("gone");
}
