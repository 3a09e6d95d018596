//! The control plane is killed at many points of a creation and of a removal; after each,
//! a fresh driver ends up with exactly one QEMU, or with none.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test"
)]

mod common;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use common::{LIMIT, Root, config, empty, fresh_key, has_qemu, key, processes, until};
use machinist_core::{
    machine::{MachineKey, PowerState},
    provider::Provider,
};
use machinist_providers::Qemu;

const ROOT: &str = "MACHINIST_CRASH_ROOT";
const MACHINE: &str = "MACHINIST_CRASH_MACHINE";
const VERB: &str = "MACHINIST_CRASH_VERB";

/// Not a test by itself: what the process does that is killed.
#[tokio::test]
async fn crash_child() {
    let (Ok(root), Ok(machine)) = (std::env::var(ROOT), std::env::var(MACHINE)) else {
        return;
    };
    let qemu = Qemu::new(config(Path::new(&root))).unwrap();
    let key = key(&machine);
    let facts = qemu.create(&key, &empty("crashed")).await.unwrap();
    if std::env::var(VERB).as_deref() == Ok("delete") {
        qemu.delete(&key, &facts.id, None).await.unwrap();
    }
}

/// Runs the child and kills it as soon as the condition holds; false when it was done before.
fn kill_when(root: &Path, key: &MachineKey, verb: &str, mut is_time: impl FnMut() -> bool) -> bool {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crash_child", "--nocapture"])
        .env(ROOT, root)
        .env(MACHINE, key.machine())
        .env(VERB, verb)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let deadline = Instant::now() + LIMIT;
    while !is_time() && child.try_wait().unwrap().is_none() {
        assert!(
            Instant::now() < deadline,
            "the child neither came there nor ended"
        );
        std::hint::spin_loop();
    }
    let _ = child.kill();
    child.wait().unwrap().code().is_none()
}

/// What is below `machines/`, without the lock that stays.
fn entries(root: &Path) -> Vec<String> {
    let found = fs::read_dir(root.join("machines")).unwrap().flatten();
    let names = found.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name != ".lock").collect()
}

async fn one_machine_comes_of_it(root: &Path, key: &MachineKey, when: &str) {
    let qemu = Qemu::new(config(root)).unwrap();
    let facts = qemu
        .create(key, &empty("crashed"))
        .await
        .unwrap_or_else(|error| panic!("{when}: {error}"));
    let facts = until(&qemu, key, "running", |seen| {
        seen.power == PowerState::Running && seen.id == facts.id
    })
    .await;
    assert_eq!(processes(key).len(), 1, "{when}: one QEMU");
    assert_eq!(entries(root), [key.machine()], "{when}: one directory");
    qemu.delete(key, &facts.id, None).await.unwrap();
    assert!(qemu.find(key).await.unwrap().is_empty(), "{when}");
    assert!(processes(key).is_empty(), "{when}: no QEMU");
    assert!(entries(root).is_empty(), "{when}: no directory");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_while_creating() {
    if !has_qemu() {
        return;
    }
    let root = Root::new();
    let at = |key: &MachineKey, name: &str| -> PathBuf {
        root.path().join("machines").join(key.machine()).join(name)
    };
    let mut cut = 0;
    for step in [
        "",
        "disk-0.qcow2",
        "seed.img",
        "run.lock",
        "qemu.log",
        "qemu.pid",
        "qmp.sock",
        "serial.log",
    ] {
        let key = fresh_key();
        let path = at(&key, step);
        let cut_short = kill_when(root.path(), &key, "create", || path.exists());
        cut += u32::from(cut_short);
        one_machine_comes_of_it(
            root.path(),
            &key,
            &format!("killed when {step:?} was there"),
        )
        .await;
    }
    // A loaded host may let the child finish now and then, but not always.
    assert!(cut > 0, "the child was never killed in the middle");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_at_any_time_while_creating() {
    if !has_qemu() {
        return;
    }
    let root = Root::new();
    for milliseconds in (5..=200).step_by(15) {
        let key = fresh_key();
        let begun = Instant::now();
        let time = Duration::from_millis(milliseconds);
        kill_when(root.path(), &key, "create", || begun.elapsed() >= time);
        one_machine_comes_of_it(root.path(), &key, &format!("killed after {time:?}")).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_killed_creation_left_does_not_outlive_a_look() {
    if !has_qemu() {
        return;
    }
    let root = Root::new();
    let key = fresh_key();
    let directory = root.path().join("machines").join(key.machine());
    kill_when(root.path(), &key, "create", || directory.exists());
    let qemu = Qemu::new(config(root.path())).unwrap();
    let found = qemu.find(&key).await.unwrap();
    // Either it was never made, and is gone, or it was, and can be removed.
    for facts in &found {
        qemu.delete(&key, &facts.id, None).await.unwrap();
    }
    assert!(qemu.find(&key).await.unwrap().is_empty());
    assert!(entries(root.path()).is_empty() && processes(&key).is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_while_removing() {
    if !has_qemu() {
        return;
    }
    let root = Root::new();
    let machines = root.path().join("machines");
    for step in ["asked", "ended", "leaving"] {
        let key = fresh_key();
        let record = machines.join(key.machine()).join("machine.json");
        let leaving = machines.join(format!(".deleting-{}", key.machine()));
        let mut seen = false;
        kill_when(root.path(), &key, "delete", || {
            seen |= !processes(&key).is_empty();
            match step {
                "asked" => {
                    fs::read_to_string(&record).is_ok_and(|text| text.contains("\"delete\""))
                }
                "ended" => seen && processes(&key).is_empty(),
                _ => leaving.exists(),
            }
        });
        let qemu = Qemu::new(config(root.path())).unwrap();
        assert!(
            qemu.list(key.cluster()).await.unwrap().is_empty(),
            "killed when {step}"
        );
        assert!(processes(&key).is_empty(), "killed when {step}");
        assert!(
            entries(root.path()).is_empty(),
            "killed when {step}: {:?}",
            entries(root.path())
        );
    }
}
