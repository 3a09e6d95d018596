//! Trouble at the provider: the object says what is wrong and how to mend it, and comes up by
//! itself once that is done.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failed assumption in a test is a failed test"
)]

mod support;

use std::{fs, os::unix::fs::PermissionsExt};

use serde_json::json;
use support::{
    Sandbox, peers, process,
    scene::{Scene, qemu_scene},
    wait_for,
};

#[test]
fn an_image_that_does_not_exist() {
    let Some(_) = peers::program("qemu-system-x86_64") else {
        return;
    };
    let _guests = peers::boot_guests();
    let sandbox = Sandbox::new();
    let disk = sandbox.empty_disk();
    let scene = Scene::open(&sandbox, None, &qemu_scene("no-such-image"));
    let images = sandbox.path("images");
    let said = [
        "no-such-image",
        "no such image",
        "looked for",
        images.to_str().unwrap(),
    ];
    let status = scene.expect("Machine", "web", ("Stalled", "True"), &said);
    assert_eq!(status["phase"], "Failed");
    assert_eq!(sandbox.qemus(), []);
    assert!(
        sandbox.machine_dirs().is_empty(),
        "{:?}",
        sandbox.machine_dirs()
    );
    // The way out is taken at once, without a restart.
    scene.patch(
        "Machine",
        "web",
        &json!({"spec": {"os": {"imageID": disk}}}),
    );
    let status = scene.expect("Machine", "web", ("Ready", "True"), &[]);
    assert_eq!(status["phase"], "Running");
    assert_eq!(sandbox.qemus().len(), 1);
}

#[test]
fn an_image_at_a_metadata_address_is_not_fetched() {
    let Some(_) = peers::program("qemu-system-x86_64") else {
        return;
    };
    let sandbox = Sandbox::new();
    let url = "http://169.254.169.254/latest/disk.qcow2";
    let scene = Scene::open(&sandbox, None, &qemu_scene(url));
    let said = ["image", url, "allowLinkLocal"];
    let status = scene.expect("Machine", "web", ("Stalled", "True"), &said);
    assert_eq!(status["phase"], "Failed");
    assert_eq!(sandbox.qemus(), []);
    assert!(sandbox.machine_dirs().is_empty());
}

#[test]
fn qemu_is_not_installed() {
    let sandbox = Sandbox::new();
    let disk = sandbox.empty_disk();
    let scene = Scene::open(&sandbox, Some("/nonexistent"), &qemu_scene(&disk));
    let said = [
        "qemu-system-x86_64",
        "/nonexistent",
        "apt-get install qemu-system-x86",
    ];
    scene.expect("MachineProvider", "local", ("Ready", "False"), &said);
    let status = scene.expect("Machine", "web", ("Ready", "False"), &said);
    assert_eq!(status["phase"], "Pending");
    assert!(
        sandbox.machine_dirs().is_empty(),
        "{:?}",
        sandbox.machine_dirs()
    );
}

#[test]
fn qemu_dies() {
    let Some(qemu) = peers::program("qemu-system-x86_64") else {
        return;
    };
    let _guests = peers::boot_guests();
    let sandbox = Sandbox::new();
    let disk = sandbox.empty_disk();
    let script = "#!/bin/sh\ncase $1 in --version) echo QEMU emulator version 7.2.0; exit 0;; esac\n\
                  echo 'the flux capacitor is empty' >&2\nexit 1\n";
    let binary = sandbox.write("qemu", script);
    fs::set_permissions(&binary, PermissionsExt::from_mode(0o755)).unwrap();
    let settings = |binary: &std::path::Path| json!({"binary": binary, "accelerator": "tcg"});
    let text = qemu_scene(&disk).replacen(
        "region: local}",
        &format!(
            "region: local, config: {{customSettings: {}}}}}",
            settings(&binary)
        ),
        1,
    );
    let scene = Scene::open(&sandbox, None, &text);
    scene.expect(
        "Machine",
        "web",
        ("Ready", "False"),
        &["the flux capacitor is empty"],
    );
    assert_eq!(sandbox.qemus(), []);
    let mended = json!({"spec": {"config": {"customSettings": settings(&qemu)}}});
    scene.patch("MachineProvider", "local", &mended);
    scene.expect("Machine", "web", ("Ready", "True"), &[]);
    // A guest whose QEMU is killed from outside is started again: it is declared to run.
    let before = sandbox.qemus();
    assert_eq!(before.len(), 1);
    process::signal(before[0].pid, rustix::process::Signal::KILL);
    wait_for("another QEMU", || match sandbox.qemus() {
        now if now.len() == 1 && now[0].pid != before[0].pid => Ok(()),
        now => Err(now),
    });
}
