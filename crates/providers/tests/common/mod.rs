//! What the tests of the QEMU driver share.
#![allow(
    dead_code,
    unused_imports,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "each test program uses a part of it, and a failed assumption is a failed test"
)]

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use machinist_core::{
    machine::{Facts, Image, MachineKey},
    provider::Provider,
};
pub(crate) use machinist_providers::conformance::smallest_want as empty;
use machinist_providers::{Accelerator, QemuConfig};
use tokio::time::{Instant, sleep};

/// A loaded machine without KVM takes long over everything.
pub(crate) const LIMIT: Duration = Duration::from_secs(180);

/// Whether QEMU is here; without it the test is skipped, unless peers are required.
pub(crate) fn has_qemu() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let has = |name: &str| std::env::split_paths(&path).any(|dir| dir.join(name).is_file());
    let found = has("qemu-system-x86_64") && has("qemu-img");
    found || skip("qemu-system-x86_64 and qemu-img are not in PATH")
}

/// A bootable image; without it the test is skipped, unless peers are required.
pub(crate) fn guest_image() -> Option<PathBuf> {
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

/// The program that a variable names, or that `scripts/setup.sh` put where it says; without it
/// the test is skipped, unless peers are required.
pub(crate) fn peer(variable: &str) -> Option<PathBuf> {
    let installed = || {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/setup.sh");
        let output = std::process::Command::new(script).arg("--env").output();
        let text = String::from_utf8(output.ok()?.stdout).ok()?;
        let line = format!("export {variable}=");
        let path = text.lines().find_map(|text| text.strip_prefix(&line));
        path.map(PathBuf::from)
    };
    let path = std::env::var_os(variable).map(PathBuf::from);
    let path = path.or_else(installed).filter(|path| path.is_file());
    if path.is_none() {
        skip(&format!(
            "{variable} is not set (run scripts/setup.sh test)"
        ));
    }
    path
}

fn skip(reason: &str) -> bool {
    assert!(
        std::env::var_os("MACHINIST_REQUIRE_PEERS").is_none_or(|value| value != "1"),
        "a peer is required: {reason}"
    );
    println!("skipped: {reason}");
    false
}

/// A directory for a driver; whatever QEMU still runs in it ends with the test, however that ends.
pub(crate) struct Root(tempfile::TempDir);

impl Root {
    pub(crate) fn new() -> Root {
        Root(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let Ok(directory) = fs::read_link(entry.path().join("cwd")) else {
                continue;
            };
            let pid = entry.file_name().to_string_lossy().parse().ok();
            if directory.starts_with(self.path())
                && let Some(pid) = pid.and_then(rustix::process::Pid::from_raw)
            {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
        }
    }
}

pub(crate) fn config(root: &Path) -> QemuConfig {
    QemuConfig {
        accelerator: Accelerator::Tcg,
        node: "test-host".to_owned(),
        stop_grace: Duration::from_millis(300),
        ..QemuConfig::new(root)
    }
}

pub(crate) fn key(machine: &str) -> MachineKey {
    MachineKey::new("0b0e7c7e-0000-4000-8000-000000000001", machine).unwrap()
}

/// A fresh key, as the API server would make its UID.
pub(crate) fn fresh_key() -> MachineKey {
    key(&uuid::Uuid::new_v4().to_string())
}

pub(crate) fn image(path: &Path) -> Option<Image> {
    Some(Image {
        reference: path.display().to_string(),
        checksum: None,
    })
}

/// QEMU processes of this machine, counted from outside the driver.
pub(crate) fn processes(key: &MachineKey) -> Vec<i32> {
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
pub(crate) async fn until(
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
