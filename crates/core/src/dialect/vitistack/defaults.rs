//! The defaults of a provider, and after them those of a Vitistack, that fill what a machine leaves
//! open, and where people see them.
//!
//! They fill the domain model, not the object: a field that nobody declared stays nobody's, so that
//! whoever applies the machine again has no conflict. A condition of the machine tells each of them.

use std::collections::BTreeMap;

use machinist_api::{
    quantity::{Quantity, parse_bytes},
    vitistack::{
        Vitistack,
        machine::MachineSpec,
        machine_provider::{MachineProvider, ProviderType},
    },
};

use super::provider::platform;
use crate::machine::{Condition, Defaults, Disk, Nic, Truth, Want};

/// The type of the condition.
const APPLIED: &str = "DefaultsApplied";

/// Fills in disks and interfaces; `told` holds what was filled in before, and `boot_size` what the
/// template of the machine's size gives to its boot disk, with the template's name.
pub(super) fn fill(
    provider: &MachineProvider,
    disks: &mut [Disk],
    nics: &mut [Nic],
    (boot_size, mut told): (Option<(u64, String)>, Vec<String>),
) -> Defaults {
    let (class, network) = (storage_class(provider), network(provider));
    let size = provider
        .spec
        .storage_config
        .as_ref()
        .and_then(|storage| storage.default_disk_size.as_deref());
    let disk_size = size.and_then(|size| parse_bytes(size).ok());
    let boot_size = boot_size.filter(|_| disks.iter().any(|d| d.boot && d.size.is_none()));
    if let Some((size, template)) = &boot_size {
        told.push(format!(
            "size {} of the boot disk when it is made (spec.templates {template})",
            Quantity::from_bytes(*size)
        ));
    }
    let open = |disk: &Disk| disk.size.is_none() && !(disk.boot && boot_size.is_some());
    if let (Some(size), true) = (size, disks.iter().any(open)) {
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
        boot_size: boot_size.map(|(size, _)| size),
        network: network.map(|(network, _)| network),
        told,
    }
}

/// Puts the provider's tags beside the machine's own, which count where both have a name; what was
/// filled in is told.
pub(super) fn tags(
    provider: &MachineProvider,
    tags: &mut BTreeMap<String, String>,
) -> Option<String> {
    let mut filled = Vec::new();
    for (name, value) in &provider.spec.default_tags {
        if !tags.contains_key(name) {
            tags.insert(name.clone(), value.clone());
            filled.push(format!("{name}={value}"));
        }
    }
    (!filled.is_empty()).then(|| format!("tags {} (spec.defaultTags)", filled.join(" ")))
}

/// Fills in what neither the machine nor its provider says, from the settings of the Vitistack that
/// has the machine's namespace.
pub fn fill_from_stack(want: &mut Want, stack: &Vitistack) {
    let Some(settings) = &stack.spec.settings else {
        return;
    };
    let name = stack.metadata.name.as_deref().unwrap_or_default();
    let mut tell = |what: String, field: &str| {
        let told = format!("{what} (spec.settings.{field} of Vitistack {name})");
        want.defaults.told.push(told);
    };
    if let Some(class) = &settings.default_storage_class {
        let open = want.disks.iter_mut().filter(|disk| disk.class.is_none());
        let filled = open.map(|disk| disk.class = Some(class.clone())).count();
        if filled > 0 {
            tell(format!("storage class {class}"), "defaultStorageClass");
        }
    }
    if let Some(policy) = &settings.default_network_policy
        && !names_groups(&want.security_groups, &want.nics)
    {
        want.security_groups.push(policy.clone());
        tell(
            format!("security group {policy} when it is made, where the platform has any"),
            "defaultNetworkPolicy",
        );
    }
    let monitoring = settings.monitoring.as_ref();
    if let (None, Some(on)) = (want.monitoring, monitoring.and_then(|all| all.enabled)) {
        want.monitoring = Some(on);
        let state = if on { "on" } else { "off" };
        tell(
            format!("monitoring {state} when it is made, where the platform has any"),
            "monitoring.enabled",
        );
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
    let config = provider.spec.network_config.as_ref();
    let shipped = provider.spec.network.as_ref();
    if let Some(subnet) = config.and_then(|config| config.default_subnet_id.as_ref()) {
        return Some((subnet.clone(), "spec.networkConfig.defaultSubnetId"));
    }
    let network = config.and_then(|config| config.default_network_id.clone());
    let network = network.map(|network| (network, "spec.networkConfig.defaultNetworkId"));
    let vpc = shipped.and_then(|shipped| shipped.default_vpc.clone());
    let vpc = vpc.map(|vpc| (vpc, "spec.network.defaultVPC"));
    let on_ec2 = platform(provider) == ProviderType::Aws.as_str();
    let fits = |(network, _): &(String, _)| !on_ec2 || network.starts_with("subnet-");
    network.or(vpc).filter(fits)
}

/// Whether disks that do not say are encrypted.
pub(super) fn encrypts(provider: &MachineProvider) -> bool {
    let storage = provider.spec.storage.as_ref();
    storage
        .and_then(|storage| storage.default_encryption)
        .unwrap_or_default()
}

/// Tells that disks are encrypted because the provider says so.
pub(super) fn encryption(machine: &MachineSpec, encrypted: bool) -> Option<String> {
    let all_say = !machine.disks.is_empty() && machine.disks.iter().all(|d| d.encrypted.is_some());
    (encrypted && !all_say).then(|| "encrypted disks (spec.storage.defaultEncryption)".to_owned())
}

/// Gives the provider's security groups to a machine that names none at all.
pub(super) fn security_groups(
    provider: &MachineProvider,
    groups: &mut Vec<String>,
    nics: &[Nic],
) -> Option<String> {
    let usual = &provider.spec.network.as_ref()?.default_security_groups;
    (!names_groups(groups, nics) && !usual.is_empty()).then(|| {
        groups.clone_from(usual);
        let usual = usual.join(" ");
        format!("security groups {usual} (spec.network.defaultSecurityGroups)")
    })
}

/// Whether a machine names a security group, for itself or for one of its interfaces.
fn names_groups(groups: &[String], nics: &[Nic]) -> bool {
    !groups.is_empty() || nics.iter().any(|nic| !nic.security_groups.is_empty())
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
