//! From a Machine to what it asks of a provider, and to what it takes of the one that it is on.

use machinist_api::{
    quantity::parse_bytes,
    vitistack::machine::{Machine, MachineSpec, PowerState},
};

use super::{disks, offer::architecture, provider::ProviderQuery};
use crate::place::{Demand, Take};

/// The label that asks for a region where the spec does not.
const REGION_LABEL: &str = "topology.kubernetes.io/region";
/// The label that asks for a zone where the spec does not.
const ZONE_LABEL: &str = "topology.kubernetes.io/zone";
const GIB: u64 = 1 << 30;

/// What a machine asks for.
pub fn demand(machine: &Machine, query: &ProviderQuery) -> Demand {
    let spec = &machine.spec;
    let (platform, region) = match query {
        ProviderQuery::Named { .. } => (None, None),
        ProviderQuery::Matching { kind, region } => (kind.clone(), region.clone()),
        ProviderQuery::Called { word, region } => (Some(word.clone()), region.clone()),
    };
    // Who names a provider has said where.
    let is_named = matches!(query, ProviderQuery::Named { .. });
    let labels = machine.metadata.labels.as_ref().filter(|_| !is_named);
    let label = |name: &str| labels?.get(name).cloned();
    let config = spec.provider_config.as_ref();
    let os = spec.os.as_ref();
    let system = spec.operating_system.as_ref();
    let family = os.and_then(|os| os.family).map(|family| family.as_str());
    let kind = system
        .and_then(|system| system.type_)
        .map(|kind| kind.as_str());
    let gpu = spec.resources.as_ref().and_then(|r| r.gpu.as_ref());
    let size = declared(spec);
    Demand {
        namespace: machine.metadata.namespace.clone().unwrap_or_default(),
        platform,
        region: region.or_else(|| label(REGION_LABEL)),
        zone: config
            .and_then(|config| config.zone.clone())
            .or_else(|| label(ZONE_LABEL)),
        instance_type: spec.instance_type.clone().or(spec.machine_class.clone()),
        os: family.or(kind).map(str::to_owned),
        architecture: os
            .and_then(|os| os.architecture)
            .map(|name| architecture(name.as_str())),
        image: image(spec),
        networks: networks(spec),
        storage_classes: storage_classes(spec),
        cpus: Some(size.cpus).filter(|cpus| *cpus > 0),
        memory: Some(size.memory).filter(|memory| *memory > 0),
        storage: size.storage,
        gpus: gpu
            .map(|gpu| gpu.count.unwrap_or(1))
            .and_then(|count| u64::try_from(count).ok())
            .unwrap_or_default(),
        operations: match spec.power_state {
            Some(PowerState::Stopped) => &["create", "stop"],
            Some(PowerState::Running) | None => &["create"],
        },
        per_provider: None,
    }
}

/// What a machine takes of its provider: what the platform says, or else what is declared.
pub fn take(machine: &Machine) -> Take {
    let declared = declared(&machine.spec);
    let status = machine.status.as_ref();
    let seen = |value: Option<u64>, declared: u64| value.unwrap_or(declared);
    let disks = status.map(|status| &status.disks).into_iter().flatten();
    let storage: u64 = disks
        .filter_map(|disk| u64::try_from(disk.size_gb?).ok())
        .fold(0, |sum, size| sum.saturating_add(size.saturating_mul(GIB)));
    Take {
        cpus: seen(
            status
                .and_then(|s| s.cpus)
                .and_then(|cpus| u64::try_from(cpus).ok()),
            declared.cpus,
        ),
        memory: seen(
            status
                .and_then(|s| s.memory)
                .and_then(|memory| u64::try_from(memory).ok()),
            declared.memory,
        ),
        storage: declared.storage.max(storage),
    }
}

/// The size that a declaration gives in numbers; what it leaves out, and what is no quantity, is
/// nothing.
fn declared(spec: &MachineSpec) -> Take {
    let count = |value: Option<i32>| u64::try_from(value.unwrap_or(1)).unwrap_or(1).max(1);
    let resources = spec.resources.as_ref();
    let flat = spec
        .cpu
        .as_ref()
        .map(|cpu| count(cpu.sockets) * count(cpu.cores) * count(cpu.threads_per_core));
    let nested = resources
        .and_then(|r| r.cpu.as_ref())
        .map(|cpu| count(cpu.sockets) * count(cpu.cores) * count(cpu.threads));
    let bytes = spec.memory.and_then(|bytes| u64::try_from(bytes).ok());
    let size = resources.and_then(|r| r.memory.as_ref()?.size.as_deref());
    let quantity = |text: Option<&str>| text.and_then(|text| parse_bytes(text).ok());
    let disks = spec.disks.iter().map(|disk| {
        let gigabytes = disk.size_gb.and_then(|size| u64::try_from(size).ok());
        gigabytes.unwrap_or_default().saturating_mul(GIB)
    });
    let storage = spec.storage.as_ref();
    let root = storage.and_then(|s| s.root_volume.as_ref()?.size.as_deref());
    let data = storage.into_iter().flat_map(|s| &s.data_volumes);
    let volumes = std::iter::once(root)
        .chain(data.map(|volume| volume.size.as_deref()))
        .map(|size| quantity(size).unwrap_or_default());
    Take {
        cpus: flat.or(nested).unwrap_or_default(),
        memory: bytes
            .filter(|bytes| *bytes > 0)
            .or(quantity(size))
            .unwrap_or_default(),
        storage: disks.chain(volumes).fold(0, u64::saturating_add),
    }
}

/// The image that a provider must have. What is fetched by its URL, or is a file, is its own
/// source; what is described by its distribution is found among the provider's images.
fn image(spec: &MachineSpec) -> Option<String> {
    let os = spec.os.as_ref();
    let named = os.and_then(|os| os.image_id.as_ref().or(os.image_family.as_ref()));
    let system = spec.operating_system.as_ref();
    let named = named.or(system.and_then(|system| system.image.as_ref()?.url.as_ref()))?;
    let is_source = named.contains("://") || named.starts_with('/');
    (!is_source).then(|| named.clone())
}

/// The storage classes that disks ask for. A size that is no quantity is told elsewhere.
fn storage_classes(spec: &MachineSpec) -> Vec<String> {
    let disks = disks::lower(spec, false).unwrap_or_default();
    let mut classes: Vec<String> = disks.into_iter().filter_map(|disk| disk.class).collect();
    classes.dedup();
    classes
}

/// The provider's networks that interfaces are on. A NetworkConfiguration is none of them.
fn networks(spec: &MachineSpec) -> Vec<String> {
    let Some(network) = spec.network.as_ref() else {
        return Vec::new();
    };
    let of_interfaces = network
        .interfaces
        .iter()
        .filter_map(|nic| nic.subnet.clone());
    let mut all: Vec<String> = network
        .subnet
        .clone()
        .into_iter()
        .chain(of_interfaces)
        .collect();
    all.sort();
    all.dedup();
    all
}
