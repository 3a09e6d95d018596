//! The page that says who acts on a field has every field, no other, and marks as without effect what
//! its writer is warned of.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failed assumption in a test is a failed test"
)]

use std::{collections::BTreeSet, fs, path::PathBuf};

use machinist_api::{admission::without_effect, crds::crds};
use serde_json::Value;

const NOTHING: &str = "**nothing yet**";

/// Every leaf of a schema, with `[]` for the items of a list.
fn leaves(path: &str, schema: &Value, found: &mut BTreeSet<String>) {
    let items = &schema["items"];
    if items["properties"].is_object() {
        return leaves(&format!("{path}[]"), items, found);
    }
    let Some(fields) = schema["properties"].as_object() else {
        found.insert(path.to_owned());
        return;
    };
    for (name, field) in fields {
        let below = match path {
            "" => name.clone(),
            path => format!("{path}.{name}"),
        };
        leaves(&below, field, found);
    }
}

fn fields(kind: &str) -> BTreeSet<String> {
    let crds = crds();
    let of = |crd: &&_| -> bool {
        let crd: &k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition = crd;
        crd.spec.group == "vitistack.io" && crd.spec.names.kind == kind
    };
    let crd = crds.iter().find(of).expect("the kind");
    let versions = crd.spec.versions.iter();
    let version = versions.clone().find(|version| version.name == "v1alpha1");
    let schema = serde_json::to_value(version.expect("the version")).unwrap();
    let spec = &schema["schema"]["openAPIV3Schema"]["properties"]["spec"];
    let mut found = BTreeSet::new();
    leaves("", spec, &mut found);
    found
}

/// The rows of a kind: the fields that it names, and what is said of them.
fn rows(kind: &str) -> Vec<(String, String)> {
    let page = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/fields.md");
    let page = fs::read_to_string(page).unwrap();
    let section = page.split("\n## ").find(|part| part.starts_with(kind));
    let lines = section.expect("a section").lines();
    let cells = lines.filter_map(|line| line.strip_prefix("| ")?.split_once(" | "));
    cells
        .flat_map(|(fields, said)| {
            let names = fields.split('`').skip(1).step_by(2);
            names.map(|name| (name.to_owned(), said.to_owned()))
        })
        .collect()
}

fn covers(row: &str, field: &str) -> bool {
    let rest = field.strip_prefix(row);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

#[test]
fn the_page_says_of_every_field_who_acts_on_it() {
    for kind in ["MachineProvider", "Vitistack"] {
        let (fields, rows) = (fields(kind), rows(kind));
        assert!(fields.len() > 50, "{kind}: {fields:?}");
        for field in &fields {
            let told = rows.iter().any(|(row, _)| covers(row, field));
            assert!(
                told,
                "{kind}: docs/fields.md does not say who acts on spec.{field}"
            );
        }
        for (row, _) in rows.iter().filter(|(row, _)| row != "config") {
            let there = fields.iter().any(|field| covers(row, field));
            assert!(
                there || !row.contains('.'),
                "{kind}: there is no spec.{row}"
            );
        }
    }
}

#[test]
fn what_is_marked_as_without_effect_is_what_is_warned_of() {
    for kind in ["MachineProvider", "Vitistack"] {
        let marked: BTreeSet<String> = rows(kind)
            .into_iter()
            .filter(|(_, said)| said.starts_with(NOTHING))
            .map(|(row, _)| row)
            .collect();
        let warned: BTreeSet<String> = without_effect(kind)
            .iter()
            .map(|path| (*path).to_owned())
            .collect();
        assert_eq!(marked, warned, "{kind}");
        let fields = fields(kind);
        for path in &warned {
            assert!(
                fields.iter().any(|field| covers(path, field)),
                "{kind}: there is no spec.{path}"
            );
        }
    }
}
