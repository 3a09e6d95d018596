//! A real guest under QEMU: it boots, runs its user data, is stopped, started and removed.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test"
)]

mod common;

use std::{net::TcpListener, time::Duration};

use common::{
    LIMIT, Root, config, empty, fresh_key, guest_image, has_qemu, image, processes, until,
};
use machinist_core::{
    machine::{Disk, MachineId, MachineKey, PowerState},
    provider::{Change, Provider},
};
use machinist_providers::{Qemu, QemuConfig};
use tokio::time::{Instant, sleep};

const MARKER: &str = "MARKER-FROM-USER-DATA";

async fn await_marker(qemu: &Qemu, key: &MachineKey, id: &MachineId) {
    let console = qemu.console().unwrap();
    let deadline = Instant::now() + LIMIT;
    loop {
        let output = console.output(key, id, 0).await.unwrap();
        let text = String::from_utf8_lossy(&output).into_owned();
        if text.contains(MARKER) {
            return;
        }
        assert!(
            Instant::now() < deadline,
            "the guest did not print its marker:\n{text}"
        );
        sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_guest_lives_its_whole_life() {
    if !has_qemu() {
        return;
    }
    let Some(path) = guest_image() else { return };
    let root = Root::new();
    let qemu = Qemu::new(QemuConfig {
        stop_grace: LIMIT,
        ..config(root.path())
    })
    .unwrap();
    let key = fresh_key();
    let mut want = empty("guest");
    want.memory = 192 << 20;
    want.image = image(&path);
    want.disks[0].size = Some(2 << 30);
    want.init.user_data = Some(format!("#!/bin/sh\necho {MARKER} > /dev/console\n"));

    let facts = qemu.create(&key, &want).await.unwrap();
    assert_eq!(facts.power, PowerState::Running);
    assert_eq!(
        facts.disks[0].size,
        Some(2 << 30),
        "the disk is grown to what was asked for"
    );
    await_marker(&qemu, &key, &facts.id).await;
    let confirmed = until(&qemu, &key, "confirmed by the guest's agent", |facts| {
        facts.nics[0].confirmed
    })
    .await;
    assert_eq!(
        confirmed.nics[0].private, facts.nics[0].private,
        "the guest has the address that was reserved for it"
    );
    let guest = confirmed.guest.expect("the agent tells about the guest");
    assert_eq!(guest.hostname.as_deref(), Some("guest"));

    devices_come_and_go(&qemu, &key, &facts.id).await;

    let asked = Instant::now();
    qemu.update(&key, &facts.id, &Change::Stop { grace: None })
        .await
        .unwrap();
    assert!(
        asked.elapsed() < Duration::from_secs(30),
        "stopping does not hold up its caller"
    );
    until(&qemu, &key, "stopped", |facts| {
        facts.power == PowerState::Stopped
    })
    .await;
    assert!(asked.elapsed() < LIMIT, "the guest shut itself down");
    assert_eq!(processes(&key), Vec::<i32>::new());

    qemu.update(&key, &facts.id, &Change::Start).await.unwrap();
    let again = until(&qemu, &key, "running again", |facts| {
        facts.power == PowerState::Running
    })
    .await;
    assert_eq!(again.id, facts.id);
    await_marker(&qemu, &key, &facts.id).await;

    let port: u16 = again.details["sshPort"].parse().unwrap();
    qemu.delete(&key, &facts.id, None).await.unwrap();
    assert!(qemu.find(&key).await.unwrap().is_empty());
    assert_eq!(processes(&key), Vec::<i32>::new());
    assert!(!root.path().join("machines").join(key.machine()).exists());
    TcpListener::bind(("127.0.0.1", port)).expect("the forwarded port is free again");
    let images = std::fs::read_dir(root.path().join("images"))
        .unwrap()
        .count();
    assert_eq!(
        images, 0,
        "the link to the image is gone with its last user"
    );
}

/// A disk is attached to the running guest, grows, and is detached.
async fn devices_come_and_go(qemu: &Qemu, key: &MachineKey, id: &MachineId) {
    let disk = Disk {
        name: "data".to_owned(),
        size: Some(64 << 20),
        boot: false,
        ..empty("guest").disks[0].clone()
    };
    let grow = Change::GrowDisk {
        name: "data".to_owned(),
        size: 128 << 20,
    };
    for change in [Change::AttachDisk(disk), grow] {
        qemu.update(key, id, &change).await.unwrap();
    }
    let facts = until(qemu, key, "given its devices", |facts| {
        facts.disks.len() == 2
    })
    .await;
    assert_eq!(facts.disks[1].size, Some(128 << 20));
    assert_eq!(facts.power, PowerState::Running);
    let leave = Change::DetachDisk("data".to_owned());
    let deadline = Instant::now() + LIMIT;
    // A guest lets go when it has time for that.
    while let Err(error) = qemu.update(key, id, &leave).await {
        assert!(Instant::now() < deadline, "{error}");
    }
    let facts = until(qemu, key, "without them", |facts| facts.disks.len() == 1).await;
    assert_eq!(facts.power, PowerState::Running);
}
