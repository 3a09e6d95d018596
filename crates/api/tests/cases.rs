//! The cases in `tests/cases`, as far as CEL decides them; the schema's part needs a server.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failed assumption in a test is a failed test"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

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
            (crd.spec.names.kind, Kind { schema, compiled })
        })
        .collect()
}

fn cases(folder: &str) -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(folder);
    let mut cases = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let read: Vec<Case> = serde_saphyr::from_str(&text)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        cases.extend(read);
    }
    cases
}

/// What CEL has against a manifest, all messages in one text.
fn objections(kind: &Kind, manifest: &Value) -> String {
    let manifest = apply_defaults(&kind.schema, manifest);
    match Validator::new().validate_compiled(&kind.compiled, &manifest, None) {
        Ok(()) => String::new(),
        Err(errors) => errors.to_string(),
    }
}

#[test]
fn cel_decides_as_the_cases_say() {
    let kinds = kinds();
    let mut wrong = Vec::new();
    let mut decided = 0;
    for case in cases("cases") {
        let said = objections(&kinds[&case.kind], &case.manifest);
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
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/manifests");
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let manifest: Value = serde_saphyr::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let said = objections(&kinds[manifest["kind"].as_str().unwrap()], &manifest);
        assert_eq!(said, "", "{}", path.display());
    }
}

#[test]
fn defaults_appear_only_where_they_belong() {
    let kinds = kinds();
    let machine = &kinds["Machine"].schema;
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
