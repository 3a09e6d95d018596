//! The cases in `tests/cases`, as far as CEL decides them; the schema's part needs a server.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failed assumption in a test is a failed test"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use kube_cel::{CompiledSchema, Validator, apply_defaults, compile_schema};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    kind: String,
    expect: Expect,
    by: Option<By>,
    /// The object as it was before, when the case is about a change.
    was: Option<Value>,
    manifest: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Expect {
    Accept,
    Reject(String),
}

#[derive(Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum By {
    Cel,
    Schema,
}

struct Kind {
    schema: Value,
    compiled: CompiledSchema,
}

fn kinds() -> BTreeMap<String, Kind> {
    machinist_api::crds()
        .into_iter()
        .map(|crd| {
            let schema = &crd.spec.versions[0]
                .schema
                .as_ref()
                .unwrap()
                .open_api_v3_schema;
            let schema = serde_json::to_value(schema).unwrap();
            let compiled = compile_schema(&schema);
            assert!(
                !compiled.has_errors(),
                "{:?}",
                compiled.compilation_errors()
            );
            let version = &crd.spec.versions[0].name;
            let name = format!("{}/{version} {}", crd.spec.group, crd.spec.names.kind);
            (name, Kind { schema, compiled })
        })
        .collect()
}

/// The name by which a manifest's kind is found: one kind name may be in several groups.
fn kind_of(manifest: &Value) -> String {
    let text = |key: &str| manifest[key].as_str().unwrap().to_owned();
    format!("{} {}", text("apiVersion"), text("kind"))
}

/// Every file below a folder of the tests, by its path.
fn files(folder: &str) -> Vec<(PathBuf, String)> {
    let mut folders = vec![
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests")
            .join(folder),
    ];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let text = fs::read_to_string(&path).unwrap();
                found.push((path, text));
            }
        }
    }
    found.sort();
    found
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (path, text) in files("cases") {
        let read: Vec<Case> = serde_saphyr::from_str(&text)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        cases.extend(read);
    }
    cases
}

/// What CEL has against a manifest, all messages in one text; none if a rule needs a function that
/// only a server has and nothing else speaks against the manifest.
fn objections(kind: &Kind, manifest: &Value, was: Option<&Value>) -> Option<String> {
    let manifest = apply_defaults(&kind.schema, manifest);
    let was = was.map(|was| apply_defaults(&kind.schema, was));
    let Err(errors) = Validator::new().validate_compiled(&kind.compiled, &manifest, was.as_ref())
    else {
        return Some(String::new());
    };
    let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
    let (foreign, found): (Vec<String>, Vec<String>) = errors
        .into_iter()
        .partition(|error| error.contains("this kube-cel build does not support"));
    (foreign.is_empty() || !found.is_empty()).then(|| found.join("; "))
}

#[test]
fn cel_decides_as_the_cases_say() {
    let kinds = kinds();
    let mut wrong = Vec::new();
    let mut decided = 0;
    for case in cases() {
        assert_eq!(case.manifest["kind"], case.kind, "{}", case.name);
        let kind = &kinds[&kind_of(&case.manifest)];
        if let Some(was) = &case.was {
            let said = objections(kind, was, None).unwrap_or_default();
            assert_eq!(said, "", "{}: what was is refused", case.name);
        }
        let Some(said) = objections(kind, &case.manifest, case.was.as_ref()) else {
            continue;
        };
        let right = match (&case.expect, &case.by) {
            (Expect::Accept, None) => said.is_empty(),
            (Expect::Reject(message), Some(By::Cel)) => said.contains(message.as_str()),
            (Expect::Reject(_), Some(By::Schema)) => continue,
            _ => panic!("{}: `by` goes with reject, and reject with `by`", case.name),
        };
        decided += 1;
        if !right {
            wrong.push(format!("{} {}: {said:?}", case.kind, case.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(decided > 150, "only {decided} cases were decided");
}

#[test]
fn cel_accepts_every_documented_manifest() {
    let kinds = kinds();
    for (path, text) in files("manifests") {
        let manifest: Value = serde_saphyr::from_str(&text).unwrap();
        let said = objections(&kinds[&kind_of(&manifest)], &manifest, None).unwrap_or_default();
        assert_eq!(said, "", "{}", path.display());
    }
}

#[test]
fn defaults_appear_only_where_they_belong() {
    let kinds = kinds();
    let machine = &kinds["vitistack.io/v1alpha1 Machine"].schema;
    let plain = serde_json::json!({ "spec": { "providerRef": { "name": "p" } } });
    let defaulted = apply_defaults(machine, &plain);
    assert_eq!(
        defaulted["spec"],
        serde_json::json!({ "providerRef": { "name": "p" }, "powerState": "Running" })
    );
    let with_cpu = serde_json::json!({ "spec": { "resources": { "cpu": { "cores": 4 } } } });
    assert_eq!(
        apply_defaults(machine, &with_cpu)["spec"]["resources"]["cpu"],
        serde_json::json!({ "cores": 4, "threads": 1, "sockets": 1 })
    );
}
