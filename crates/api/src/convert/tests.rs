//! The tables of concepts are complete: no field of either version is forgotten.
#![allow(
    clippy::unwrap_used,
    reason = "a failed assumption in a test is a failed test"
)]

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::concept::KindTable;
use super::{convert, machine, machine_provider};

/// The schema of each field of a part, by version.
fn fields(kind: &str, part: &str) -> [BTreeMap<String, Value>; 2] {
    let crds = crate::crds();
    let crd = crds
        .iter()
        .find(|crd| crd.spec.names.kind == kind && crd.spec.group == super::GROUP)
        .unwrap();
    ["v1alpha1", "v1beta1"].map(|name| {
        let mut versions = crd.spec.versions.iter();
        let version = versions.find(|version| version.name == name).unwrap();
        let schema = serde_json::to_value(&version.schema).unwrap();
        let properties = &schema["openAPIV3Schema"]["properties"][part]["properties"];
        let mut properties = properties.clone();
        without_sentences(&mut properties);
        properties
            .as_object()
            .unwrap()
            .clone()
            .into_iter()
            .collect()
    })
}

/// Sentences may differ from version to version.
fn without_sentences(schemas: &mut Value) {
    for schema in schemas.as_object_mut().unwrap().values_mut() {
        schema.as_object_mut().unwrap().remove("description");
    }
}

/// A field that no concept names must be the same in both versions, or a server would prune it.
#[test]
fn every_field_belongs_to_a_concept_or_is_the_same_in_both_versions() {
    let tables: [(&str, &KindTable); 2] = [
        ("Machine", &machine::TABLE),
        ("MachineProvider", &machine_provider::TABLE),
    ];
    let mut wrong = Vec::new();
    for (kind, table) in tables {
        let mut names = BTreeSet::new();
        for concept in table.concepts() {
            assert!(
                names.insert((concept.part, concept.name)),
                "{}",
                concept.name
            );
        }
        for part in ["spec", "status"] {
            let versions = fields(kind, part);
            let concepts: Vec<_> = table.concepts().filter(|c| c.part == part).collect();
            for (at, version) in ["v1alpha1", "v1beta1"].into_iter().enumerate() {
                let named: Vec<_> = concepts.iter().flat_map(|c| c.keys(version)).collect();
                let unique: BTreeSet<_> = named.iter().collect();
                assert_eq!(
                    named.len(),
                    unique.len(),
                    "{kind} {part}: a field of two concepts"
                );
                for (field, schema) in &versions[at] {
                    let same = versions[1 - at].get(field) == Some(schema);
                    if !same && !named.contains(&&field.as_str()) {
                        wrong.push(format!("{kind} {version} {part}.{field}: no concept"));
                    }
                }
                for field in named {
                    if !versions[at].contains_key(*field) {
                        wrong.push(format!("{kind} {version} {part}.{field}: no such field"));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_cannot_be_converted_says_why() {
    for (object, version, why) in [
        (
            json!(1),
            "vitistack.io/v1beta1",
            "cannot convert a value: it has no apiVersion",
        ),
        (
            json!({"apiVersion": "vitistack.io/v1alpha1", "kind": "LoadBalancer"}),
            "vitistack.io/v1beta1",
            "cannot convert the kind LoadBalancer; only Machine and MachineProvider have two versions",
        ),
        (
            json!({"apiVersion": "vitistack.io/v1alpha1", "kind": "Machine"}),
            "vitistack.io/v2",
            "\"vitistack.io/v2\" is not a version of Machine; there are vitistack.io/v1alpha1 and vitistack.io/v1beta1",
        ),
        (
            json!({"apiVersion": "other.io/v1alpha1", "kind": "Machine"}),
            "vitistack.io/v1beta1",
            "\"other.io/v1alpha1\" is not a version of Machine; there are vitistack.io/v1alpha1 and vitistack.io/v1beta1",
        ),
    ] {
        assert_eq!(convert(&object, version).unwrap_err().to_string(), why);
    }
}
