//! What a platform says about a machine. Facts are observed, never remembered.

use jiff::Timestamp;
use std::collections::BTreeMap;

use super::{Architecture, MachineId, MachineKey};

/// One machine as its platform reports it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Facts {
    /// The platform's identifier.
    pub id: MachineId,
    /// Who it belongs to, read from its tag.
    pub key: MachineKey,
    /// A stable URI of the machine: `qemu://host/…`, `aws:///zone/i-…`.
    pub provider_id: String,
    /// What it is doing.
    pub power: PowerState,
    /// The platform's own word for that (`running`, `PAUSED`, `shutting-down`).
    pub state: String,
    /// What went wrong, when `power` is `Failed`, in the platform's words; never a secret.
    pub problem: Option<String>,
    /// The host, hypervisor or zone that runs it.
    pub node: Option<String>,
    /// The platform's name of its size, where it has any.
    pub instance_type: Option<String>,
    /// Processors it has. A driver that rounds says what was asked for, while that is met.
    pub cpus: Option<u32>,
    /// Memory in bytes; the same holds.
    pub memory: Option<u64>,
    /// Instruction set.
    pub architecture: Option<Architecture>,
    /// Disks it has.
    pub disks: Vec<DiskFacts>,
    /// Interfaces it has.
    pub nics: Vec<NicFacts>,
    /// The tags that were put on it at our request, as they are now; those of others, and the
    /// driver's own, are not listed.
    pub tags: BTreeMap<String, String>,
    /// The token of the restart that was last carried out, or that it was made with.
    pub restart: Option<String>,
    /// What the guest itself reports, when it can be asked.
    pub guest: Option<GuestFacts>,
    /// When the platform made it.
    pub created: Option<Timestamp>,
    /// When it was last started.
    pub started: Option<Timestamp>,
    /// Details that only this platform has; shown as they are. Never a secret.
    pub details: BTreeMap<String, String>,
}

/// What a machine is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PowerState {
    /// Being made; not yet started.
    Creating,
    /// On its way up, after it was asked to start.
    Starting,
    /// Running.
    Running,
    /// On its way down.
    Stopping,
    /// Down, with its disks kept.
    Stopped,
    /// Being removed.
    Deleting,
    /// The platform gave up on it.
    Failed,
}

/// One disk as the platform reports it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct DiskFacts {
    /// The name it was asked for with.
    pub name: String,
    /// The platform's path or volume id.
    pub device: Option<String>,
    /// Size in bytes.
    pub size: Option<u64>,
    /// Bytes allocated at the platform.
    pub used: Option<u64>,
    /// Disk type or format.
    pub class: Option<String>,
    /// Whether the machine boots from it.
    pub boot: bool,
}

/// One interface as the platform reports it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct NicFacts {
    /// The name it was asked for with.
    pub name: String,
    /// MAC address.
    pub mac: Option<String>,
    /// The network it is on.
    pub network: Option<String>,
    /// Private addresses.
    pub private: Vec<String>,
    /// Public addresses.
    pub public: Vec<String>,
    /// Whether the guest (or the platform on its behalf) confirmed that the addresses are up.
    pub confirmed: bool,
}

/// What the guest reports about itself.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct GuestFacts {
    /// Host name.
    pub hostname: Option<String>,
    /// Name of the operating system.
    pub os: Option<String>,
    /// Its version.
    pub os_version: Option<String>,
    /// Its kernel.
    pub kernel: Option<String>,
}
