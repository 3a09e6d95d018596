//! From a MachineProvider, and what a look at it has shown, to what it offers to a scheduler.

use std::collections::BTreeSet;

use machinist_api::{
    quantity::parse_bytes,
    vitistack::machine_provider::{MachineProvider, MachineProviderSpec, ResourceAmounts},
};

use super::provider::platform;
use crate::{
    place::{Offer, Preset, Room, Standing},
    provider::Health,
};

const GIB: f64 = (1_u64 << 30) as f64;

/// What a provider offers. `health` is what its last probe said, when it answered.
pub fn offer(provider: &MachineProvider, standing: Standing, health: Option<&Health>) -> Offer {
    let spec = &provider.spec;
    let capabilities = spec.capabilities.clone().unwrap_or_default();
    let lower = |text: &String| text.to_lowercase();
    let systems = capabilities.operating_systems.iter();
    let families = systems.clone().filter_map(|system| system.family.as_ref());
    let built_for = systems.flat_map(|system| &system.architectures);
    let compute = spec.compute_config.as_ref();
    let options = compute.and_then(|compute| compute.cpu_options.as_ref());
    let architectures = options.map(|options| &options.supported_architectures);
    let images = capabilities.available_images.iter();
    let zones = spec.availability_zones.iter().chain(&spec.zones);
    Offer {
        namespace: provider.metadata.namespace.clone().unwrap_or_default(),
        platform: platform(provider).into(),
        region: spec.region.as_deref().map(Into::into),
        zones: zones.cloned().collect(),
        operations: capabilities
            .supported_operations
            .iter()
            .map(|operation| operation.as_str().to_owned())
            .collect(),
        os_types: capabilities
            .supported_os_types
            .iter()
            .chain(families)
            .map(lower)
            .collect(),
        instance_types: capabilities.supported_instance_types.into_iter().collect(),
        architectures: architectures
            .into_iter()
            .flatten()
            .chain(built_for)
            .map(|name| architecture(name).to_owned())
            .collect(),
        images: images
            .flat_map(|image| std::iter::once(image.name.clone()).chain(image.id.clone()))
            .collect(),
        networks: networks(spec).into(),
        storage_classes: storage_classes(spec).into(),
        presets: spec
            .templates
            .iter()
            .map(|template| (template.name.clone(), amounts(template.resources.as_ref())))
            .collect(),
        defaults: Preset {
            cpus: number(compute.and_then(|c| c.default_cpu.as_deref())),
            memory: gigabytes(compute.and_then(|c| c.default_memory_gb.as_deref())),
            storage: spec
                .storage_config
                .as_ref()
                .and_then(|storage| parse_bytes(storage.default_disk_size.as_deref()?).ok()),
        },
        most: most(spec),
        gpus: gpus(spec),
        max_machines: max_machines(spec),
        room: room(provider, health),
        overcommit: overcommits(spec),
        priority: 0,
        standing: match provider.metadata.deletion_timestamp {
            Some(_) => Standing::Leaving,
            None => standing,
        },
    }
}

/// The one name of an instruction set.
pub(super) fn architecture(name: &str) -> &str {
    match name {
        "x86_64" | "x86-64" | "x64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

fn networks(spec: &MachineProviderSpec) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    if let Some(config) = spec.network_config.as_ref() {
        for network in &config.available_networks {
            found.insert(network.id.clone());
            found.extend(network.name.clone());
        }
        if !found.is_empty() {
            found.extend(config.default_network_id.clone());
            found.extend(config.default_subnet_id.clone());
        }
    }
    let vpcs = spec
        .network
        .iter()
        .flat_map(|network| &network.available_vp_cs);
    for vpc in vpcs {
        found.insert(vpc.id.clone());
        found.extend(vpc.name.clone());
        for subnet in &vpc.subnets {
            found.insert(subnet.id.clone());
            found.extend(subnet.name.clone());
        }
    }
    found
}

/// The storage classes that are offered, by name and by kind of medium; those that disks get which name
/// none are among them where any is listed.
fn storage_classes(spec: &MachineProviderSpec) -> BTreeSet<String> {
    let config = spec.storage_config.as_ref();
    let shipped = spec.storage.as_ref();
    let mut found = BTreeSet::new();
    for class in config.iter().flat_map(|all| &all.available_storage_types) {
        found.insert(class.name.clone());
        found.extend(class.type_.map(|type_| type_.as_str().to_owned()));
    }
    let classes = shipped.iter().flat_map(|all| &all.storage_classes);
    found.extend(classes.map(|class| class.name.clone()));
    let capabilities = spec.capabilities.iter();
    for class in capabilities.flat_map(|all| &all.storage_types) {
        found.insert(class.name.clone());
        found.extend(class.class.as_ref().map(|class| class.to_lowercase()));
    }
    if !found.is_empty() {
        found.extend(config.and_then(|config| config.default_storage_class.clone()));
        found.extend(shipped.and_then(|shipped| shipped.default_type.clone()));
    }
    found
}

/// Whether machines may be promised more memory than there is.
pub(super) fn overcommits(spec: &MachineProviderSpec) -> bool {
    let compute = spec.compute_config.as_ref();
    let options = compute.and_then(|compute| compute.memory_options.as_ref());
    options
        .and_then(|options| options.memory_overcommit)
        .unwrap_or_default()
}

/// The most machines that the provider may have, as it declares.
pub(super) fn max_machines(spec: &MachineProviderSpec) -> Option<u64> {
    let capacity = spec.capacity.as_ref();
    let capabilities = spec.capabilities.as_ref();
    capacity
        .and_then(|capacity| capacity.max_machines)
        .or(capabilities.and_then(|capabilities| capabilities.max_machines))
        .and_then(|most| u64::try_from(most).ok())
}

/// The most that one machine may have, as the provider declares.
pub(super) fn most(spec: &MachineProviderSpec) -> Preset {
    let compute = spec.compute_config.as_ref();
    let options = spec.compute.as_ref();
    let whole = |value: Option<i32>| value.and_then(|value| u64::try_from(value).ok());
    let gib = |value: Option<i32>| whole(value).map(|value| value << 30);
    Preset {
        cpus: number(compute.and_then(|c| c.max_cpu.as_deref()))
            .or(whole(options.and_then(|options| options.max_cp_us))),
        memory: gigabytes(compute.and_then(|c| c.max_memory_gb.as_deref()))
            .or(gib(options.and_then(|options| options.max_memory_gb))),
        storage: gib(spec.storage.as_ref().and_then(|s| s.max_storage_gb)),
    }
}

/// How many graphics processors a machine may have. Who offers them and says no number, sets none.
fn gpus(spec: &MachineProviderSpec) -> u64 {
    let support = spec
        .compute_config
        .as_ref()
        .and_then(|c| c.gpu_support.as_ref());
    let shipped = spec
        .compute
        .as_ref()
        .and_then(|compute| compute.gpu_support);
    match support {
        Some(support) if support.enabled.unwrap_or(true) => {
            let most = support
                .max_gpus
                .map(|most| u64::try_from(most).unwrap_or(0));
            most.unwrap_or(u64::MAX)
        }
        Some(_) => 0,
        None if shipped.unwrap_or_default() => u64::MAX,
        None => 0,
    }
}

/// What machines may have in all: what there is, less what is held back.
pub(super) fn room(provider: &MachineProvider, health: Option<&Health>) -> Room {
    let capacity = provider.spec.capacity.as_ref();
    let held_back = capacity.and_then(|capacity| capacity.reserved_resources.as_ref());
    let held_back = amounts(held_back);
    let left = |there: Option<u64>, held_back: Option<u64>| {
        there.map(|there| there.saturating_sub(held_back.unwrap_or_default()))
    };
    Room {
        cpus: left(health.and_then(|h| h.cpus), held_back.cpus),
        memory: left(health.and_then(|h| h.memory), held_back.memory),
        storage: left(health.and_then(|h| h.storage), held_back.storage),
    }
}

/// What is no quantity was refused at admission.
pub(super) fn amounts(resources: Option<&ResourceAmounts>) -> Preset {
    let bytes = |text: Option<&String>| parse_bytes(text?).ok();
    Preset {
        cpus: resources
            .and_then(|r| r.cpu)
            .and_then(|cpu| u64::try_from(cpu).ok()),
        memory: bytes(resources.and_then(|r| r.memory.as_ref())),
        storage: bytes(resources.and_then(|r| r.storage.as_ref())),
    }
}

fn number(text: Option<&str>) -> Option<u64> {
    let number: f64 = text?.parse().ok()?;
    (number.is_finite() && number > 0.0).then(|| number.ceil() as u64)
}

fn gigabytes(text: Option<&str>) -> Option<u64> {
    let number: f64 = text?.parse().ok()?;
    (number.is_finite() && number > 0.0).then_some((number * GIB) as u64)
}
