//! Machines to decide about, and manifests to understand.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::collections::BTreeMap;

use machinist_api::vitistack::{Machine, MachineProvider};
use machinist_core::{
    dialect::vitistack::lower,
    machine::{Facts, MachineId, MachineKey, NicFacts, PowerState, Want},
    provider::{Capabilities, Changes, When},
};

/// A provider in its shortest form.
pub(crate) const PROVIDER: &str = "
metadata: {name: local, namespace: default}
spec: {type: qemu, region: local}
";

/// A machine in its shortest form.
pub(crate) const MACHINE: &str = "
metadata: {name: m, namespace: default, generation: 3}
spec:
  name: m
  instanceType: small
  os: {family: linux, distribution: debian, version: '12', imageID: debian-12}
  providerConfig: {name: qemu, region: local}
";

pub(crate) fn machine(yaml: &str) -> Machine {
    object("Machine", yaml)
}

pub(crate) fn provider(yaml: &str) -> MachineProvider {
    object("MachineProvider", yaml)
}

fn object<K: serde::de::DeserializeOwned>(kind: &str, yaml: &str) -> K {
    let mut value: serde_json::Value = serde_saphyr::from_str(yaml).expect("YAML");
    value["apiVersion"] = "vitistack.io/v1alpha1".into();
    value["kind"] = kind.into();
    serde_json::from_value(value).expect("an object of its kind")
}

pub(crate) fn want() -> Want {
    lower(&machine(MACHINE), &provider(PROVIDER)).expect("it can be understood")
}

pub(crate) fn facts(id: &str, power: PowerState) -> Facts {
    Facts {
        id: MachineId::new(id),
        key: MachineKey::new("cluster", "machine").expect("a key"),
        provider_id: format!("test:///{id}"),
        power,
        state: format!("{power:?}").to_lowercase(),
        problem: None,
        node: Some("node-1".into()),
        instance_type: None,
        cpus: Some(want().cpu.count()),
        memory: Some(want().memory),
        architecture: None,
        disks: Vec::new(),
        nics: vec![NicFacts {
            name: "eth0".into(),
            private: vec!["10.0.0.5".into()],
            public: vec!["203.0.113.7".into(), "2001:db8::7".into()],
            confirmed: true,
            ..NicFacts::default()
        }],
        tags: BTreeMap::new(),
        restart: None,
        guest: None,
        created: None,
        started: None,
        details: BTreeMap::new(),
    }
}

/// A platform that can do everything, and a resize only on a machine that is down.
pub(crate) fn able() -> Capabilities {
    Capabilities {
        power: true,
        tags: true,
        changes: Changes {
            resize: When::Stopped,
            attach_disk: When::Always,
            detach_disk: When::Always,
            grow_disk: When::Always,
            nics: When::Always,
        },
        ..Capabilities::default()
    }
}
