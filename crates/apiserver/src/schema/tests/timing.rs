//! What judging costs, told and never judged: `cargo test --release -- --ignored --nocapture timing`.

use std::hint::black_box;
use std::time::Instant;

use serde_json::{Value, json};

use super::super::{Schema, Validator, default, prune};

/// A machine of some 2.5 KB as it is stored, of which a part is metadata.
pub(super) fn machine() -> Value {
    let key = "AAAAC3NzaC1lZDI1NTE5AAAAI".repeat(3);
    json!({
        "apiVersion": "vitistack.io/v1alpha1",
        "kind": "Machine",
        "metadata": {"name": "web-1", "namespace": "default", "labels": {"app": "bench"}},
        "spec": {
            "name": "web-1",
            "instanceType": "medium",
            "cpu": {"cores": 4, "sockets": 1, "threadsPerCore": 1},
            "memory": 8_589_934_592_i64,
            "os": {
                "family": "linux", "distribution": "debian", "version": "12",
                "architecture": "amd64", "imageID": "debian-12-generic-amd64",
            },
            "disks": [
                {"name": "root", "sizeGB": 20, "boot": true},
                {"name": "data", "sizeGB": 100},
            ],
            "providerConfig": {"name": "sim", "region": "local"},
            "sshKeys": [format!("ssh-ed25519 {key} someone@example.org")],
            "userData": "#cloud-config\npackages: [curl, jq]\n",
            "tags": {"owner": "team-a", "cost-center": "1234"},
        },
    })
}

/// The schema of machines in their stored version.
pub(super) fn schema() -> Schema {
    let crd = include_str!("../../../../../crds/vitistack.io_machines.yaml");
    let crd: Value = serde_saphyr::from_str(crd).unwrap();
    let versions = crd["spec"]["versions"].as_array().unwrap();
    let version = versions.iter().find(|v| v["name"] == "v1alpha1").unwrap();
    Schema::from_value(&version["schema"]["openAPIV3Schema"]).unwrap()
}

#[test]
#[ignore = "measures"]
fn timing() {
    let schema = schema();
    let validator = Validator::new(schema.clone()).unwrap();
    let mut object = machine();
    default(&schema, &mut object);
    assert!(validator.validate(&object, None).is_empty());

    let each = |what: &str, act: &mut dyn FnMut()| {
        const TIMES: u32 = 20_000;
        let mut best = f64::MAX;
        for _ in 0..5 {
            let began = Instant::now();
            (0..TIMES).for_each(|_| act());
            best = best.min(began.elapsed().as_secs_f64() * 1e6 / f64::from(TIMES));
        }
        println!("{what}: {best:.2} µs");
    };
    let mut again = object.clone();
    each("prune", &mut || drop(black_box(prune(&schema, &mut again))));
    each("default", &mut || default(&schema, &mut again));
    each("settle, instead of both", &mut || {
        black_box(validator.settle(&mut again));
    });
    each("validate", &mut || {
        drop(black_box(validator.validate(&object, None)));
    });
    each("validate an update", &mut || {
        drop(black_box(validator.validate(&object, Some(&object))));
    });
}
