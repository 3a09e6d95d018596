//! What a provider's status tells of its platform: what it offers, how much is used and how much is
//! left; and the tags that its machines carry.

use std::{collections::BTreeMap, time::Duration};

use kube::api::{Patch, PatchParams};
use machinist_api::{
    conditions,
    vitistack::{
        MachinePhase, MachineProvider,
        machine_provider::{MachineProviderStatus, ResourceQuotaStatus},
    },
};
use machinist_providers::{
    SimOptions,
    sim::{Fault, Verb},
};
use serde_json::{Value, json};

use crate::{
    lab::{Life, in_virtual_time, simulated},
    world::{LIMIT, World, condition},
};

async fn patch(world: &World, spec: Value) {
    let (api, params) = (world.providers(), PatchParams::default());
    let change = Patch::Merge(json!({"spec": spec}));
    let patched = api.patch("cloud", &params, &change).await;
    patched.expect("patched");
}

/// Waits until something holds of the provider's status.
async fn until(world: &World, holds: impl Fn(&MachineProviderStatus) -> bool) -> MachineProvider {
    let api = world.providers();
    let look = async {
        loop {
            let provider = api.get("cloud").await.expect("a provider");
            if provider.status.as_ref().is_some_and(&holds) {
                return provider;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    match tokio::time::timeout(LIMIT, look).await {
        Ok(provider) => provider,
        Err(_) => unreachable!("waited too long: {:#?}", api.get("cloud").await),
    }
}

/// Used, limit and available of one resource, with its unit.
fn quota(status: &MachineProviderStatus, name: &str) -> Option<String> {
    let quotas = status.resources.as_ref().map(|all| all.quotas.as_slice());
    let quota = quotas?.iter().find(|quota| quota.resource == name)?;
    let ResourceQuotaStatus {
        used,
        limit,
        available,
        unit,
        ..
    } = quota.clone();
    let words = [used, limit, available, unit];
    Some(words.map(Option::unwrap_or_default).join(" "))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_status_tells_what_the_platform_offers_and_how_much_is_left() {
    let world = World::new(SimOptions {
        images: Some(["alpine", "debian"].map(str::to_owned).into()),
        capacity: Some(3),
        cpus: Some(8),
        memory: Some(16 << 30),
        storage: Some(100 << 30),
        ..SimOptions::default()
    })
    .await;
    let sizes = [("small", "2Gi"), ("large", "16Gi")];
    let sizes = sizes
        .map(|(name, memory)| json!({"name": name, "resources": {"cpu": 2, "memory": memory}}));
    let image = json!({"name": "debian", "osType": "linux", "version": "12"});
    patch(
        &world,
        json!({
            "templates": sizes,
            "capacity": {"maxMachines": 2, "reservedResources": {"cpu": 1, "memory": "4Gi"}},
            "capabilities": {"availableImages": [image]},
            "storageConfig": {"defaultDiskSize": "10Gi"},
            "config": {"version": "7.0"},
        }),
    )
    .await;
    // A machine that is made before the engine knows of this would have another disk.
    let known = |status: &MachineProviderStatus| {
        conditions::find(&status.conditions, "TemplatesVerified").is_some()
    };
    until(&world, known).await;
    world.declare("m").await;
    world.until_phase("m", MachinePhase::Running).await;
    // It counts when it is bound; what it has is known when it is made.
    let told = |status: &MachineProviderStatus| {
        let storage = quota(status, "storage").unwrap_or_default();
        status.machines == Some(1)
            && status.available_resources.is_some()
            && storage.starts_with("10.0 ")
    };
    let status = until(&world, told).await.status.expect("a status");
    // Of what is declared and what the platform sets, the smaller counts; what is held back is gone.
    assert_eq!(
        quota(&status, "instances").as_deref(),
        Some("1 2 1 machines")
    );
    assert_eq!(quota(&status, "cpu").as_deref(), Some("2 7 5 cores"));
    assert_eq!(
        quota(&status, "memory").as_deref(),
        Some("2.0 12.0 10.0 GiB")
    );
    assert_eq!(
        quota(&status, "storage").as_deref(),
        Some("10.0 100.0 90.0 GiB")
    );
    let shipped = status.quota.clone().expect("the third form");
    assert_eq!(
        (shipped.instance_quota, shipped.instance_used),
        (Some(2), Some(1))
    );
    assert_eq!(
        (shipped.memory_quota_gb, shipped.memory_used_gb),
        (Some(12), Some(2))
    );
    let capacity = status.capacity.clone().expect("the second form");
    let (total, left) = (capacity.total, capacity.available.expect("what is left"));
    assert_eq!(total.and_then(|total| total.cpu), Some(8));
    assert_eq!((left.cpu, left.machines), (Some(5), Some(1)));
    let found = status.available_resources.clone().expect("what is offered");
    assert_eq!(found.machine_classes, ["large", "small"]);
    let images: Vec<_> = found
        .images
        .iter()
        .map(|image| (image.id.as_str(), image.os_version.as_deref()))
        .collect();
    assert_eq!(
        images,
        [("alpine", Some("unknown")), ("debian", Some("12"))]
    );
    assert!(status.last_verified.is_some());
    let told = conditions::find(&status.conditions, "SpecInEffect").expect("told");
    let words = "Nothing acts on these fields yet: spec.config.version.";
    assert_eq!(
        (told.status.as_str(), told.message.as_str()),
        ("False", words)
    );
    let verified = conditions::find(&status.conditions, "TemplatesVerified").expect("a verdict");
    assert_eq!(
        (verified.status.as_str(), verified.reason.as_str()),
        ("False", "TemplatesTooLarge")
    );
    let words =
        "spec.templates[large].resources.memory: 17179869184: a machine has at most 12884901888";
    assert!(verified.message.starts_with(words), "{}", verified.message);
}

#[test]
fn an_inventory_that_fails_hinders_nothing_and_is_asked_for_seldom() {
    in_virtual_time(async |lab| {
        let options = SimOptions {
            images: Some(["debian".to_owned()].into()),
            ..SimOptions::default()
        };
        let life = Life::begin(lab, simulated(options)).await;
        life.platform.set_chaos(Some(Box::new(|_, verb| {
            (verb == Verb::Inventory).then_some(Fault::Before)
        })));
        let asked = || {
            let calls = life.platform.calls();
            calls
                .iter()
                .filter(|call| call.verb == Verb::Inventory)
                .count()
        };
        let offered = async || {
            let provider = life.providers().get("cloud").await.expect("a provider");
            let status = provider.status.expect("a status");
            let ready = conditions::find(&status.conditions, "Ready").expect("it");
            assert_eq!(ready.reason, "Connected");
            status.available_resources.map(|found| found.images.len())
        };
        tokio::time::sleep(Duration::from_secs(150)).await;
        assert_eq!(offered().await, None);
        assert!((2..=4).contains(&asked()), "once a pass: {}", asked());
        life.platform.set_chaos(None);
        tokio::time::sleep(Duration::from_secs(70)).await;
        assert_eq!(offered().await, Some(1));
        // What is known is asked for again after ten minutes, and told when it is news.
        let before = asked();
        let images = ["debian", "alpine"].map(str::to_owned);
        life.platform.set_images(Some(images.into()));
        tokio::time::sleep(Duration::from_secs(3600)).await;
        assert_eq!(offered().await, Some(2));
        assert!(
            (5..=7).contains(&(asked() - before)),
            "{}",
            asked() - before
        );
        life.end().await;
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn every_machine_carries_its_providers_tags_and_its_own_count() {
    let world = World::new(SimOptions::default()).await;
    patch(
        &world,
        json!({"defaultTags": {"team": "infra", "cost": "42"}}),
    )
    .await;
    world.declare("m").await;
    world
        .patch("m", json!({"spec": {"tags": {"team": "web"}}}))
        .await;
    let tagged = async |wanted: &[(&str, &str)]| {
        let wanted: BTreeMap<String, String> = wanted
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let has = || {
            world
                .cloud
                .snapshot()
                .first()
                .map(|facts| facts.tags.clone())
        };
        let look = async {
            while has().as_ref() != Some(&wanted) {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let found = tokio::time::timeout(LIMIT, look).await;
        assert!(found.is_ok(), "{wanted:?} is not {:?}", has());
    };
    tagged(&[("cost", "42"), ("team", "web")]).await;
    let machine = world.until_phase("m", MachinePhase::Running).await;
    let applied = condition(&machine, "DefaultsApplied").expect("told");
    assert!(
        applied.message.contains("tags cost=42 (spec.defaultTags)"),
        "{}",
        applied.message
    );
    // They follow the provider.
    patch(
        &world,
        json!({"defaultTags": {"cost": null, "team": "infra", "site": "a"}}),
    )
    .await;
    tagged(&[("site", "a"), ("team", "web")]).await;
    assert_eq!(world.cloud.made(), 1);
    world.delete_and_prove("m").await;
}
