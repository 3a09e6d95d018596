//! What a machine asks of a provider that is to be chosen for it.

use std::ops::{AddAssign, SubAssign};

/// What a machine asks for; what it leaves open, any provider may decide.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Demand {
    /// The machine's own namespace: providers in it come first.
    pub namespace: String,
    /// The platform, such as `qemu`.
    pub platform: Option<String>,
    /// The region.
    pub region: Option<String>,
    /// The zone within the region.
    pub zone: Option<String>,
    /// The name of a size.
    pub instance_type: Option<String>,
    /// The kind of operating system, such as `linux`.
    pub os: Option<String>,
    /// The instruction set, as `amd64` or `arm64`.
    pub architecture: Option<&'static str>,
    /// The image, by a name or id of the provider; nothing for one that is fetched by its URL.
    pub image: Option<String>,
    /// The provider's networks that interfaces are on.
    pub networks: Vec<String>,
    /// The storage classes that disks are to be of, in the order of the disks.
    pub storage_classes: Vec<String>,
    /// Processors, where they are declared.
    pub cpus: Option<u64>,
    /// Memory in bytes, where it is declared.
    pub memory: Option<u64>,
    /// All disks in bytes, where their sizes are declared.
    pub storage: u64,
    /// Graphics processors.
    pub gpus: u64,
    /// The operations that the machine needs at once.
    pub operations: &'static [&'static str],
    /// The most machines that the namespace may have on one provider.
    pub per_provider: Option<u64>,
}

/// How much of a provider one machine takes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Take {
    /// Processors.
    pub cpus: u64,
    /// Memory in bytes.
    pub memory: u64,
    /// Disks in bytes.
    pub storage: u64,
}

impl AddAssign for Take {
    fn add_assign(&mut self, more: Take) {
        self.cpus = self.cpus.saturating_add(more.cpus);
        self.memory = self.memory.saturating_add(more.memory);
        self.storage = self.storage.saturating_add(more.storage);
    }
}

impl SubAssign for Take {
    fn sub_assign(&mut self, less: Take) {
        self.cpus = self.cpus.saturating_sub(less.cpus);
        self.memory = self.memory.saturating_sub(less.memory);
        self.storage = self.storage.saturating_sub(less.storage);
    }
}
