//! Conversion loses nothing: laws over arbitrary objects of every documented shape, both ways.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failed assumption in a test is a failed test"
)]

#[path = "support/arbitrary.rs"]
mod arbitrary;

use arbitrary::{Dice, schema, whole};
use machinist_api::convert::convert;
use proptest::prelude::*;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::sync::LazyLock;

const ALPHA: &str = "vitistack.io/v1alpha1";
const BETA: &str = "vitistack.io/v1beta1";

/// Fields that only another shape has.
fn not_in(shape: &str) -> &'static [&'static str] {
    match shape {
        "A" => &[
            "providerRef",
            "resources",
            "storage",
            "networking",
            "operatingSystem",
            "cloudInit",
            "boot",
            "provider",
            "machineClass",
            "machineType",
            "endpoint",
            "credentials",
            "templates",
            "capacity",
            "providerType",
            "displayName",
            "zones",
            "network",
            "compute",
            "defaultTags",
        ],
        "B" => &[
            "providerConfig",
            "cpu",
            "memory",
            "disks",
            "network",
            "os",
            "userData",
            "provider",
            "machineClass",
            "machineType",
            "authentication",
            "networkConfig",
            "storageConfig",
            "computeConfig",
            "capabilities",
            "region",
            "availabilityZones",
            "providerType",
            "displayName",
            "zones",
            "compute",
            "defaultTags",
        ],
        "C" => &[
            "providerRef",
            "resources",
            "storage_",
            "networking",
            "operatingSystem",
            "boot",
            "type",
            "availabilityZones",
            "credentials",
            "templates",
            "capacity",
            "networkConfig",
            "storageConfig",
            "computeConfig",
        ],
        _ => &[],
    }
}

static SCHEMAS: LazyLock<[(&str, [Value; 2]); 2]> = LazyLock::new(|| {
    ["Machine", "MachineProvider"].map(|kind| {
        (
            kind,
            ["v1alpha1", "v1beta1"].map(|version| schema(kind, version)),
        )
    })
});

fn object(kind: &str, version: &str, shape: &str, seed: u64, density: usize) -> Value {
    let (_, schemas) = SCHEMAS.iter().find(|(name, _)| *name == kind).unwrap();
    let schema = &schemas[usize::from(version == "v1beta1")];
    let mut dice = Dice(seed);
    // A machine's network is in shape A and C, a provider's in C alone.
    let wanted = |field: &str| {
        let network_of_a = kind == "Machine" && shape == "A" && field == "network";
        network_of_a || !not_in(shape).contains(&field)
    };
    whole(kind, version, schema, &mut dice, density, wanted)
}

/// There and back is where it was, metadata and status included.
fn round_trip(object: &Value, by: &str) -> Result<(), TestCaseError> {
    let from = object["apiVersion"].as_str().unwrap();
    let there = convert(object, by).unwrap();
    prop_assert_eq!(&there["apiVersion"], by);
    let back = convert(&there, from).unwrap();
    prop_assert_eq!(&back, object, "by way of {:#}", there);
    // What is kept is what was there and little beside it, so an object that a server took before
    // has annotations that it takes.
    let (_, kept) = by.split_once('/').unwrap();
    let kept = if kept == "v1beta1" {
        "v1alpha1"
    } else {
        "v1beta1"
    };
    let kept = &there["metadata"]["annotations"][format!("conversion.vitistack.io/{kept}")];
    let (kept, whole) = (
        kept.as_str().unwrap_or_default().len(),
        object.to_string().len(),
    );
    prop_assert!(kept <= whole + 4096, "{} kept of {}", kept, whole);
    // What other fields of metadata say is not ours.
    for field in [
        "name",
        "uid",
        "labels",
        "finalizers",
        "ownerReferences",
        "generation",
    ] {
        prop_assert_eq!(&there["metadata"][field], &object["metadata"][field]);
    }
    if let Some(note) = object["metadata"]["annotations"].get("example.com/note") {
        prop_assert_eq!(&there["metadata"]["annotations"]["example.com/note"], note);
    }
    // Once there, to and fro changes nothing more.
    let again = convert(&convert(&there, from).unwrap(), by).unwrap();
    prop_assert_eq!(again, there);
    Ok(())
}

/// What a version's schema knows can be read into its types; what is pruned would be lost.
fn readable<K: DeserializeOwned>(object: &Value) -> Result<(), TestCaseError> {
    let read: Result<K, _> = serde_json::from_value(object.clone());
    prop_assert!(read.is_ok(), "{:?} in {:#}", read.err(), object);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_machine_of_any_shape_survives_v1beta1(
        shape in prop::sample::select(vec!["A", "B", "C", "all at once"]),
        seed in any::<u64>(), density in 0_usize..90,
    ) {
        let machine = object("Machine", "v1alpha1", shape, seed, density);
        round_trip(&machine, BETA)?;
        readable::<machinist_api::vitistack::v1beta1::Machine>(&convert(&machine, BETA).unwrap())?;
    }

    #[test]
    fn a_machine_of_v1beta1_survives_v1alpha1(seed in any::<u64>(), density in 0_usize..90) {
        let machine = object("Machine", "v1beta1", "all", seed, density);
        round_trip(&machine, ALPHA)?;
        readable::<machinist_api::vitistack::Machine>(&convert(&machine, ALPHA).unwrap())?;
    }

    #[test]
    fn a_provider_of_any_shape_survives_v1beta1(
        shape in prop::sample::select(vec!["A", "B", "C", "all at once"]),
        seed in any::<u64>(), density in 0_usize..90,
    ) {
        let provider = object("MachineProvider", "v1alpha1", shape, seed, density);
        round_trip(&provider, BETA)?;
        readable::<machinist_api::vitistack::v1beta1::MachineProvider>(
            &convert(&provider, BETA).unwrap(),
        )?;
    }

    #[test]
    fn a_provider_of_v1beta1_survives_v1alpha1(seed in any::<u64>(), density in 0_usize..90) {
        let provider = object("MachineProvider", "v1beta1", "all", seed, density);
        round_trip(&provider, ALPHA)?;
        readable::<machinist_api::vitistack::MachineProvider>(&convert(&provider, ALPHA).unwrap())?;
    }

    /// Whatever lies under the keys of an object, conversion neither fails nor panics.
    #[test]
    fn odd_values_are_carried_over(seed in any::<u64>(), at in 0_usize..40, odd in 0_usize..6) {
        let mut machine = object("Machine", "v1alpha1", "all at once", seed, 80);
        let odd = [json!(null), json!([]), json!({}), json!(7), json!("x"), json!([1, {"a": null}])][odd].clone();
        let spec = machine["spec"].as_object_mut().unwrap();
        let keys: Vec<String> = spec.keys().cloned().collect();
        if let Some(key) = keys.get(at % keys.len().max(1)) {
            spec.insert(key.clone(), odd);
        }
        round_trip(&machine, BETA)?;
    }
}

/// The fuzzer's corpus, and the door of the fuzzer on stable Rust.
#[test]
fn documented_manifests_pass_the_fuzzers_door() {
    let corpus =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/manifest");
    let mut seen = 0;
    for entry in std::fs::read_dir(corpus).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        for end in (0..bytes.len()).step_by(7) {
            // Cut short, and with a byte changed.
            machinist_api::fuzzing::manifest(&bytes[..end]);
            let mut changed = bytes.clone();
            changed[end] = b"{}[]:-#0\"\n"[end % 10];
            machinist_api::fuzzing::manifest(&changed);
        }
        seen += 1;
    }
    assert!(seen > 3, "only {seen} in the corpus");
}

fn machine(version: &str, spec: Value) -> Value {
    json!({ "apiVersion": version, "kind": "Machine", "metadata": { "name": "web" }, "spec": spec })
}

/// (v1alpha1 spec, v1beta1 spec): the first becomes the second.
#[test]
fn each_shape_becomes_the_one_shape() {
    for (alpha, beta) in [
        (
            json!({"name": "web", "providerConfig": {"name": "aws", "region": "us-west-2", "zone": "a", "config": {"tenancy": "default"}, "credentialsRef": {"secretName": "s"}}}),
            json!({"displayName": "web", "providerSelector": {"type": "aws", "region": "us-west-2"}, "zone": "a", "parameters": {"tenancy": "default"}, "credentialsRef": {"name": "s"}}),
        ),
        (
            json!({"providerRef": {"apiVersion": ALPHA, "kind": "MachineProvider", "name": "p", "namespace": "n"}}),
            json!({"providerRef": {"name": "p", "namespace": "n"}}),
        ),
        (
            json!({"cpu": {"cores": 4, "threadsPerCore": 2}, "memory": 8589934592_u64}),
            json!({"resources": {"cpu": {"cores": 4, "threadsPerCore": 2}, "memory": "8Gi"}}),
        ),
        (
            json!({"resources": {"cpu": {"cores": 4, "threads": 2, "sockets": 1}, "memory": {"size": "8Gi"}, "gpu": {"type": "nvidia", "count": 1, "model": "A100"}}}),
            json!({"resources": {"cpu": {"cores": 4, "threadsPerCore": 2, "sockets": 1}, "memory": "8Gi", "gpus": [{"vendor": "nvidia", "count": 1, "model": "A100"}]}}),
        ),
        (
            json!({"disks": [{"name": "root", "sizeGB": 20, "type": "gp3", "boot": true, "encrypted": true, "iops": 3000, "throughput": 125}, {"name": "d", "boot": false}]}),
            json!({"disks": [{"name": "root", "size": "20Gi", "class": "gp3", "role": "Boot", "encrypted": true, "iops": 3000, "throughputMBps": 125}, {"name": "d", "role": "Data"}]}),
        ),
        (
            json!({"storage": {"rootVolume": {"size": "20Gi", "storageClass": "fast", "type": "ssd"}, "dataVolumes": [{"name": "data", "size": "1Ti", "mountPath": "/data"}]}}),
            json!({"disks": [{"name": "root", "role": "Boot", "size": "20Gi", "class": "fast", "medium": "ssd"}, {"name": "data", "role": "Data", "size": "1Ti", "mountPath": "/data"}]}),
        ),
        (
            json!({"network": {"vpc": "vpc-1", "subnet": "s-1", "assignPublicIP": true, "privateIP": "10.0.1.100", "interfaces": [{"name": "eth0", "primary": true, "subnet": "s-2", "securityGroups": ["sg"]}]}}),
            json!({"network": {"id": "vpc-1", "subnet": "s-1"}, "interfaces": [{"name": "eth0", "primary": true, "subnet": "s-2", "securityGroups": ["sg"], "ipAddress": "10.0.1.100", "publicAddress": {"assign": true}}]}),
        ),
        (
            json!({"networking": {"interfaces": [{"name": "eth0", "networkRef": {"name": "prod"}, "macAddress": "52:54:00:12:34:56"}]}}),
            json!({"interfaces": [{"name": "eth0", "networkRef": {"name": "prod"}, "macAddress": "52:54:00:12:34:56"}]}),
        ),
        (
            json!({"os": {"family": "linux", "distribution": "ubuntu", "version": "22.04", "architecture": "x86_64", "imageID": "ami-1"}}),
            json!({"os": {"type": "linux", "distribution": "ubuntu", "version": "22.04", "architecture": "amd64"}, "image": {"id": "ami-1"}}),
        ),
        (
            json!({"operatingSystem": {"type": "freebsd", "image": {"source": "template", "url": "fbsd-14"}}}),
            json!({"os": {"type": "freebsd"}, "image": {"template": "fbsd-14"}}),
        ),
        (
            json!({"userData": "#!/bin/sh", "sshKeys": ["k"]}),
            json!({"cloudInit": {"type": "noCloud", "userData": "#!/bin/sh"}, "sshKeys": ["k"]}),
        ),
    ] {
        let up = convert(&machine(ALPHA, alpha), BETA).unwrap();
        assert_eq!(up["spec"], beta);
    }
}

/// What was kept is put back, except where the object was changed: there the change wins.
#[test]
fn a_change_wins_over_what_was_kept() {
    let spec = json!({
        "providerRef": { "name": "p" },
        "resources": { "cpu": { "cores": 2, "threads": 1, "sockets": 1 }, "memory": { "size": "4Gi" } },
        "storage": { "rootVolume": { "size": "20Gi", "type": "ssd" } },
    });
    let mut beta = convert(&machine(ALPHA, spec.clone()), BETA).unwrap();
    beta["spec"]["resources"]["memory"] = "8Gi".into();
    beta["metadata"]["annotations"]["example.com/note"] = "new".into();
    let alpha = convert(&beta, ALPHA).unwrap();
    assert_eq!(alpha["spec"]["memory"], 8_589_934_592_u64, "{alpha:#}");
    assert_eq!(
        alpha["spec"]["cpu"],
        json!({"cores": 2, "threadsPerCore": 1, "sockets": 1})
    );
    assert!(alpha["spec"].get("resources").is_none());
    assert_eq!(
        alpha["spec"]["storage"], spec["storage"],
        "nobody changed the disks"
    );
    assert_eq!(
        alpha["metadata"]["annotations"],
        json!({"example.com/note": "new"})
    );
}

/// An annotation that somebody wrote by hand is not trusted with fields of other concepts.
#[test]
fn a_forged_annotation_changes_nothing() {
    for forged in [
        "",
        "{",
        "[]",
        r#"{"spec.disks":{"of":"","was":{}}}"#,
        r#"{"spec.disks":{"of":"44136fa355b3678a","was":{"powerState":"Stopped"}}}"#,
    ] {
        let mut beta = machine(
            BETA,
            json!({"providerRef": {"name": "p"}, "powerState": "Running"}),
        );
        beta["metadata"]["annotations"] = json!({ "conversion.vitistack.io/v1alpha1": forged });
        let alpha = convert(&beta, ALPHA).unwrap();
        assert_eq!(
            alpha["spec"],
            json!({"providerRef": {"name": "p"}, "powerState": "Running"})
        );
        assert!(alpha["metadata"].get("annotations").is_none(), "{alpha:#}");
    }
}
