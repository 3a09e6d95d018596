//! Providers that are treated as declared, and whose status tells how they answer.

use kube::api::PostParams;
use machinist_api::{conditions, vitistack::MachineProvider};
use machinist_core::machine::MachineId;
use machinist_providers::{
    SimOptions,
    sim::{Fault, Verb},
};
use serde_json::{Value, json};

use crate::world::{LIMIT, World};

/// Declares one more provider of the world's platform.
async fn declare(world: &World, name: &str, spec: Value) {
    let provider = json!({
        "apiVersion": "vitistack.io/v1alpha1", "kind": "MachineProvider",
        "metadata": {"name": name}, "spec": spec,
    });
    let provider = serde_json::from_value(provider).expect("a provider");
    let api = world.providers();
    let made = api.create(&PostParams::default(), &provider).await;
    made.expect("created");
}

/// Waits until something holds of a provider.
async fn until(
    world: &World,
    name: &str,
    holds: impl Fn(&MachineProvider) -> bool,
) -> MachineProvider {
    let api = world.providers();
    let look = async {
        loop {
            let provider = api.get(name).await.expect("a provider");
            if holds(&provider) {
                return provider;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    match tokio::time::timeout(LIMIT, look).await {
        Ok(provider) => provider,
        Err(_) => unreachable!("waited too long: {:#?}", api.get(name).await),
    }
}

/// Whether the provider's Ready condition has this reason.
fn is(provider: &MachineProvider, reason: &str) -> bool {
    let all = provider.status.as_ref().map(|status| &status.conditions);
    let ready = all.and_then(|all| conditions::find(all, "Ready"));
    ready.is_some_and(|ready| ready.reason == reason)
}

fn probes(world: &World) -> usize {
    let calls = world.cloud.calls();
    calls.iter().filter(|call| call.verb == Verb::Probe).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_are_tried_again_as_declared_and_the_status_tells_how_they_went() {
    let world = World::new(SimOptions::default()).await;
    until(&world, "cloud", |provider| is(provider, "Connected")).await;
    // The next probe of the first provider is a minute away.
    let before = probes(&world);
    (0..2).for_each(|_| world.cloud.fault_next(Verb::Probe, Fault::Before));
    let config =
        json!({"timeout": "5s", "retryPolicy": {"maxRetries": 2, "maxBackoffDelay": "1s"}});
    let spec = json!({"type": "sim", "region": "here", "config": config});
    declare(&world, "polite", spec).await;
    let polite = until(&world, "polite", |provider| is(provider, "Connected")).await;
    assert!(probes(&world) >= before + 3, "all of one pass");
    let status = polite.status.expect("a status");
    let health = status.health.expect("its health");
    // Two of the calls so far have failed, and nobody knows how many there are.
    let score = health.score.expect("a score");
    assert!((1..100).contains(&score), "{health:?}");
    let metrics = health.metrics.expect("figures");
    let number = |text: Option<String>| -> f64 { text.expect("it").parse().expect("a number") };
    let (good, bad) = (number(metrics.success_rate), number(metrics.error_rate));
    assert!(
        bad > 0.0 && (good + bad - 100.0).abs() < 0.2,
        "{good} {bad}"
    );
    let time = metrics.avg_response_time.expect("a time");
    assert!(time.ends_with("ms"), "{time}");
    let connectivity = status.connectivity.expect("whether it answers");
    assert!(connectivity.latency_ms.is_some());
    // A provider that does not answer is not well, whatever it was.
    world.cloud.set_chaos(Some(Box::new(|_, verb| {
        (verb == Verb::Probe).then_some(Fault::Before)
    })));
    declare(&world, "plain", json!({"type": "sim", "region": "here"})).await;
    let plain = until(&world, "plain", |p| is(p, "ProviderUnreachable")).await;
    let health = plain.status.and_then(|status| status.health);
    assert_eq!(health.and_then(|health| health.score), Some(0));
    world.cloud.set_chaos(None);
    until(&world, "plain", |provider| is(provider, "Connected")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_create_whose_answer_was_lost_is_not_repeated_however_many_retries_are_declared() {
    let options = SimOptions {
        idempotent: false,
        ..SimOptions::default()
    };
    let world = World::new(options).await;
    let config = json!({"retryPolicy": {"maxRetries": 10, "maxBackoffDelay": "10ms"}});
    let patch = json!({"spec": {"config": config}});
    let params = kube::api::PatchParams::default();
    let patch = kube::api::Patch::Merge(&patch);
    let patched = world.providers().patch("cloud", &params, &patch).await;
    let generation = patched.expect("patched").metadata.generation;
    until(&world, "cloud", |provider| {
        let seen = provider.status.as_ref().and_then(|s| s.observed_generation);
        seen == generation && is(provider, "Connected")
    })
    .await;
    world.cloud.fault_next(Verb::Create, Fault::LostAnswer);
    world.declare("m").await;
    let phase = machinist_api::vitistack::MachinePhase::Running;
    let machine = world.until_phase("m", phase).await;
    assert_eq!((world.cloud.made(), world.cloud.peak_duplicates()), (1, 1));
    let id = machine.status.and_then(|status| status.machine_id);
    assert!(id.map(MachineId::new).is_some());
    world.delete_and_prove("m").await;
}
