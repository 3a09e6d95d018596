//! The committed CRDs and editor schemas are those that the types say, and Kubernetes accepts them.
#![allow(
    clippy::unwrap_used,
    reason = "a failed assumption in a test is a failed test"
)]

use std::fs;
use std::path::PathBuf;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use machinist_api::crds::{
    CrdOptions, crd_file_name, crd_from_yaml, crd_yaml, crds, crds_with, editor_schema, sanitize,
    violations,
};
use serde_json::{Value, json};

fn committed(folder: &str, name: &str) -> String {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    fs::read_to_string(root.join(folder).join(name)).unwrap()
}

#[test]
fn committed_crds_are_up_to_date() {
    for crd in crds() {
        let name = crd_file_name(&crd);
        assert!(
            committed("crds", &name) == crd_yaml(&crd).unwrap(),
            "{name} is out of date; run `make manifests`"
        );
    }
}

#[test]
fn committed_editor_schemas_are_up_to_date() {
    for crd in crds() {
        for (name, schema) in editor_schema(&crd).unwrap() {
            let present: Value = serde_json::from_str(&committed("schemas", &name)).unwrap();
            assert!(
                present == schema,
                "{name} is out of date; run `make generate`"
            );
        }
    }
}

#[test]
fn nothing_is_foreign_to_kubernetes() {
    for crd in crds() {
        assert_eq!(violations(&crd), Vec::<String>::new());
    }
}

#[test]
fn yaml_holds_the_whole_crd() {
    for crd in crds() {
        assert_eq!(crd_from_yaml(&crd_yaml(&crd).unwrap()).unwrap(), crd);
    }
}

/// One line a kind: its columns, those of `-o wide` in parentheses.
#[test]
fn columns_are_the_documented_ones() {
    let mut lines = String::new();
    for crd in crds() {
        let columns = crd.spec.versions[0].additional_printer_columns.as_ref();
        let columns: Vec<String> = columns
            .unwrap()
            .iter()
            .map(|column| match column.priority {
                Some(1) => format!("({})", column.name),
                _ => column.name.clone(),
            })
            .collect();
        let name = crd.metadata.name.as_ref().unwrap();
        lines += &format!("{name}: {}\n", columns.join(" "));
    }
    assert_eq!(lines, committed("crates/api/tests", "columns.txt"));
}

/// The short names, which must not be KubeVirt's, but for the one that is documented.
#[test]
fn the_short_name_vm_can_be_left_to_kubevirt() {
    let kubevirt = [
        "vm",
        "vms",
        "vmi",
        "vmis",
        "vmirs",
        "vmim",
        "kv",
        "vmpool",
        "vmsnapshot",
    ];
    let taken = |options: CrdOptions| -> Vec<String> {
        let crds = crds_with(options).into_iter();
        let names = crds.flat_map(|crd| crd.spec.names.short_names.unwrap_or_default());
        names
            .filter(|name| kubevirt.contains(&name.as_str()))
            .collect()
    };
    assert_eq!(taken(CrdOptions::default()), ["vm"]);
    let options = CrdOptions {
        without_vm_short_name: true,
    };
    assert_eq!(taken(options), Vec::<String>::new());
}

fn crd_with(property: Value) -> CustomResourceDefinition {
    serde_json::from_value(json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": "things.example.com" },
        "spec": {
            "group": "example.com",
            "names": { "kind": "Thing", "plural": "things" },
            "scope": "Namespaced",
            "versions": [{ "name": "v1", "served": true, "storage": true, "schema": {
                "openAPIV3Schema": { "type": "object", "properties": { "field": property } },
            } }],
        },
    }))
    .unwrap()
}

#[test]
fn sanitizing_rewrites_foreign_integers_once() {
    for (given, wanted) in [
        (
            json!({ "type": "integer", "format": "uint32" }),
            json!({ "type": "integer", "minimum": 0.0 }),
        ),
        (
            json!({ "type": "integer", "format": "uint8", "minimum": 1.0 }),
            json!({ "type": "integer", "minimum": 1.0, "maximum": 255.0 }),
        ),
        (
            json!({ "type": "integer", "format": "int64", "nullable": true }),
            json!({ "type": "integer", "format": "int64" }),
        ),
        (
            json!({ "type": "array", "items": { "type": "integer", "format": "uint16" } }),
            json!({ "type": "array", "items": { "type": "integer", "minimum": 0.0, "maximum": 65535.0 } }),
        ),
        (
            json!({ "type": "string", "enum": ["a", null], "nullable": true }),
            json!({ "type": "string", "enum": ["a"] }),
        ),
        (
            // A field may bear the name of a keyword.
            json!({ "type": "object", "properties": { "format": { "type": "string" } } }),
            json!({ "type": "object", "properties": { "format": { "type": "string" } } }),
        ),
    ] {
        let mut crd = crd_with(given);
        sanitize(&mut crd);
        assert_eq!(crd, crd_with(wanted));
        let once = crd.clone();
        sanitize(&mut crd);
        assert_eq!(crd, once, "sanitizing twice changed something");
    }
}

#[test]
fn violations_name_the_field() {
    let found = |property: Value| violations(&crd_with(property)).join("; ");
    assert_eq!(
        found(json!({ "type": "integer", "format": "uint32", "description": "d" })),
        "Thing.field: Kubernetes does not know the format uint32"
    );
    assert_eq!(
        found(json!({ "description": "d" })),
        "Thing.field: has no type"
    );
    assert_eq!(
        found(json!({ "type": "string" })),
        "Thing.field: has no description"
    );
    assert_eq!(
        found(json!({
            "type": "array",
            "description": "d",
            "maxItems": 1,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
            "items": { "type": "object" },
        })),
        "Thing.field: its key name is not required"
    );
}

/// A server shows of an object or a list no more than that it is one, so a rule about such a value
/// says which field it means and shows it, or that something is missing or too much.
fn check(schema: &Value, path: &str, wrong: &mut Vec<String>) {
    let is_whole = ["object", "array"]
        .map(Value::from)
        .contains(&schema["type"]);
    for rule in schema["x-kubernetes-validations"]
        .as_array()
        .into_iter()
        .flatten()
    {
        // A server shows the value that a rule stands at, if that is no object and no list.
        let shows = !is_whole && rule["fieldPath"].is_null();
        let says_it = !rule["messageExpression"].is_null();
        if rule["reason"].is_null() && !shows && !says_it {
            let message = rule["message"].as_str().unwrap_or_default();
            wrong.push(format!("{path}: {message:?} shows no value"));
        }
        // What has no path at all is reported as `<nil>`.
        if !path.contains('.') && rule["fieldPath"].is_null() {
            wrong.push(format!("{path}: {} has no field", rule["message"]));
        }
    }
    for (name, child) in schema["properties"].as_object().into_iter().flatten() {
        check(child, &format!("{path}.{name}"), wrong);
    }
    for below in ["items", "additionalProperties"] {
        if schema[below].is_object() {
            check(&schema[below], &format!("{path}[]"), wrong);
        }
    }
}

#[test]
fn rules_blame_a_field() {
    let mut wrong = Vec::new();
    for crd in machinist_api::crds() {
        for version in &crd.spec.versions {
            let schema = serde_json::to_value(&version.schema).unwrap();
            let kind = format!("{} {}", crd.spec.names.kind, version.name);
            check(&schema["openAPIV3Schema"], &kind, &mut wrong);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_rule_that_blames_nothing_is_found() {
    let rule = |more: Value| {
        let mut rule = json!({"rule": "self.a > 1", "message": "a must be more"});
        let fields = rule.as_object_mut().unwrap();
        fields.extend(more.as_object().unwrap().clone());
        json!({"type": "object", "properties": {"spec": {"type": "object",
            "properties": {"a": {"type": "integer"}}, "x-kubernetes-validations": [rule]}}})
    };
    for (more, found) in [
        (json!({}), 1),
        (json!({"fieldPath": ".a"}), 1),
        (json!({"fieldPath": ".a", "messageExpression": "'no'"}), 0),
        (
            json!({"fieldPath": ".a", "reason": "FieldValueForbidden"}),
            0,
        ),
    ] {
        let mut wrong = Vec::new();
        check(&rule(more.clone()), "Kind", &mut wrong);
        assert_eq!(wrong.len(), found, "{more}: {wrong:?}");
        let bare = &rule(more)["properties"]["spec"];
        let mut wrong = Vec::new();
        check(bare, "Kind", &mut wrong);
        let has_no_field = bare["x-kubernetes-validations"][0]["fieldPath"].is_null();
        let found = found + usize::from(has_no_field);
        assert_eq!(wrong.len(), found, "{bare}: {wrong:?}");
    }
}
