//! The QEMU driver passes the conformance suite, and keeps its own promises.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test"
)]

mod common;

use std::{
    fs,
    net::TcpListener,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use async_trait::async_trait;
use common::{Root, config, empty, fresh_key, has_qemu, image, processes, until};
use futures::StreamExt;
use machinist_core::{
    machine::{Firmware, MachineKey, Power, PowerState},
    provider::{Change, Provider},
};
use machinist_providers::{
    Qemu, QemuConfig,
    conformance::{Fixture, run_all},
};

struct Host(Root);

#[async_trait]
impl Fixture for Host {
    async fn connect(&self) -> Arc<dyn Provider> {
        Arc::new(Qemu::new(config(self.0.path())).unwrap())
    }

    /// Firmware alone runs in the smallest machine, and it lets go of nothing.
    fn guest_lets_go(&self) -> bool {
        false
    }

    async fn count(&self, key: &MachineKey) -> usize {
        let directory = self.0.path().join("machines").join(key.machine());
        processes(key).len().max(usize::from(directory.exists()))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn qemu_conforms() {
    if !has_qemu() {
        return;
    }
    let host = Host(Root::new());
    let report = run_all(&host).await;
    println!("{report}");
    assert!(report.passed(), "{report}");
    let left: Vec<_> = fs::read_dir(host.0.path().join("machines"))
        .unwrap()
        .flatten()
        .map(|entry| entry.file_name())
        .collect();
    assert_eq!(left, [".lock"], "nothing is left behind");
}

/// A driver on a root of its own; the machine is removed when the test is over.
fn driver() -> Option<(Root, Qemu)> {
    if !has_qemu() {
        return None;
    }
    let root = Root::new();
    let qemu = Qemu::new(config(root.path())).unwrap();
    Some((root, qemu))
}

fn machine_dir(root: &Path, key: &MachineKey) -> PathBuf {
    root.join("machines").join(key.machine())
}

#[tokio::test]
async fn a_deep_data_directory_works() {
    if !has_qemu() {
        return;
    }
    let root = Root::new();
    let deep = root.path().join("d".repeat(120)).join("e, f=g".repeat(10));
    let qemu = Qemu::new(config(&deep)).unwrap();
    let key = fresh_key();
    let facts = qemu.create(&key, &empty("deep")).await.unwrap();
    assert_eq!(facts.power, PowerState::Running);
    qemu.delete(&key, &facts.id, None).await.unwrap();
    assert!(qemu.find(&key).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_killed_qemu_is_seen_at_once_and_a_reused_process_id_fools_nobody() {
    let Some((root, qemu)) = driver() else { return };
    let key = fresh_key();
    let mut hints = qemu.watch().unwrap();
    let facts = qemu.create(&key, &empty("killed")).await.unwrap();
    let pid: i32 = facts.details["pid"].parse().unwrap();
    assert_eq!(processes(&key), [pid]);
    let killed = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(killed, rustix::process::Signal::KILL).unwrap();
    let seen = async {
        while let Some(hint) = hints.next().await {
            let found = qemu.find(&hint).await.unwrap();
            if found[0].power == PowerState::Stopped {
                return;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(60), seen)
        .await
        .expect("its end is hinted at");

    // The pid file now names a process that is not QEMU: this one.
    fs::write(
        machine_dir(root.path(), &key).join("qemu.pid"),
        std::process::id().to_string(),
    )
    .unwrap();
    let facts = &qemu.find(&key).await.unwrap()[0];
    assert_eq!(facts.power, PowerState::Stopped);
    assert!(!facts.details.contains_key("pid"));
    qemu.delete(&key, &facts.id, None).await.unwrap();
    assert!(qemu.find(&key).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_hanging_qemu_is_ended() {
    let Some((_root, qemu)) = driver() else {
        return;
    };
    let key = fresh_key();
    let facts = qemu.create(&key, &empty("hanging")).await.unwrap();
    let pid = rustix::process::Pid::from_raw(facts.details["pid"].parse().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
    qemu.delete(&key, &facts.id, None).await.unwrap();
    assert!(qemu.find(&key).await.unwrap().is_empty());
    assert!(processes(&key).is_empty());
}

#[tokio::test]
async fn a_stop_that_nobody_waits_for_is_finished_by_the_next_to_look() {
    let Some((root, first)) = driver() else {
        return;
    };
    let key = fresh_key();
    let facts = first.create(&key, &empty("deaf")).await.unwrap();
    // As after a crash: the record says that its time was up long ago, and no task knows.
    let path = machine_dir(root.path(), &key).join("machine.json");
    let mut record: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    record["pending"] = serde_json::json!({"goal": "stop", "deadline": 1});
    fs::write(&path, record.to_string()).unwrap();
    drop(first);
    let second = Qemu::new(config(root.path())).unwrap();
    let found = second.find(&key).await.unwrap();
    assert_eq!(found[0].power, PowerState::Stopped);
    assert!(processes(&key).is_empty());
    second.delete(&key, &facts.id, None).await.unwrap();
}

#[tokio::test]
async fn what_a_crash_left_of_a_removal_is_removed() {
    let Some((root, qemu)) = driver() else { return };
    let key = fresh_key();
    let mut want = empty("left");
    want.power = Power::Off;
    qemu.create(&key, &want).await.unwrap();
    let leaving = root
        .path()
        .join("machines")
        .join(format!(".deleting-{}", key.machine()));
    fs::rename(machine_dir(root.path(), &key), &leaving).unwrap();
    assert!(qemu.list(key.cluster()).await.unwrap().is_empty());
    assert!(!leaving.exists());
}

#[tokio::test]
async fn a_directory_without_a_record_is_a_doubt_and_not_an_absence() {
    let Some((root, qemu)) = driver() else { return };
    let key = fresh_key();
    fs::create_dir(machine_dir(root.path(), &key)).unwrap();
    for error in [
        qemu.find(&key).await.unwrap_err(),
        qemu.list(key.cluster()).await.unwrap_err(),
        qemu.create(&key, &empty("doubted")).await.unwrap_err(),
    ] {
        assert_eq!(error.reason(), "ProviderUnreachable");
        assert!(error.to_string().contains(key.machine()), "{error}");
    }
    // Other machines are none the worse for it.
    let other = fresh_key();
    let facts = qemu.create(&other, &empty("other")).await.unwrap();
    qemu.delete(&other, &facts.id, None).await.unwrap();
}

#[tokio::test]
async fn what_cannot_be_is_refused_and_leaves_nothing() {
    let Some((root, qemu)) = driver() else { return };
    let raw = root.path().join("small.raw");
    fs::write(&raw, vec![1; 32 << 20]).unwrap();
    let mut too_small = empty("small");
    too_small.image = image(&raw);
    let mut greedy = empty("greedy");
    greedy.memory = 1 << 50;
    let mut crowded = empty("crowded");
    crowded.cpu.cores = 250;
    let mut secret = empty("secret");
    secret.disks[0].encrypted = true;
    let mut sizeless = empty("sizeless");
    sizeless.disks[0].size = None;
    let mut uefi = empty("uefi");
    uefi.firmware = Firmware::Uefi { secure_boot: false };
    let mut cases = vec![
        (too_small, "Rejected", "32 MiB"),
        (greedy, "NoCapacity", "available"),
        (crowded, "NoCapacity", "250 processors"),
        (secret, "Rejected", "encrypt"),
        (sizeless, "Rejected", "declare a size"),
    ];
    if !Path::new("/usr/share/OVMF").exists() && !Path::new("/usr/share/edk2").exists() {
        cases.push((uefi, "Rejected", "ovmf"));
    }
    for (want, reason, part) in cases {
        let key = fresh_key();
        let error = qemu.create(&key, &want).await.unwrap_err();
        assert_eq!(error.reason(), reason, "{error}");
        assert!(error.to_string().contains(part), "{error}");
        assert!(!machine_dir(root.path(), &key).exists());
    }
}

#[tokio::test]
async fn a_qemu_that_dies_or_is_missing_says_why_and_leaves_nothing() {
    if !has_qemu() {
        return;
    }
    let root = Root::new();
    let script = root.path().join("qemu");
    fs::write(&script, "#!/bin/sh\necho the moon is wrong >&2\nexit 3\n").unwrap();
    fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    for (binary, reason, part) in [
        (script, "ProviderUnreachable", "the moon is wrong"),
        (root.path().join("none"), "Unsupported", "does not exist"),
    ] {
        let qemu = Qemu::new(QemuConfig {
            binary: Some(binary),
            ..config(root.path())
        })
        .unwrap();
        let key = fresh_key();
        let error = qemu.create(&key, &empty("dead")).await.unwrap_err();
        assert_eq!(error.reason(), reason);
        assert!(error.to_string().contains(part), "{error}");
        assert!(qemu.find(&key).await.unwrap().is_empty());
        assert!(!machine_dir(root.path(), &key).exists());
    }
}

#[tokio::test]
async fn a_port_that_somebody_took_is_replaced_at_the_next_start() {
    let Some((_root, qemu)) = driver() else {
        return;
    };
    let key = fresh_key();
    let facts = qemu.create(&key, &empty("ported")).await.unwrap();
    let port: u16 = facts.details["sshPort"].parse().unwrap();
    qemu.update(&key, &facts.id, &Change::Stop { grace: None })
        .await
        .unwrap();
    until(&qemu, &key, "stopped", |facts| {
        facts.power == PowerState::Stopped
    })
    .await;
    let _thief = TcpListener::bind(("127.0.0.1", port)).unwrap();
    qemu.update(&key, &facts.id, &Change::Start).await.unwrap();
    let again = until(&qemu, &key, "running", |facts| {
        facts.power == PowerState::Running
    })
    .await;
    assert_ne!(again.details["sshPort"], port.to_string());
    assert_eq!(again.nics, facts.nics, "the addresses stay");
    qemu.delete(&key, &facts.id, None).await.unwrap();
}

#[tokio::test]
async fn machines_have_addresses_of_their_own_and_two_instances_do_not_disturb_each_other() {
    let Some((root, qemu)) = driver() else { return };
    let second = Qemu::new(config(root.path())).unwrap();
    let (one, two) = (fresh_key(), fresh_key());
    let (one_want, two_want) = (empty("one"), empty("two"));
    let (first, other) = tokio::join!(qemu.create(&one, &one_want), second.create(&two, &two_want));
    let (first, other) = (first.unwrap(), other.unwrap());
    assert_ne!(first.nics[0].private, other.nics[0].private);
    assert_ne!(first.nics[0].mac, other.nics[0].mac);
    assert_ne!(first.details["sshPort"], other.details["sshPort"]);
    let (seen, seen_too) = tokio::join!(qemu.list(one.cluster()), second.list(one.cluster()));
    assert_eq!(seen.unwrap().len(), 2);
    assert_eq!(seen_too.unwrap().len(), 2);
    // Each removes what the other made.
    second.delete(&one, &first.id, None).await.unwrap();
    qemu.delete(&two, &other.id, None).await.unwrap();
}

#[tokio::test]
async fn the_probe_tells_what_runs_here() {
    if !has_qemu() {
        return;
    }
    let root = Root::new();
    let qemu = Qemu::new(QemuConfig::new(root.path())).unwrap();
    let health = qemu.probe().await.unwrap();
    assert!(health.endpoint.contains("qemu-system-x86_64"));
    assert!(health.version.unwrap().contains('.'));
    assert!(
        health.cpus.unwrap() > 0 && health.memory.unwrap() > 0 && health.storage_free.is_some()
    );
    assert!(["kvm", "tcg"].contains(&health.details["accelerator"].as_str()));
    assert!(!health.details["acceleratorReason"].is_empty());
}

#[tokio::test]
async fn the_inventory_tells_the_images_that_machines_can_be_made_from() {
    let root = Root::new();
    let shelf = root.path().join("shelf");
    fs::create_dir_all(&shelf).unwrap();
    fs::write(shelf.join("debian.qcow2"), b"content").unwrap();
    let mut config = config(root.path());
    config.image_dirs = vec![shelf];
    config
        .images
        .insert("gone".to_owned(), "/no/such/file".to_owned());
    let stock = Qemu::new(config).unwrap().inventory().await.unwrap();
    let told: Vec<&str> = stock.images.iter().map(|image| image.id.as_str()).collect();
    assert_eq!(told, ["debian"]);
    assert_eq!(stock.images[0].architecture.as_deref(), Some("amd64"));
}

#[tokio::test]
async fn a_long_transfer_holds_nobody_up_and_is_told_as_progress() {
    if !has_qemu() {
        return;
    }
    let root = Root::new();
    let server = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/disk.raw", server.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut stream, _) = server.accept().await.unwrap();
        let half = "HTTP/1.1 200 OK\r\ncontent-length: 2048\r\n\r\n".to_owned() + &"x".repeat(1024);
        tokio::io::AsyncWriteExt::write_all(&mut stream, half.as_bytes())
            .await
            .unwrap();
        // The other half never comes.
        std::future::pending::<()>().await;
    });
    let qemu = Qemu::new(QemuConfig {
        image_wait: Duration::from_millis(300),
        ..config(root.path())
    })
    .unwrap();
    let key = fresh_key();
    let mut want = empty("waiting");
    want.image = Some(machinist_core::machine::Image {
        reference: url.clone(),
        checksum: None,
    });
    let error = qemu.create(&key, &want).await.unwrap_err();
    assert_eq!(error.reason(), "ProviderBusy", "{error}");
    let mut downloads = qemu.downloads();
    let half = |all: &machinist_providers::shared::images::Transfers| {
        all.get(&url)
            .is_some_and(|progress| (progress.done, progress.total) == (1024, Some(2048)))
    };
    tokio::time::timeout(common::LIMIT, downloads.wait_for(half))
        .await
        .expect("half of it came")
        .unwrap();
    let error = qemu.create(&key, &want).await.unwrap_err();
    assert!(error.to_string().contains("1 KiB of 2 KiB"), "{error}");
    assert!(qemu.find(&key).await.unwrap().is_empty());
}
