//! What a provider offers: what its owner declares, and what a look at it has shown.

use std::sync::Arc;

use super::{Demand, Names, Presets, Take};

/// What a provider offers. An empty list means that nothing is declared, so that everything goes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Offer {
    /// The provider's namespace.
    pub namespace: String,
    /// The platform, such as `qemu`.
    pub platform: Arc<str>,
    /// The region.
    pub region: Option<Arc<str>>,
    /// The zones.
    pub zones: Names,
    /// The operations.
    pub operations: Names,
    /// The kinds of operating system, in lower case.
    pub os_types: Names,
    /// The names of sizes, besides those of `presets`.
    pub instance_types: Names,
    /// The instruction sets, as `amd64` or `arm64`.
    pub architectures: Names,
    /// The images, by name and by id.
    pub images: Names,
    /// The networks, by name and by id.
    pub networks: Names,
    /// The storage classes, by name and by kind of medium.
    pub storage_classes: Names,
    /// What a named size is.
    pub presets: Presets,
    /// What a machine that says nothing gets.
    pub defaults: Preset,
    /// The most that one machine may have.
    pub most: Preset,
    /// The most graphics processors that one machine may have.
    pub gpus: u64,
    /// The most machines.
    pub max_machines: Option<u64>,
    /// What there is, without what is held back.
    pub room: Room,
    /// Whether machines may be promised more memory than there is.
    pub overcommit: bool,
    /// Which provider is asked first; the smallest number is.
    pub priority: i32,
    /// How the provider is.
    pub standing: Standing,
}

/// A size, as far as it says anything.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Preset {
    /// Processors.
    pub cpus: Option<u64>,
    /// Memory in bytes.
    pub memory: Option<u64>,
    /// Disks in bytes.
    pub storage: Option<u64>,
}

/// What a platform has in all, where it says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Room {
    /// Processors.
    pub cpus: Option<u64>,
    /// Memory in bytes.
    pub memory: Option<u64>,
    /// Disk space in bytes.
    pub storage: Option<u64>,
}

/// How a provider is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Standing {
    /// Nobody has asked it yet.
    #[default]
    Untried,
    /// It answers; its health is from 0 to 100.
    Ready(u8),
    /// It does not answer, for this reason.
    NotReady(Arc<str>),
    /// It is to go, and takes no more machines.
    Leaving,
}

impl Offer {
    /// How much the machine would take here.
    pub fn take(&self, demand: &Demand) -> Take {
        let preset = self.preset(demand).copied().unwrap_or_default();
        let or = |declared: Option<u64>, preset: Option<u64>, default: Option<u64>| {
            declared.or(preset).or(default).unwrap_or_default()
        };
        let storage = Some(demand.storage).filter(|declared| *declared > 0);
        Take {
            cpus: or(demand.cpus, preset.cpus, self.defaults.cpus),
            memory: or(demand.memory, preset.memory, self.defaults.memory),
            storage: or(storage, preset.storage, self.defaults.storage),
        }
    }

    /// The named size that the machine asks for, when the provider says what it is.
    pub(super) fn preset(&self, demand: &Demand) -> Option<&Preset> {
        self.presets.get(demand.instance_type.as_ref()?)
    }
}

impl Offer {
    /// Whether anything is declared by which a machine could be refused.
    pub fn is_choosy(&self) -> bool {
        let Offer {
            zones,
            operations,
            os_types,
            instance_types,
            architectures,
            images,
            networks,
            storage_classes,
            most,
            ..
        } = self;
        let lists = [
            zones,
            operations,
            os_types,
            instance_types,
            architectures,
            images,
            networks,
            storage_classes,
        ];
        lists.into_iter().any(|list| !list.is_empty()) || *most != Preset::default()
    }
}
