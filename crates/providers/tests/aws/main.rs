//! The aws driver on moto, which checks signatures and rights, behind the proxy that does what moto
//! leaves out: the conformance suite, and what only a platform far away can do wrong.
#![cfg(feature = "aws")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test"
)]

#[path = "../../../../tests/cloud/mod.rs"]
mod cloud;
#[path = "../common/mod.rs"]
mod common;
mod lab;

use std::time::Duration;

use cloud::{Fault, IMAGE, Options, REGION};
use lab::{Cloud, driver_with, fresh, until};
use machinist_core::{
    machine::{Disk, MachineId, PowerState, Size},
    provider::{Change, Counted, Provider, ProviderError},
};
use machinist_providers::{
    aws::wire::Query,
    conformance::{Fixture as _, run_all},
};

#[tokio::test]
async fn the_driver_conforms() {
    let options = Options {
        looks: 1,
        ..Options::default()
    };
    let Some(cloud) = Cloud::open(options).await else {
        return;
    };
    let report = run_all(&cloud).await;
    println!("{report}");
    assert!(report.passed(), "{report}");
}

#[tokio::test]
async fn the_suite_notices_a_cloud_without_tokens() {
    let options = Options {
        forgetful: true,
        ..Options::default()
    };
    let Some(cloud) = Cloud::open(options).await else {
        return;
    };
    let (key, want) = (fresh(), cloud.want("twice"));
    let driver = cloud.driver();
    driver.create(&key, &want).await.unwrap();
    cloud.proxy.fault_next("DescribeInstances", Fault::Stale);
    driver.create(&key, &want).await.unwrap();
    assert_eq!(cloud.held(&key).await.0.len(), 2, "the proxy is what helps");
}

#[tokio::test]
async fn a_lost_answer_and_a_look_behind_the_times_make_no_second_machine() {
    let Some(cloud) = Cloud::open(Options::default()).await else {
        return;
    };
    let (key, mut want) = (fresh(), cloud.want("once"));
    let driver = cloud.driver();
    cloud.proxy.fault_next("RunInstances", Fault::LostAnswer);
    let lost = driver.create(&key, &want).await.unwrap_err();
    assert_eq!(lost.reason(), "ProviderUnreachable");
    cloud.proxy.fault_next("DescribeInstances", Fault::Stale);
    let again = driver.create(&key, &want).await.unwrap();
    assert_eq!(cloud.proxy.done("RunInstances"), 1);
    // The same for another declaration by then, which EC2 refuses under that token.
    want.instance_type = Some("t3.small".to_owned());
    cloud.proxy.fault_next("DescribeInstances", Fault::Stale);
    let changed = driver.create(&key, &want).await.unwrap();
    assert_eq!(changed.id, again.id);
    // And for one that cannot even be asked for.
    want.image = None;
    for _ in 0..2 {
        cloud.proxy.fault_next("DescribeInstances", Fault::Stale);
    }
    let unseen = driver.create(&key, &want).await.unwrap_err();
    assert_eq!(
        unseen.reason(),
        "ProviderBusy",
        "no proof of absence: {unseen}"
    );
    assert_eq!(cloud.proxy.done("RunInstances"), 1);
    driver.delete(&key, &again.id, None).await.unwrap();
    assert_eq!(cloud.held(&key).await, (vec![], vec![]));
}

#[tokio::test]
async fn a_token_that_outlives_its_machine_makes_the_next_one() {
    let Some(cloud) = Cloud::open(Options::default()).await else {
        return;
    };
    let (key, want) = (fresh(), cloud.want("again"));
    let driver = cloud.driver();
    let mut ids = Vec::new();
    for _ in 0..3 {
        let made = driver.create(&key, &want).await.unwrap();
        assert!(!ids.contains(&made.id), "{ids:?} and again {}", made.id);
        driver.delete(&key, &made.id, None).await.unwrap();
        assert!(driver.get(&key, &made.id).await.unwrap().is_none());
        ids.push(made.id);
    }
}

#[tokio::test]
async fn an_id_that_is_not_known_yet_is_not_gone() {
    let Some(cloud) = Cloud::open(Options::default()).await else {
        return;
    };
    let driver = cloud.driver();
    let (key, never) = (fresh(), MachineId::new("i-0123456789abcdef0"));
    let young = driver.get(&key, &never).await.unwrap_err();
    assert_eq!(young.reason(), "ProviderBusy", "{young}");
    for _ in 0..100 {
        match driver.get(&key, &never).await {
            Ok(None) => return,
            Err(ProviderError::Busy { .. }) => {}
            other => panic!("{other:?}"),
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("it never counts as gone");
}

#[tokio::test]
async fn a_machine_is_resized_while_it_is_stopped() {
    let options = Options {
        looks: 1,
        ..Options::default()
    };
    let Some(cloud) = Cloud::open(options).await else {
        return;
    };
    let (key, mut want) = (fresh(), cloud.want("resized"));
    let driver = cloud.driver();
    let id = driver.create(&key, &want).await.unwrap().id;
    until(&driver, &key, PowerState::Running).await;
    want.instance_type = Some("t3.small".to_owned());
    let resize = Change::Resize(Size::of(&want));
    let early = driver.update(&key, &id, &resize).await.unwrap_err();
    assert_eq!(early.reason(), "ProviderBusy");
    let stop = Change::Stop { grace: None };
    driver.update(&key, &id, &stop).await.unwrap();
    until(&driver, &key, PowerState::Stopped).await;
    driver.update(&key, &id, &resize).await.unwrap();
    let facts = until(&driver, &key, PowerState::Stopped).await;
    assert_eq!(facts.instance_type.as_deref(), Some("t3.small"));
    assert_eq!(facts.memory, Some(2 << 30));
    driver.delete(&key, &id, None).await.unwrap();
}

#[tokio::test]
async fn a_machine_is_made_with_the_monitoring_that_is_wanted() {
    let Some(cloud) = Cloud::open(Options::default()).await else {
        return;
    };
    let driver = cloud.driver();
    for (wanted, state) in [
        (None, "disabled"),
        (Some(false), "disabled"),
        (Some(true), "enabled"),
    ] {
        let (key, mut want) = (fresh(), cloud.want("watched"));
        want.monitoring = wanted;
        let id = driver.create(&key, &want).await.unwrap().id;
        let answer = cloud.ask("DescribeInstances", &key).await;
        let mut reservations = answer.items(&["reservationSet"]);
        let mut instances = reservations.next().unwrap().items(&["instancesSet"]);
        let shown = instances.next().unwrap().text(&["monitoring", "state"]);
        assert_eq!(shown, Some(state), "{wanted:?}");
        driver.delete(&key, &id, None).await.unwrap();
    }
}

/// A Vitistack's default network policy and a provider's default groups arrive here, too.
#[tokio::test]
async fn a_machine_is_made_in_the_security_groups_that_are_wanted_by_name_or_id() {
    let Some(cloud) = Cloud::open(Options::default()).await else {
        return;
    };
    let mut ids = Vec::new();
    for name in ["web", "data"] {
        let query = Query::new("CreateSecurityGroup")
            .with("GroupName", name)
            .with("GroupDescription", "test");
        let made = cloud.call(&query).await;
        ids.push(made.text(&["groupId"]).unwrap().to_owned());
    }
    let driver = cloud.driver();
    let (key, mut want) = (fresh(), cloud.want("grouped"));
    want.security_groups = vec!["web".to_owned(), ids[1].clone()];
    let id = driver.create(&key, &want).await.unwrap().id;
    let answer = cloud.ask("DescribeInstances", &key).await;
    let mut reservations = answer.items(&["reservationSet"]);
    let mut instances = reservations.next().unwrap().items(&["instancesSet"]);
    // moto tells the groups of an interface there alone.
    let interfaces = instances.next().unwrap().items(&["networkInterfaceSet"]);
    let groups = interfaces.flat_map(|interface| interface.items(&["groupSet"]));
    let mut shown: Vec<_> = groups.filter_map(|g| g.text(&["groupId"])).collect();
    shown.sort_unstable();
    let mut wanted: Vec<_> = ids.iter().map(String::as_str).collect();
    wanted.sort_unstable();
    assert_eq!(shown, wanted);
    driver.delete(&key, &id, None).await.unwrap();
}

#[tokio::test]
async fn a_disk_whose_attachment_was_cut_short_is_found_again_and_goes_along() {
    let Some(cloud) = Cloud::open(Options::default()).await else {
        return;
    };
    let (key, want) = (fresh(), cloud.want("cut-short"));
    let driver = cloud.driver();
    let id = driver.create(&key, &want).await.unwrap().id;
    let disk = |name: &str| Disk {
        name: name.to_owned(),
        size: Some(1 << 30),
        boot: false,
        ..want.disks[0].clone()
    };
    let attach = Change::AttachDisk(disk("data"));
    for fault in [Fault::Before, Fault::Throttle, Fault::LostAnswer] {
        cloud.proxy.fault_next("CreateVolume", fault);
        driver.update(&key, &id, &attach).await.unwrap_err();
    }
    // It is not seen, and asked for once more.
    cloud.proxy.fault_next("DescribeVolumes", Fault::Stale);
    cloud.proxy.fault_next("AttachVolume", Fault::Before);
    driver.update(&key, &id, &attach).await.unwrap_err();
    assert_eq!(
        cloud.held(&key).await.1.len(),
        2,
        "the boot disk and one more"
    );
    driver.update(&key, &id, &attach).await.unwrap();
    let facts = until(&driver, &key, PowerState::Running).await;
    assert_eq!(facts.disks[1].name, "data");
    assert_eq!(cloud.proxy.done("CreateVolume"), 1);
    // Another is made and never attached; it is shown, and goes with the machine.
    cloud.proxy.fault_next("AttachVolume", Fault::Before);
    let attach = Change::AttachDisk(disk("logs"));
    driver.update(&key, &id, &attach).await.unwrap_err();
    let facts = until(&driver, &key, PowerState::Running).await;
    assert!(facts.disks[2].name.starts_with("vol-"), "{:?}", facts.disks);
    driver.delete(&key, &id, None).await.unwrap();
    assert_eq!(cloud.held(&key).await, (vec![], vec![]));
    assert!(driver.get(&key, &id).await.unwrap().is_none());
}

#[tokio::test]
async fn wrong_keys_are_told_and_never_shown() {
    let Some(cloud) = Cloud::open(Options::default()).await else {
        return;
    };
    driver_with(&cloud, cloud.moto.secret())
        .probe()
        .await
        .unwrap();
    let wrong = "wrong+secret/0000000000000000000000000000";
    let driver = driver_with(&cloud, wrong);
    let error = driver.probe().await.unwrap_err();
    assert_eq!(error.reason(), "CredentialsRefused");
    let shown = format!("{error} {error:?} {driver:?}");
    assert!(!shown.contains(wrong), "{shown}");
}

#[tokio::test]
async fn what_ec2_offers_is_told() {
    let Some(cloud) = Cloud::open(Options::default()).await else {
        return;
    };
    let driver = cloud.driver();
    let stock = driver.inventory().await.unwrap();
    assert!(stock.zones.contains(&format!("{REGION}a")), "{stock:?}");
    assert!(stock.sizes.contains(&"t3.micro".to_owned()));
    assert!(stock.sizes.is_sorted());
    let limit = |counted: Counted| {
        let mut quotas = stock.quotas.iter();
        quotas
            .find(|quota| quota.resource == counted)
            .map(|q| q.limit)
    };
    // What moto says for every account.
    assert_eq!(limit(Counted::Machines), Some(20));
    let addresses = Counted::Network("elastic-ips".to_owned());
    assert_eq!(limit(addresses), Some(5));
    let images: Vec<&str> = stock.images.iter().map(|i| i.id.as_str()).collect();
    assert_eq!(images, [IMAGE]);
    assert_eq!(stock.images[0].name, "debian-12");
    // One that is not answered is a doubt about all of it.
    cloud.proxy.fault_next("DescribeImages", Fault::Before);
    assert!(driver.inventory().await.is_err());
}
