//! Why the provider that a machine names cannot satisfy it: the field, its value, and what is offered.

use std::collections::{BTreeSet, HashMap};

use machinist_api::vitistack::machine::{Machine, MachineSpec};

use super::{
    demand,
    provider::{ProviderQuery, provider_query},
};
use crate::place::{Demand, Offer, Reason, SiteName};

/// How many of the things that are offered are named.
const NAMED: usize = 10;
const GIB: f64 = (1_u64 << 30) as f64;

/// Why the provider that a machine names cannot satisfy it, or none of those of the platform and region
/// that it names. Nothing is said of a machine that leaves the choice open, or whose provider is not
/// known.
pub fn refusal(machine: &Machine, offers: &HashMap<SiteName, Offer>) -> Option<String> {
    let query = provider_query(machine).ok()?;
    let name = match &query {
        ProviderQuery::Named { name, .. } => Some(name),
        ProviderQuery::Called { word, .. } => Some(word),
        ProviderQuery::Matching { kind: None, .. } => return None,
        ProviderQuery::Matching { .. } => None,
    };
    let own = machine.metadata.namespace.as_deref().unwrap_or_default();
    let places = query.namespaces(own);
    let demand = demand(machine, &query);
    let named = name.and_then(|name| {
        let site = |place: &&str| ((*place).to_owned(), name.clone());
        let mut sites = places.iter().map(site);
        sites.find_map(|site| offers.get_key_value(&site))
    });
    if let Some((site, offer)) = named {
        // Who names a provider has said where, and of which kind.
        let demand = Demand {
            platform: None,
            region: None,
            ..demand
        };
        let reason = offer.misfit(&demand)?;
        return Some(sentence(machine, &demand, site, offer, &reason));
    }
    if matches!(query, ProviderQuery::Named { .. }) {
        return None;
    }
    let mut told = Vec::new();
    for (site, offer) in offers {
        if !places.contains(&site.0.as_str()) {
            continue;
        }
        match offer.misfit(&demand) {
            Some(Reason::Platform(_) | Reason::Region(_)) => {}
            Some(reason) => told.push(sentence(machine, &demand, site, offer, &reason)),
            None => return None,
        }
    }
    told.sort();
    told.truncate(NAMED);
    (!told.is_empty()).then(|| told.join("; "))
}

fn sentence(
    machine: &Machine,
    demand: &Demand,
    (namespace, name): &SiteName,
    offer: &Offer,
    reason: &Reason,
) -> String {
    let (field, value) = asked(reason, machine, demand);
    let (why, has) = (reason.say(demand), offered(reason, offer));
    format!("{field}: {value:?}: MachineProvider {namespace}/{name} {why}{has}")
}

/// The field that asks for what is not offered, and its value.
fn asked(reason: &Reason, machine: &Machine, demand: &Demand) -> (String, String) {
    let spec = &machine.spec;
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    let first = |given: bool, one: &str, other: &str| match given {
        true => one.to_owned(),
        false => other.to_owned(),
    };
    let size = first(
        spec.instance_type.is_some(),
        "spec.instanceType",
        "spec.machineClass",
    );
    match reason {
        Reason::Zone => {
            let config = spec.provider_config.as_ref();
            let declared = config.is_some_and(|config| config.zone.is_some());
            let label = "metadata.labels[topology.kubernetes.io/zone]";
            (
                first(declared, "spec.providerConfig.zone", label),
                text(&demand.zone),
            )
        }
        Reason::Operation("stop") => ("spec.powerState".into(), "Stopped".into()),
        Reason::Os => {
            let field = first(
                spec.os.is_some(),
                "spec.os.family",
                "spec.operatingSystem.type",
            );
            (field, text(&demand.os))
        }
        Reason::Architecture => (
            "spec.os.architecture".into(),
            demand.architecture.unwrap_or_default().to_owned(),
        ),
        Reason::InstanceType => (size, text(&demand.instance_type)),
        Reason::Image => {
            let os = spec.os.as_ref();
            let field = match (os, os.and_then(|os| os.image_id.as_ref())) {
                (Some(_), Some(_)) => "spec.os.imageID",
                (Some(_), None) => "spec.os.imageFamily",
                (None, _) => "spec.operatingSystem.image.url",
            };
            (field.into(), text(&demand.image))
        }
        Reason::Network(index) => {
            let network = demand.networks.get(*index).cloned().unwrap_or_default();
            let declared = spec.network.as_ref();
            let all = declared.and_then(|n| n.subnet.as_ref()) == Some(&network);
            let interfaces = declared
                .map(|n| n.interfaces.as_slice())
                .unwrap_or_default();
            let place = interfaces
                .iter()
                .position(|nic| nic.subnet.as_ref() == Some(&network));
            let field = match (all, place) {
                (false, Some(place)) => format!("spec.network.interfaces[{place}].subnet"),
                _ => "spec.network.subnet".into(),
            };
            (field, network)
        }
        Reason::StorageClass(index) => {
            let class = demand.storage_classes.get(*index).cloned();
            let class = class.unwrap_or_default();
            (storage_class(spec, &class), class)
        }
        Reason::Cpus { wanted, .. } => {
            let declared = first(spec.cpu.is_some(), "spec.cpu", "spec.resources.cpu");
            let field = first(demand.cpus.is_some(), &declared, &size);
            (field, wanted.to_string())
        }
        Reason::Memory { wanted, .. } => {
            let flat = spec.memory.is_some_and(|memory| memory > 0);
            let declared = first(flat, "spec.memory", "spec.resources.memory.size");
            let field = first(demand.memory.is_some(), &declared, &size);
            (field, gigabytes(*wanted))
        }
        Reason::Storage { wanted, .. } => {
            let field = first(spec.storage.is_some(), "spec.storage", "spec.disks");
            (field, gigabytes(*wanted))
        }
        Reason::Gpus(_) => ("spec.resources.gpu.count".into(), demand.gpus.to_string()),
        _ => {
            let field = first(
                spec.provider_ref.is_some(),
                "spec.providerRef.name",
                "spec.provider",
            );
            let reference = spec.provider_ref.as_ref().and_then(|r| r.name.clone());
            let named = reference.or(spec.provider.clone());
            (field, named.unwrap_or_default())
        }
    }
}

/// The field that asks for a storage class.
fn storage_class(spec: &MachineSpec, class: &str) -> String {
    let is = |value: &Option<String>| value.as_deref() == Some(class);
    if let Some(place) = spec.disks.iter().position(|disk| is(&disk.type_)) {
        return format!("spec.disks[{place}].type");
    }
    let storage = spec.storage.as_ref();
    let volumes = storage.map(|storage| storage.data_volumes.as_slice());
    let mut volumes = volumes.unwrap_or_default().iter();
    let root = storage.and_then(|storage| storage.root_volume.as_ref());
    match root {
        Some(root) if is(&root.storage_class) => "spec.storage.rootVolume.storageClass".into(),
        Some(root) if root.type_.is_some_and(|type_| type_.as_str() == class) => {
            "spec.storage.rootVolume.type".into()
        }
        _ => match volumes.position(|volume| is(&volume.storage_class)) {
            Some(place) => format!("spec.storage.dataVolumes[{place}].storageClass"),
            None => "spec.storage".into(),
        },
    }
}

/// What is offered instead.
fn offered(reason: &Reason, offer: &Offer) -> String {
    let list = |all: &BTreeSet<String>| {
        let mut names: Vec<&str> = all.iter().take(NAMED).map(String::as_str).collect();
        let more = format!("{} more", all.len().saturating_sub(NAMED));
        if all.len() > NAMED {
            names.push(&more);
        }
        format!("; it offers {}", names.join(", "))
    };
    match reason {
        Reason::Zone => list(&offer.zones),
        Reason::Operation(_) => list(&offer.operations),
        Reason::Os => list(&offer.os_types),
        Reason::Architecture => list(&offer.architectures),
        Reason::InstanceType => {
            let templates = offer.presets.keys().cloned();
            list(
                &offer
                    .instance_types
                    .iter()
                    .cloned()
                    .chain(templates)
                    .collect(),
            )
        }
        Reason::Image => list(&offer.images),
        Reason::Network(_) => list(&offer.networks),
        Reason::StorageClass(_) => list(&offer.storage_classes),
        Reason::Memory { most, .. } | Reason::Storage { most, .. } => {
            format!(" ({} at most)", gigabytes(*most))
        }
        _ => String::new(),
    }
}

fn gigabytes(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / GIB)
}
