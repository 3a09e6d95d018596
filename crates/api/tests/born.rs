//! What every new object of IronCore's and KupenStack's kinds has as its status: nobody has looked at it yet.
//!
//! What their specs fill in is in the table of cases.
#![allow(
    clippy::unwrap_used,
    reason = "a failed assumption in a test is a failed test"
)]

use kube_cel::apply_defaults;
use serde_json::{Value, json};

#[test]
fn a_new_object_says_that_nobody_has_looked_at_it() {
    let crds = machinist_api::crds();
    for (name, expected) in [
        (
            "virtualmachines.kupenstack.io",
            json!({ "phase": "Pending", "restartCount": 0, "observedGeneration": -1 }),
        ),
        (
            "virtualnetworks.kupenstack.io",
            json!({ "ready": false, "gatewayName": "none", "observedGeneration": -1 }),
        ),
        (
            "machines.compute.ironcore.dev",
            json!({ "state": "Pending", "observedGeneration": -1 }),
        ),
        (
            "machinepools.compute.ironcore.dev",
            json!({ "state": "Pending", "observedGeneration": -1 }),
        ),
        (
            "prefixes.ipam.ironcore.dev",
            json!({ "phase": "Pending", "observedGeneration": -1 }),
        ),
    ] {
        let crd = crds
            .iter()
            .find(|crd| crd.metadata.name.as_deref() == Some(name));
        let schema = crd.unwrap().spec.versions[0].schema.as_ref().unwrap();
        let schema: Value = serde_json::to_value(&schema.open_api_v3_schema).unwrap();
        let stored = apply_defaults(&schema, &json!({ "spec": {} }));
        assert_eq!(stored["status"], expected, "{name}");
    }
}
