//! What was declared, in the one vocabulary that every platform understands.
//!
//! A `Want` is complete: every default is applied and every reference resolved, so a
//! driver has no choice left to make and never sees a dialect.

use std::{collections::BTreeMap, time::Duration};

use super::Defaults;

/// One machine as it should be.
#[derive(Debug, Clone, PartialEq)]
pub struct Want {
    /// The name that people know it by; unique in its namespace, not at the platform.
    pub name: String,
    /// The namespace of the declaring object.
    pub namespace: String,
    /// The platform's size name, where it has any (`t3.medium`).
    pub instance_type: Option<String>,
    /// Zone or cluster within the provider's region.
    pub zone: Option<String>,
    /// Virtual processors.
    pub cpu: Cpu,
    /// Memory in bytes.
    pub memory: u64,
    /// Disks; the boot disk is first.
    pub disks: Vec<Disk>,
    /// Network interfaces; the primary one is first. Empty means one interface on the provider's default network.
    pub nics: Vec<Nic>,
    /// What the boot disk is filled with.
    pub image: Option<Image>,
    /// The instruction set.
    pub architecture: Architecture,
    /// How it boots.
    pub firmware: Firmware,
    /// What is handed to the guest at its first boot.
    pub init: InitData,
    /// Whether it should run.
    pub power: Power,
    /// Names the restart that was last asked for; a machine is born with it, and restarted when
    /// it carries another.
    pub restart: Option<String>,
    /// How long the guest may take to shut down before it is ended; `None` takes the
    /// platform's own limit.
    pub grace: Option<Duration>,
    /// Tags for the platform; ownership tags are the driver's own and not listed here.
    pub tags: BTreeMap<String, String>,
    /// Security groups that apply to every interface.
    pub security_groups: Vec<String>,
    /// Whether the platform watches it closely; `None` leaves that to the platform. It counts when
    /// the machine is made.
    pub monitoring: Option<bool>,
    /// What the provider gives to what is left open when something is made.
    pub defaults: Defaults,
    /// Settings that only the platform understands, as declared.
    pub settings: BTreeMap<String, String>,
}

/// Virtual processors and how they are presented to the guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cpu {
    /// Sockets.
    pub sockets: u32,
    /// Cores of a socket.
    pub cores: u32,
    /// Threads of a core.
    pub threads: u32,
}

impl Cpu {
    /// How many processors the guest sees.
    pub fn count(self) -> u32 {
        self.sockets
            .saturating_mul(self.cores)
            .saturating_mul(self.threads)
    }
}

/// One disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disk {
    /// Unique among the machine's disks.
    pub name: String,
    /// Size in bytes; `None` takes the image's size.
    pub size: Option<u64>,
    /// The platform's disk type or storage class.
    pub class: Option<String>,
    /// Whether the machine boots from it.
    pub boot: bool,
    /// Whether it is encrypted at rest.
    pub encrypted: bool,
    /// Provisioned operations a second.
    pub iops: Option<u32>,
    /// Provisioned throughput in MB/s.
    pub throughput: Option<u32>,
}

/// One network interface.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Nic {
    /// Unique among the machine's interfaces.
    pub name: String,
    /// The platform's network or subnet; `None` takes the provider's default.
    pub network: Option<String>,
    /// A fixed address.
    pub address: Option<String>,
    /// A fixed MAC address.
    pub mac: Option<String>,
    /// Whether it asks for a public address.
    pub public: bool,
    /// Security groups of this interface alone.
    pub security_groups: Vec<String>,
}

/// Where the boot disk's content comes from, as declared: an id or name of the platform,
/// a path, or a URL. What it resolves to is the driver's business.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// The reference.
    pub reference: String,
    /// `sha256:…` of the file behind a URL, when the declaration pins it.
    pub checksum: Option<String>,
}

/// Instruction set of the guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Architecture {
    /// 64-bit x86.
    Amd64,
    /// 64-bit Arm.
    Arm64,
}

/// How the guest boots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Firmware {
    /// Whatever the platform's default is.
    Default,
    /// Legacy BIOS.
    Bios,
    /// UEFI.
    Uefi {
        /// Whether only signed loaders start.
        secure_boot: bool,
    },
}

/// What the guest reads at its first boot.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct InitData {
    /// Host name given to the guest.
    pub hostname: String,
    /// `#!` script or `#cloud-config`.
    pub user_data: Option<String>,
    /// Replaces the generated meta-data.
    pub meta_data: Option<String>,
    /// Cloud-init network configuration.
    pub network_data: Option<String>,
    /// Public keys for the default user.
    pub ssh_keys: Vec<String>,
    /// How it is presented; `None` presents nothing.
    pub format: Option<SeedFormat>,
}

/// How first-boot data is presented to the guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeedFormat {
    /// A volume labelled `cidata`.
    NoCloud,
}

/// Whether a machine should run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Power {
    /// It should run.
    On,
    /// It should be shut down, and keep its disks.
    Off,
}
