//! Which rules a kind has, and what its users are warned of.

mod clear_text;
mod cloud_config;
mod installation;
mod labels;
mod platform;
mod ranges;
mod tags;
mod without_effect;

use serde_json::Value;

use super::Fault;

pub use without_effect::{declared_without_effect, without_effect};

/// The kinds that have rules here, beside the Machine of `vitistack.io`: group and plural.
pub const JUDGED: &[(&str, &[&str])] = &[
    (
        "vitistack.io",
        &[
            "vitistacks",
            "machineproviders",
            "networkconfigurations",
            "networknamespaces",
            "proxmoxconfigs",
            "kubernetesclusters",
        ],
    ),
    ("compute.ironcore.dev", &["machines"]),
    ("storage.ironcore.dev", &["volumes"]),
    (
        "networking.ironcore.dev",
        &[
            "networks",
            "networkinterfaces",
            "loadbalancers",
            "networkpolicies",
        ],
    ),
    ("ipam.ironcore.dev", &["prefixes", "prefixallocations"]),
];

/// Everything that is wrong with an object; nothing of kinds that have no rules here.
pub fn faults(object: &Value) -> Vec<Fault> {
    let spec = &object["spec"];
    match kind(object) {
        ("vitistack.io", "Machine") => cloud_config::faults(spec),
        ("vitistack.io", "MachineProvider") => {
            let mut found = platform::faults(spec);
            found.extend(tags::faults(spec));
            found
        }
        ("vitistack.io", "Vitistack") => installation::faults(spec),
        ("vitistack.io", "NetworkConfiguration") => ranges::network(spec),
        ("vitistack.io", "NetworkNamespace") => ranges::namespace(spec),
        ("networking.ironcore.dev", "Network") => installation::peerings(object),
        (group, _) if group.ends_with(".ironcore.dev") => labels::faults(spec),
        _ => Vec::new(),
    }
}

/// What the writer of an object should know, although it is accepted.
pub fn warnings(object: &Value) -> Vec<String> {
    match kind(object) {
        ("vitistack.io", kind) => {
            let mut found = clear_text::warnings(kind, &object["spec"]);
            found.extend(without_effect::warnings(kind, &object["spec"]));
            found
        }
        _ => Vec::new(),
    }
}

/// Group and kind of an object.
fn kind(object: &Value) -> (&str, &str) {
    let version = object["apiVersion"].as_str().unwrap_or_default();
    let (group, _) = version.split_once('/').unwrap_or_default();
    (group, object["kind"].as_str().unwrap_or_default())
}
