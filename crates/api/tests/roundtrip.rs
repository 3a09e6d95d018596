//! Every documented manifest survives being read into the types and written again.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failed assumption in a test is a failed test"
)]

mod table;

use machinist_api::ironcore::{compute, ipam, networking as net, quota, storage};
use machinist_api::{kupenstack as ks, vitistack as vs};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

fn through<K: Serialize + DeserializeOwned>(value: &Value) -> Value {
    let typed: K = serde_json::from_value(value.clone()).unwrap();
    serde_json::to_value(typed).unwrap()
}

/// Reads a manifest into its type and writes it again.
fn written(name: &str, manifest: &Value) -> Value {
    let group = manifest["apiVersion"].as_str().unwrap();
    match (group, manifest["kind"].as_str().unwrap()) {
        ("compute.ironcore.dev/v1alpha1", "Machine") => through::<compute::Machine>(manifest),
        ("compute.ironcore.dev/v1alpha1", "MachineClass") => {
            through::<compute::MachineClass>(manifest)
        }
        ("compute.ironcore.dev/v1alpha1", "MachinePool") => {
            through::<compute::MachinePool>(manifest)
        }
        ("core.ironcore.dev/v1alpha1", "ResourceQuota") => {
            through::<quota::ResourceQuota>(manifest)
        }
        ("ipam.ironcore.dev/v1alpha1", "Prefix") => through::<ipam::Prefix>(manifest),
        ("ipam.ironcore.dev/v1alpha1", "PrefixAllocation") => {
            through::<ipam::PrefixAllocation>(manifest)
        }
        ("networking.ironcore.dev/v1alpha1", "LoadBalancer") => {
            through::<net::LoadBalancer>(manifest)
        }
        ("networking.ironcore.dev/v1alpha1", "NATGateway") => through::<net::NatGateway>(manifest),
        ("networking.ironcore.dev/v1alpha1", "Network") => through::<net::Network>(manifest),
        ("networking.ironcore.dev/v1alpha1", "NetworkInterface") => {
            through::<net::NetworkInterface>(manifest)
        }
        ("networking.ironcore.dev/v1alpha1", "NetworkPolicy") => {
            through::<net::NetworkPolicy>(manifest)
        }
        ("networking.ironcore.dev/v1alpha1", "VirtualIP") => through::<net::VirtualIp>(manifest),
        ("storage.ironcore.dev/v1alpha1", "Volume") => through::<storage::Volume>(manifest),
        ("storage.ironcore.dev/v1alpha1", "VolumeClass") => {
            through::<storage::VolumeClass>(manifest)
        }
        ("storage.ironcore.dev/v1alpha1", "VolumePool") => through::<storage::VolumePool>(manifest),
        ("storage.ironcore.dev/v1alpha1", "VolumeSnapshot") => {
            through::<storage::VolumeSnapshot>(manifest)
        }
        ("kupenstack.io/v1alpha1", "Flavor") => through::<ks::Flavor>(manifest),
        ("kupenstack.io/v1alpha1", "Image") => through::<ks::Image>(manifest),
        ("kupenstack.io/v1alpha1", "KeyPair") => through::<ks::KeyPair>(manifest),
        ("kupenstack.io/v1alpha1", "VirtualMachine") => through::<ks::VirtualMachine>(manifest),
        ("kupenstack.io/v1alpha1", "VirtualNetwork") => through::<ks::VirtualNetwork>(manifest),
        ("kupenstack.io/v1alpha1", "Volume") => through::<ks::Volume>(manifest),
        ("vitistack.io/v1alpha1", "KubernetesCluster") => {
            through::<vs::KubernetesCluster>(manifest)
        }
        ("vitistack.io/v1alpha1", "KubernetesProvider") => {
            through::<vs::KubernetesProvider>(manifest)
        }
        ("vitistack.io/v1alpha1", "KubevirtConfig") => through::<vs::KubevirtConfig>(manifest),
        ("vitistack.io/v1alpha1", "LoadBalancer") => through::<vs::LoadBalancer>(manifest),
        ("vitistack.io/v1alpha1", "MachineClass") => through::<vs::MachineClass>(manifest),
        ("vitistack.io/v1alpha1", "NetworkConfiguration") => {
            through::<vs::NetworkConfiguration>(manifest)
        }
        ("vitistack.io/v1alpha1", "NetworkNamespace") => through::<vs::NetworkNamespace>(manifest),
        ("vitistack.io/v1alpha1", "ProxmoxConfig") => through::<vs::ProxmoxConfig>(manifest),
        ("vitistack.io/v1alpha1", "Vitistack") => through::<vs::Vitistack>(manifest),
        ("vitistack.io/v1alpha1", "Machine") => through::<vs::Machine>(manifest),
        ("vitistack.io/v1alpha1", "MachineProvider") => through::<vs::MachineProvider>(manifest),
        other => panic!("{name} is of the kind {other:?}"),
    }
}

#[test]
fn nothing_is_lost() {
    for (name, manifest) in table::manifests() {
        assert_eq!(written(&name, &manifest), manifest, "{name}");
    }
}

/// What no manifest can use: the shipped operators' spelling of a name cannot stand beside the
/// documented one, and a volume that is made with a machine is claimed by that.
const IMPOSSIBLE: &[&str] = &[".secretName", ".volumeTemplate.spec.claimRef"];

/// The `-full` manifests use every property that a schema has, so that the test above covers them all.
#[test]
fn the_full_manifests_use_every_field() {
    let manifests = table::manifests();
    for crd in machinist_api::crds() {
        let kind = &crd.spec.names.kind;
        let schema = serde_json::to_value(&crd.spec.versions[0].schema).unwrap();
        let full: Vec<_> = manifests
            .iter()
            .filter(|(name, value)| {
                let group = value["apiVersion"].as_str().unwrap();
                let same = group.starts_with(&format!("{}/", crd.spec.group));
                name.contains("-full") && same && value["kind"] == **kind
            })
            .map(|(_, value)| value)
            .collect();
        let mut unused = Vec::new();
        collect_unused(&schema["openAPIV3Schema"], &full, kind, &mut unused);
        assert_eq!(unused, Vec::<String>::new());
    }
}

fn collect_unused(schema: &Value, values: &[&Value], path: &str, unused: &mut Vec<String>) {
    if let Some(items) = schema.get("items") {
        let values: Vec<_> = values
            .iter()
            .filter_map(|value| value.as_array())
            .flatten()
            .collect();
        collect_unused(items, &values, &format!("{path}[]"), unused);
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{path}.{name}");
        let values: Vec<_> = values.iter().filter_map(|value| value.get(name)).collect();
        if !values.is_empty() {
            collect_unused(property, &values, &path, unused);
        } else if !IMPOSSIBLE.iter().any(|end| path.ends_with(end)) {
            unused.push(path);
        }
    }
}
