//! A disk that is full: nothing that was acknowledged is lost, nothing is half made, and room
//! is all that is needed to go on.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failed assumption in a test is a failed test"
)]

mod support;

use std::{fs, path::PathBuf, process::Command};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Client, ResourceExt,
    api::{ListParams, PostParams},
};
use serde_json::json;
use support::{
    Sandbox, kube as real, peers,
    scene::{Scene, qemu_scene},
};
use tokio::runtime::Runtime;

/// A file system of this size, unmounted when it is dropped.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(sandbox: &Sandbox, size: &str) -> Option<SmallDisk> {
        let path = sandbox.data();
        fs::create_dir(&path).unwrap();
        let mut mount = Command::new("mount");
        mount
            .args([
                "-t",
                "tmpfs",
                "-o",
                &format!("size={size},mode=700"),
                "tmpfs",
            ])
            .arg(&path);
        match mount.output() {
            Ok(output) if output.status.success() => Some(SmallDisk(path)),
            _ => peers::absent("a small file system cannot be mounted here"),
        }
    }
}

impl SmallDisk {
    /// Makes room.
    fn grow(&self, size: &str) {
        let mut mount = Command::new("mount");
        mount
            .args(["-o", &format!("remount,size={size}")])
            .arg(&self.0);
        assert!(mount.status().unwrap().success());
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

#[test]
fn the_disk_is_full() {
    let Some(_) = peers::program("qemu-system-x86_64") else {
        return;
    };
    let _guests = peers::boot_guests();
    let sandbox = Sandbox::new();
    let Some(_disk) = SmallDisk::mount(&sandbox, "16m") else {
        return;
    };
    let image = sandbox.path("image.raw");
    fs::write(&image, vec![7; 32 << 20]).unwrap();
    let scene = Scene::open(&sandbox, None, &qemu_scene(image.to_str().unwrap()));
    scene.expect(
        "Machine",
        "web",
        ("Ready", "False"),
        &["needs 32 MiB", "MiB free"],
    );
    assert_eq!(sandbox.qemus(), []);
    assert!(
        sandbox.machine_dirs().is_empty(),
        "{:?}",
        sandbox.machine_dirs()
    );
    // The control plane works on, and the machine comes up once there is something that fits.
    let fits = sandbox.empty_disk();
    scene.patch(
        "Machine",
        "web",
        &json!({"spec": {"os": {"imageID": fits}}}),
    );
    scene.expect("Machine", "web", ("Ready", "True"), &[]);
    drop(scene.up);
    let down = sandbox.run("down", &[]);
    assert_eq!(down.code(), Some(0), "{down:#?}");
}

#[test]
fn the_store_has_no_room() {
    let sandbox = Sandbox::new();
    let Some(disk) = SmallDisk::mount(&sandbox, "12m") else {
        return;
    };
    let up = sandbox.up(&[]);
    let runtime = real::runtime();
    let client = runtime.block_on(real::client(&up.kubeconfig())).unwrap();
    let acknowledged = fill(&runtime, &client);
    // What was acknowledged can be read, now and after a crash.
    assert_eq!(runtime.block_on(notes(&client)), acknowledged.len());
    up.kill();
    let full = sandbox.run("up", &["--listen", "127.0.0.1:0"]);
    assert_eq!(full.code(), Some(3), "{full:#?}");
    for said in [
        "could not",
        sandbox.data().to_str().unwrap(),
        "No space left",
    ] {
        assert!(full.stderr.contains(said), "{full:#?}");
    }
    // Room for what the journal holds to be brought into the database, and for the journal itself.
    disk.grow("96m");
    let up = sandbox.up(&[]);
    let client = runtime.block_on(real::client(&up.kubeconfig())).unwrap();
    assert_eq!(runtime.block_on(notes(&client)), acknowledged.len());
    runtime.block_on(write_note(&client, "note-after")).unwrap();
}

#[test]
fn room_is_all_that_a_running_control_plane_needs() {
    let sandbox = Sandbox::new();
    let Some(disk) = SmallDisk::mount(&sandbox, "12m") else {
        return;
    };
    let up = sandbox.up(&[]);
    let runtime = real::runtime();
    let client = runtime.block_on(real::client(&up.kubeconfig())).unwrap();
    let count = fill(&runtime, &client).len();
    disk.grow("24m");
    runtime.block_on(write_note(&client, "note-after")).unwrap();
    assert_eq!(runtime.block_on(notes(&client)), count + 1);
}

/// Writes until a write is refused for want of room; what was acknowledged before.
fn fill(runtime: &Runtime, client: &Client) -> Vec<String> {
    let mut acknowledged = Vec::new();
    let refused = loop {
        let name = format!("note-{}", acknowledged.len());
        match runtime.block_on(write_note(client, &name)) {
            Ok(_) => acknowledged.push(name),
            Err(error) => break error,
        }
        assert!(
            acknowledged.len() < 1000,
            "more was taken than there is room for"
        );
    };
    let refused = refused.to_string();
    assert!(refused.contains("No space left on device"), "{refused}");
    assert!(!acknowledged.is_empty());
    acknowledged
}

async fn write_note(client: &Client, name: &str) -> Result<ConfigMap, kube::Error> {
    let text = "n".repeat(100 << 10);
    let note = json!({"metadata": {"name": name}, "data": {"text": text}});
    let note: ConfigMap = serde_json::from_value(note).unwrap();
    let api = Api::namespaced(client.clone(), "default");
    api.create(&PostParams::default(), &note).await
}

async fn notes(client: &Client) -> usize {
    let api: Api<ConfigMap> = Api::namespaced(client.clone(), "default");
    let found = api.list(&ListParams::default()).await.unwrap().items;
    found
        .iter()
        .filter(|map| map.name_any().starts_with("note-"))
        .count()
}
