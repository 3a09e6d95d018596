//! What the tests of the QEMU driver share.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "each test program uses a part of it, and a failed assumption is a failed test"
)]

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use machinist_core::{
    machine::{
        Architecture, Cpu, Disk, Facts, Firmware, Image, InitData, MachineKey, Power, SeedFormat,
        Want,
    },
    provider::Provider,
};
use machinist_providers::{Accelerator, QemuConfig};
use tokio::time::{Instant, sleep};

/// A loaded machine without KVM takes long over everything.
pub const LIMIT: Duration = Duration::from_secs(180);

/// Whether QEMU is here; without it the test is skipped, unless peers are required.
pub fn has_qemu() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let has = |name: &str| std::env::split_paths(&path).any(|dir| dir.join(name).is_file());
    let found = has("qemu-system-x86_64") && has("qemu-img");
    found || skip("qemu-system-x86_64 and qemu-img are not in PATH")
}

/// A bootable image; without it the test is skipped, unless peers are required.
pub fn guest_image() -> Option<PathBuf> {
    let default = || {
        let home = std::env::var_os("HOME").unwrap_or_default();
        PathBuf::from(home).join(".cache/machinist/images/machinist-guest.qcow2")
    };
    let path = std::env::var_os("MACHINIST_GUEST_IMAGE").map_or_else(default, PathBuf::from);
    if path.is_file() {
        return Some(path);
    }
    skip(&format!("there is no guest image at {}", path.display()));
    None
}

fn skip(reason: &str) -> bool {
    assert!(
        std::env::var_os("MACHINIST_REQUIRE_PEERS").is_none_or(|value| value != "1"),
        "a peer is required: {reason}"
    );
    println!("skipped: {reason}");
    false
}

pub fn config(root: &Path) -> QemuConfig {
    QemuConfig {
        accelerator: Accelerator::Tcg,
        node: "test-host".to_owned(),
        stop_grace: Duration::from_millis(300),
        ..QemuConfig::new(root)
    }
}

pub fn key(machine: &str) -> MachineKey {
    MachineKey::new("0b0e7c7e-0000-4000-8000-000000000001", machine).unwrap()
}

/// A fresh key, as the API server would make its UID.
pub fn fresh_key() -> MachineKey {
    key(&uuid::Uuid::new_v4().to_string())
}

/// A machine with an empty disk: QEMU runs, and its guest does nothing.
pub fn empty(name: &str) -> Want {
    Want {
        name: name.to_owned(),
        namespace: "default".to_owned(),
        instance_type: None,
        zone: None,
        cpu: Cpu {
            sockets: 1,
            cores: 1,
            threads: 1,
        },
        memory: 32 << 20,
        disks: vec![disk("boot", Some(16 << 20))],
        nics: Vec::new(),
        image: None,
        architecture: Architecture::Amd64,
        firmware: Firmware::Default,
        init: InitData {
            hostname: name.to_owned(),
            format: Some(SeedFormat::NoCloud),
            ..InitData::default()
        },
        power: Power::On,
        tags: BTreeMap::new(),
        security_groups: Vec::new(),
        settings: BTreeMap::new(),
    }
}

pub fn disk(name: &str, size: Option<u64>) -> Disk {
    Disk {
        name: name.to_owned(),
        size,
        class: None,
        boot: false,
        encrypted: false,
        iops: None,
        throughput: None,
    }
}

pub fn image(path: &Path) -> Option<Image> {
    Some(Image {
        reference: path.display().to_string(),
        checksum: None,
    })
}

/// QEMU processes of this machine, counted from outside the driver.
pub fn processes(key: &MachineKey) -> Vec<i32> {
    let wanted = format!("-uuid\0{}\0", key.machine());
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse::<i32>() else {
            continue;
        };
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        if String::from_utf8_lossy(&line).contains(&wanted) {
            found.push(pid);
        }
    }
    found
}

/// Waits until the machine is as the condition says.
pub async fn until(
    provider: &dyn Provider,
    key: &MachineKey,
    what: &str,
    is_so: impl Fn(&Facts) -> bool,
) -> Facts {
    let deadline = Instant::now() + LIMIT;
    loop {
        let found = provider.find(key).await.unwrap();
        match found.as_slice() {
            [facts] if is_so(facts) => return facts.clone(),
            _ if Instant::now() >= deadline => panic!("not {what} in time: {found:?}"),
            _ => sleep(Duration::from_millis(20)).await,
        }
    }
}
