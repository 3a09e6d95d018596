//! The defaults of a provider, and after them those of a Vitistack, that fill what a machine leaves
//! open, and where people see them.
//!
//! They fill the domain model, not the object: a field that nobody declared stays nobody's, so that
//! whoever applies the machine again has no conflict. A condition of the machine tells each of them.

use machinist_api::{
    quantity::parse_bytes,
    vitistack::{
        Vitistack,
        machine_provider::{MachineProvider, ProviderType},
    },
};

use super::provider::platform;
use crate::machine::{Condition, Defaults, Disk, Nic, Truth, Want};

/// The type of the condition.
const APPLIED: &str = "DefaultsApplied";

/// Fills in disks and interfaces; `told` holds what the size was filled in from.
pub(super) fn fill(
    provider: &MachineProvider,
    disks: &mut [Disk],
    nics: &mut [Nic],
    mut told: Vec<String>,
) -> Defaults {
    let (class, network) = (storage_class(provider), network(provider));
    let size = provider
        .spec
        .storage_config
        .as_ref()
        .and_then(|storage| storage.default_disk_size.as_deref());
    let disk_size = size.and_then(|size| parse_bytes(size).ok());
    if let (Some(size), true) = (size, disks.iter().any(|disk| disk.size.is_none())) {
        told.push(format!(
            "size {size} of disks that are made (spec.storageConfig.defaultDiskSize)"
        ));
    }
    if let Some((class, field)) = class {
        let open = disks.iter_mut().filter(|disk| disk.class.is_none());
        let filled = open.map(|disk| disk.class = Some(class.clone())).count();
        if filled > 0 {
            told.push(format!("storage class {class} ({field})"));
        }
    }
    if let Some((network, field)) = &network {
        let alone = nics.is_empty();
        let open = nics.iter_mut().filter(|nic| nic.network.is_none());
        let filled = open.map(|nic| nic.network = Some(network.clone())).count();
        if filled > 0 || alone {
            told.push(format!("network {network} ({field})"));
        }
    }
    Defaults {
        disk_size,
        network: network.map(|(network, _)| network),
        told,
    }
}

/// Fills in what neither the machine nor its provider says, from the settings of the Vitistack that
/// has the machine's namespace.
pub fn fill_from_stack(want: &mut Want, stack: &Vitistack) {
    let settings = stack.spec.settings.as_ref();
    let Some(class) = settings.and_then(|settings| settings.default_storage_class.as_ref()) else {
        return;
    };
    let open = want.disks.iter_mut().filter(|disk| disk.class.is_none());
    let filled = open.map(|disk| disk.class = Some(class.clone())).count();
    if filled > 0 {
        let name = stack.metadata.name.as_deref().unwrap_or_default();
        want.defaults.told.push(format!(
            "storage class {class} (spec.settings.defaultStorageClass of Vitistack {name})"
        ));
    }
}

fn storage_class(provider: &MachineProvider) -> Option<(String, &'static str)> {
    let config = provider.spec.storage_config.as_ref();
    let shipped = provider.spec.storage.as_ref();
    let marked = shipped.and_then(|storage| {
        let mut classes = storage.storage_classes.iter();
        classes.find(|class| class.default == Some(true))
    });
    let all = [
        (
            config.and_then(|config| config.default_storage_class.clone()),
            "spec.storageConfig.defaultStorageClass",
        ),
        (
            shipped.and_then(|storage| storage.default_type.clone()),
            "spec.storage.defaultType",
        ),
        (
            marked.map(|class| class.name.clone()),
            "spec.storage.storageClasses",
        ),
    ];
    all.into_iter()
        .find_map(|(value, field)| Some((value?, field)))
}

/// The network that interfaces are on. A VPC of EC2 is none: interfaces are on its subnets.
fn network(provider: &MachineProvider) -> Option<(String, &'static str)> {
    let config = provider.spec.network_config.as_ref()?;
    if let Some(subnet) = &config.default_subnet_id {
        return Some((subnet.clone(), "spec.networkConfig.defaultSubnetId"));
    }
    let network = config.default_network_id.clone()?;
    let on_ec2 = platform(provider) == ProviderType::Aws.as_str();
    (!on_ec2 || network.starts_with("subnet-"))
        .then_some((network, "spec.networkConfig.defaultNetworkId"))
}

/// What was filled in, where anything was.
pub(super) fn condition(want: &Want) -> Option<Condition> {
    let told = &want.defaults.told;
    (!told.is_empty()).then(|| {
        Condition::new(
            APPLIED,
            Truth::True,
            "ProviderDefaults",
            format!(
                "What the machine leaves open was filled in: {}.",
                told.join(", ")
            ),
        )
    })
}
