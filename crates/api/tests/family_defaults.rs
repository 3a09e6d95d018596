//! What IronCore's and KupenStack's kinds fill in, and that they fill in nothing else.
#![allow(
    clippy::unwrap_used,
    reason = "a failed assumption in a test is a failed test"
)]

use std::sync::LazyLock;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube_cel::apply_defaults;
use serde_json::{Value, json};

/// Every definition, made once.
static CRDS: LazyLock<Vec<CustomResourceDefinition>> = LazyLock::new(machinist_api::crds);

/// The object as a server stores it.
fn stored(kind: &str, given: &Value) -> Value {
    let crd = CRDS
        .iter()
        .find(|crd| crd.metadata.name.as_deref() == Some(kind))
        .unwrap();
    let schema = crd.spec.versions[0].schema.as_ref().unwrap();
    let schema = serde_json::to_value(&schema.open_api_v3_schema).unwrap();
    apply_defaults(&schema, given)
}

/// Every field of `expected` is so in what is stored, and the spec has no other.
fn check(kind: &str, given: &Value, expected: &Value) {
    let stored = stored(kind, given);
    for (part, value) in expected.as_object().unwrap() {
        assert_eq!(&stored[part], value, "{part} of {kind}");
    }
}

#[test]
fn kupenstack() {
    let disks = json!([{ "name": "root" }]);
    check(
        "virtualmachines.kupenstack.io",
        &json!({ "spec": { "vcpu": 1, "memory": "1Gi", "diskAttachments": disks } }),
        &json!({
            "spec": {
                "vcpu": 1, "memory": "1Gi", "diskAttachments": disks, "running": true, "swap": 0,
            },
            "status": { "phase": "Pending", "restartCount": 0, "observedGeneration": -1 },
        }),
    );
    check(
        "virtualnetworks.kupenstack.io",
        &json!({ "spec": {} }),
        &json!({
            "spec": { "disableDhcp": false },
            "status": { "ready": false, "gatewayName": "none", "observedGeneration": -1 },
        }),
    );
    check(
        "images.kupenstack.io",
        &json!({ "spec": {} }),
        &json!({ "spec": { "containerFormat": "bare" } }),
    );
    check("keypairs.kupenstack.io", &json!({}), &json!({ "spec": {} }));
}

#[test]
fn ironcore() {
    let class = json!({ "name": "small" });
    check(
        "machines.compute.ironcore.dev",
        &json!({ "spec": { "machineClassRef": class } }),
        &json!({
            "spec": { "machineClassRef": class, "power": "On" },
            "status": { "state": "Pending", "observedGeneration": -1 },
        }),
    );
    check(
        "machinepools.compute.ironcore.dev",
        &json!({}),
        &json!({ "spec": {}, "status": { "state": "Pending", "observedGeneration": -1 } }),
    );
    check(
        "volumeclasses.storage.ironcore.dev",
        &json!({ "capabilities": { "tps": 1, "iops": 1 } }),
        &json!({ "capabilities": { "tps": 1, "iops": 1 }, "resizePolicy": "Static" }),
    );
    let network = json!({ "name": "net" });
    check(
        "natgateways.networking.ironcore.dev",
        &json!({ "spec": { "type": "Public", "ipFamily": "IPv4", "networkRef": network } }),
        &json!({ "spec": {
            "type": "Public", "ipFamily": "IPv4", "networkRef": network,
            "portsPerNetworkInterface": 2048,
        } }),
    );
    check(
        "loadbalancers.networking.ironcore.dev",
        &json!({ "spec": { "ports": [{ "port": 80 }, { "port": 53, "protocol": "UDP" }] } }),
        &json!({ "spec": { "ports": [
            { "port": 80, "protocol": "TCP" }, { "port": 53, "protocol": "UDP" },
        ] } }),
    );
    check(
        "prefixes.ipam.ironcore.dev",
        &json!({ "spec": { "prefix": "10.0.0.0/8" } }),
        &json!({
            "spec": { "prefix": "10.0.0.0/8" },
            "status": { "phase": "Pending", "observedGeneration": -1 },
        }),
    );
}
