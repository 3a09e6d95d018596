//! What the driver is told when it is made.

use std::{collections::BTreeMap, net::Ipv4Addr, path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};

use crate::shared::http::Reach;

/// How a [`super::Qemu`] driver works.
#[derive(Debug, Clone)]
pub struct QemuConfig {
    /// Where everything is kept: `machines/` and `images/` are made below it.
    pub root: PathBuf,
    /// Directories whose images are known by their file names.
    pub image_dirs: Vec<PathBuf>,
    /// Images by name, each a path, a URL or a name in an image directory.
    pub images: BTreeMap<String, String>,
    /// Where images may come from.
    pub reach: Reach,
    /// The QEMU binary; searched in `PATH` when absent.
    pub binary: Option<PathBuf>,
    /// Which accelerator the guests use.
    pub accelerator: Accelerator,
    /// The network that the guests are on.
    pub network: Network,
    /// What this host is called in facts and provider ids.
    pub node: String,
    /// How long a guest may take to shut down before it is ended.
    pub stop_grace: Duration,
    /// The same when the machine is removed; zero ends it at once.
    pub delete_grace: Duration,
    /// How many times more virtual processors than the host has a machine may ask for.
    pub cpu_overcommit: u32,
    /// How long `create` waits for an image before it says that it is busy.
    pub image_wait: Duration,
}

impl QemuConfig {
    /// The defaults, with everything below `root`.
    pub fn new(root: impl Into<PathBuf>) -> QemuConfig {
        QemuConfig {
            root: root.into(),
            image_dirs: Vec::new(),
            images: BTreeMap::new(),
            reach: Reach::Usual,
            binary: None,
            accelerator: Accelerator::Auto,
            network: Network::default(),
            node: host_name(),
            stop_grace: Duration::from_secs(30),
            delete_grace: Duration::ZERO,
            cpu_overcommit: 8,
            image_wait: Duration::from_secs(10),
        }
    }
}

/// Which accelerator the guests use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Accelerator {
    /// KVM when a probe guest really runs on it, else TCG.
    Auto,
    /// The kernel's virtualisation.
    Kvm,
    /// Emulation, which works everywhere.
    Tcg,
}

/// The network that the guests are on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    /// QEMU's own user-mode network: it needs no rights; each guest reaches out, and is
    /// reached through a forwarded port on loopback.
    User {
        /// The /16 network that the first interface's addresses are from; the next
        /// interfaces use the networks that follow it.
        subnet: Ipv4Addr,
    },
}

impl Default for Network {
    fn default() -> Network {
        Network::User {
            subnet: Ipv4Addr::new(10, 77, 0, 0),
        }
    }
}

/// What the kernel says that this host is called.
fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    match name.trim() {
        "" => "localhost".to_owned(),
        name => name.to_owned(),
    }
}
