//! The committed reference is that of the types, has a page for every kind, and every field has a sentence.
#![allow(
    clippy::unwrap_used,
    reason = "a failed assumption in a test is a failed test"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use machinist_api::crds;
use machinist_api::reference::{Example, INDEX, field_rules, fields, pages};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The files of a folder with this ending: name and text, in the order of their names.
fn texts(folder: &str, ending: &str) -> Vec<Example> {
    let mut found: Vec<Example> = fs::read_dir(root().join(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|found| found == ending))
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, fs::read_to_string(path).unwrap())
        })
        .collect();
    found.sort();
    found
}

#[test]
fn committed_pages_are_up_to_date() {
    let wanted: BTreeMap<_, _> = pages(&crds(), &texts("crates/api/tests/manifests", "yaml"))
        .into_iter()
        .collect();
    let present: BTreeMap<_, _> = texts("docs/reference", "md").into_iter().collect();
    let stale: Vec<_> = wanted
        .keys()
        .chain(present.keys())
        .filter(|name| wanted.get(*name) != present.get(*name))
        .collect();
    assert!(
        stale.is_empty(),
        "{stale:?} in docs/reference are out of date; run `make generate`"
    );
}

#[test]
fn every_field_of_every_kind_has_a_sentence() {
    let mut without = Vec::new();
    let mut seen = 0;
    for crd in crds() {
        for version in &crd.spec.versions {
            let schema = version.schema.as_ref().unwrap();
            for field in fields(schema.open_api_v3_schema.as_ref().unwrap()) {
                let sentence = field.description.trim();
                if !sentence.ends_with('.') || sentence.len() < 8 {
                    without.push(format!(
                        "{} {} {}: {sentence:?}",
                        crd.spec.names.kind, version.name, field.path
                    ));
                }
                seen += 1;
            }
        }
    }
    assert!(
        without.is_empty(),
        "no sentence that ends in a full stop:\n{}",
        without.join("\n")
    );
    assert!(seen > 350, "only {seen} fields were seen");
}

#[test]
fn a_page_shows_fields_rules_columns_and_an_example() {
    let pages: BTreeMap<_, _> = pages(&crds(), &texts("crates/api/tests/manifests", "yaml"))
        .into_iter()
        .collect();
    let page = &pages["vitistack.io_machines_v1alpha1.md"];
    for part in [
        "# Machine (vitistack.io/v1alpha1)\n",
        "| short names | `m` |\n",
        "| `spec.disks[].sizeGB` | integer |  |  | 1 to 65536 | Size in GB (1-65536), counted as binary gigabytes. |\n",
        "| `spec.disks[].name` | string | yes |  | 1 to 63 characters | ",
        "| `spec.powerState` | string |  | `\"Running\"` | `Running`, `Stopped` |",
        "| `spec.tags` | map of string |",
        "spec.cpu and spec.resources.cpu say the same thing in two forms",
        "| Phase | `kubectl get` | `.status.phase` |\n",
        "\n## Example\n\n```yaml\n",
    ] {
        assert!(page.contains(part), "{part:?} is not on the page");
    }
    assert!(pages[INDEX].contains("| [Machine](vitistack.io_machines_v1alpha1.md) |"));
}

#[test]
fn every_rule_has_a_message() {
    for crd in crds() {
        for version in &crd.spec.versions {
            let schema = version.schema.as_ref().unwrap();
            for rule in field_rules(schema.open_api_v3_schema.as_ref().unwrap()) {
                assert_ne!(
                    rule.message, "must hold",
                    "{}: {rule:?}",
                    crd.spec.names.kind
                );
            }
        }
    }
}
