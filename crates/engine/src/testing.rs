//! Objects and facts for the engine's own tests.

use std::collections::BTreeMap;

use machinist_api::vitistack::Machine;
use machinist_core::{
    dialect::vitistack::lower,
    machine::{Facts, MachineId, MachineKey, PowerState, Want},
};
use serde_json::json;

/// A machine of this number, as its platform shows it.
pub(crate) fn facts(number: u64, cluster: &str) -> Facts {
    Facts {
        id: MachineId::new(format!("id-{number}")),
        key: MachineKey::new(cluster, format!("uid-{number}")).unwrap(),
        provider_id: format!("test:///{number}"),
        power: PowerState::Running,
        state: "running".into(),
        problem: None,
        node: None,
        instance_type: None,
        cpus: Some(1),
        memory: Some(1 << 30),
        architecture: None,
        disks: Vec::new(),
        nics: Vec::new(),
        tags: BTreeMap::new(),
        restart: None,
        guest: None,
        created: None,
        started: None,
        details: BTreeMap::new(),
    }
}

/// The object that declares it.
pub(crate) fn machine(number: u64) -> Machine {
    serde_json::from_value(json!({
        "apiVersion": "vitistack.io/v1alpha1",
        "kind": "Machine",
        "metadata": {
            "name": format!("m-{number}"),
            "namespace": "default",
            "uid": format!("uid-{number}"),
        },
        "spec": {},
    }))
    .unwrap()
}

/// What it should be on a provider that says nothing.
pub(crate) fn want() -> Want {
    let provider = json!({
        "apiVersion": "vitistack.io/v1alpha1",
        "kind": "MachineProvider",
        "metadata": {"name": "p", "namespace": "default"},
        "spec": {"type": "sim"},
    });
    lower(&machine(1), &serde_json::from_value(provider).unwrap()).unwrap()
}
