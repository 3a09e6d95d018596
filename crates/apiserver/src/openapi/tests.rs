//! Documents as kubectl and other clients look at them.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::*;

const ALL: &[&str] = &[
    "get",
    "list",
    "watch",
    "create",
    "update",
    "patch",
    "delete",
    "deletecollection",
];

fn machine_schema() -> Schema {
    Schema::from_value(&json!({
        "description": "A virtual machine.",
        "type": "object",
        "required": ["spec"],
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
            "spec": {
                "description": "What is wanted.",
                "type": "object",
                "required": ["cores", "maybe"],
                "properties": {
                    "cores": {"type": "integer", "minimum": 1, "description": "How many."},
                    "maybe": {"type": "string", "nullable": true},
                    "port": {"x-kubernetes-int-or-string": true},
                    "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true,
                             "properties": {"a": {"type": "string"}}},
                    "inner": {"type": "object", "x-kubernetes-embedded-resource": true},
                },
                "oneOf": [{"required": ["cores"]}],
                "x-kubernetes-validations": [{"rule": "true"}],
            },
        },
    }))
    .unwrap()
}

fn machine(schema: &Schema) -> OpenApiKind<'_> {
    OpenApiKind {
        group: "vitistack.io",
        version: "v1alpha1",
        kind: "Machine",
        plural: "machines",
        singular: "machine",
        namespaced: true,
        schema,
        status: true,
        scale: true,
        verbs: ALL,
    }
}

/// Every `$ref` in a document.
fn references(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            if let Some(Value::String(target)) = map.get("$ref") {
                found.insert(target.clone());
            }
            map.values().for_each(|value| references(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| references(value, found)),
        _ => {}
    }
}

#[test]
fn every_reference_leads_somewhere() {
    let schema = machine_schema();
    let kinds = [machine(&schema)];
    for (document, prefix, place) in [
        (
            v3_document(&kinds),
            "#/components/schemas/",
            "/components/schemas",
        ),
        (v2_document(&kinds), "#/definitions/", "/definitions"),
    ] {
        let mut found = BTreeSet::new();
        references(&document, &mut found);
        assert!(found.len() > 10, "{found:?}");
        let schemas = document.pointer(place).unwrap();
        for target in found {
            let name = target
                .strip_prefix(prefix)
                .unwrap_or_else(|| panic!("{target}"));
            assert!(schemas.get(name).is_some(), "{target}");
        }
    }
}

#[test]
fn explain_finds_the_kind_by_its_path_and_then_its_schema() {
    let schema = machine_schema();
    let document = v3_document(&[machine(&schema)]);
    let gvk = json!({"group": "vitistack.io", "version": "v1alpha1", "kind": "Machine"});
    for path in [
        "/apis/vitistack.io/v1alpha1/machines",
        "/apis/vitistack.io/v1alpha1/namespaces/{namespace}/machines",
        "/apis/vitistack.io/v1alpha1/namespaces/{namespace}/machines/{name}",
    ] {
        assert_eq!(
            document["paths"][path]["get"]["x-kubernetes-group-version-kind"], gvk,
            "{path}"
        );
    }
    let schemas = &document["components"]["schemas"];
    let machine = &schemas["io.vitistack.v1alpha1.Machine"];
    assert_eq!(machine["x-kubernetes-group-version-kind"], json!([gvk]));
    assert_eq!(machine["description"], "A virtual machine.");
    assert_eq!(
        machine["properties"]["spec"]["properties"]["cores"]["minimum"],
        1
    );
    let meta = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
    assert_eq!(
        machine["properties"]["metadata"]["allOf"],
        json!([{"$ref": format!("#/components/schemas/{meta}")}])
    );
    assert_eq!(
        schemas["io.vitistack.v1alpha1.MachineList"]["x-kubernetes-group-version-kind"][0]["kind"],
        "MachineList"
    );
    // Every field that explain shows has something to say for itself.
    for (name, schema) in schemas.as_object().unwrap() {
        if !name.starts_with("io.k8s.") {
            continue;
        }
        assert!(schema["description"].is_string(), "{name}");
        for (field, schema) in schema["properties"].as_object().into_iter().flatten() {
            assert!(schema["description"].is_string(), "{name}.{field}");
        }
    }
}

#[test]
fn kubectl_sees_which_parameters_a_patch_understands() {
    let schema = machine_schema();
    let document = v3_document(&[machine(&schema)]);
    let mut patches = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        let Some(patch) = item.get("patch") else {
            continue;
        };
        patches += 1;
        assert_eq!(patch["x-kubernetes-action"], "patch");
        let names: Vec<&str> = patch["parameters"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|parameter| parameter["in"] == "query")
            .filter_map(|parameter| parameter["name"].as_str())
            .collect();
        for name in ["dryRun", "fieldManager", "fieldValidation", "force"] {
            assert!(names.contains(&name), "{path} {name}");
        }
        let types: Vec<&String> = patch["requestBody"]["content"]
            .as_object()
            .unwrap()
            .keys()
            .collect();
        // A strategic merge patch here would make kubectl send one.
        assert_eq!(
            types,
            [
                "application/apply-patch+yaml",
                "application/json-patch+json",
                "application/merge-patch+json"
            ]
        );
    }
    assert_eq!(patches, 3, "the object, its status and its scale");
}

#[test]
fn operations_have_names_of_their_own() {
    let schema = machine_schema();
    let cluster_wide = OpenApiKind {
        kind: "MachineClass",
        plural: "machineclasses",
        singular: "machineclass",
        namespaced: false,
        status: false,
        scale: false,
        verbs: &["get", "list"],
        ..machine(&schema)
    };
    let document = v3_document(&[machine(&schema), cluster_wide]);
    let mut names = BTreeSet::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            if method == "parameters" {
                continue;
            }
            let name = operation["operationId"].as_str().unwrap().to_string();
            assert!(
                names.insert(name.clone()),
                "{name} again at {method} {path}"
            );
        }
    }
    assert!(names.contains("patchVitistackIoV1alpha1NamespacedMachineStatus"));
    assert!(names.contains("listVitistackIoV1alpha1MachineForAllNamespaces"));
    // Only what the verbs allow is there.
    let one = &document["paths"]["/apis/vitistack.io/v1alpha1/machineclasses/{name}"];
    assert!(one.get("get").is_some() && one.get("patch").is_none());
}

#[test]
fn special_nodes_are_spelled_out() {
    let schema = machine_schema();
    let document = v3_document(&[machine(&schema)]);
    let spec =
        &document["components"]["schemas"]["io.vitistack.v1alpha1.Machine"]["properties"]["spec"];
    assert_eq!(
        spec["properties"]["port"]["anyOf"],
        json!([{"type": "integer"}, {"type": "string"}])
    );
    let inner = &spec["properties"]["inner"];
    assert_eq!(inner["required"], json!(["kind", "apiVersion"]));
    assert!(inner["properties"]["metadata"].is_object());
    assert_eq!(spec["x-kubernetes-validations"][0]["rule"], "true");
}

#[test]
fn v2_leaves_out_what_it_cannot_say() {
    let schema = machine_schema();
    let document = v2_document(&[machine(&schema)]);
    assert_eq!(document["swagger"], "2.0");
    let text = document.to_string();
    for word in [
        "oneOf",
        "anyOf",
        "allOf",
        "nullable",
        "requestBody",
        "components",
        "\"content\"",
    ] {
        assert!(!text.contains(word), "{word}");
    }
    let machine = &document["definitions"]["io.vitistack.v1alpha1.Machine"];
    assert_eq!(
        machine["x-kubernetes-group-version-kind"][0]["kind"],
        "Machine"
    );
    let spec = &machine["properties"]["spec"];
    assert_eq!(spec["required"], json!(["cores"]));
    assert!(spec["properties"]["maybe"].get("type").is_none());
    assert!(spec["properties"]["free"].get("properties").is_none());
    assert!(spec["properties"]["cores"].get("minimum").is_some());
    let patch = &document["paths"]["/apis/vitistack.io/v1alpha1/namespaces/{namespace}/machines/{name}"]
        ["patch"];
    let parameters = patch["parameters"].as_array().unwrap();
    let dry_run = parameters.iter().find(|p| p["name"] == "dryRun").unwrap();
    assert_eq!(dry_run["type"], "string");
    assert!(parameters.iter().any(|p| p["in"] == "body"));
}

#[test]
fn the_index_points_at_documents_by_their_content() {
    let schema = machine_schema();
    let document = v3_document(&[machine(&schema)]);
    let hash = document_hash(&document);
    assert_eq!(hash.len(), 64);
    assert_eq!(hash, document_hash(&document.clone()));
    let mut other_schema = machine_schema();
    other_schema.description = Some("Another.".into());
    assert_ne!(hash, document_hash(&v3_document(&[machine(&other_schema)])));

    let path = group_version_path("vitistack.io", "v1alpha1");
    let index = v3_index([(path.as_str(), hash.as_str()), ("api/v1", "X")]);
    assert_eq!(
        index["paths"]["apis/vitistack.io/v1alpha1"]["serverRelativeURL"],
        format!("/openapi/v3/apis/vitistack.io/v1alpha1?hash={hash}")
    );
    assert_eq!(group_version_path("", "v1"), "api/v1");
    assert_eq!(
        index["paths"]["api/v1"]["serverRelativeURL"],
        "/openapi/v3/api/v1?hash=X"
    );
}

#[test]
fn core_kinds_have_the_names_that_clients_know() {
    let schema = Schema::default();
    let secret = OpenApiKind {
        group: "",
        version: "v1",
        kind: "Secret",
        plural: "secrets",
        singular: "secret",
        scale: false,
        ..machine(&schema)
    };
    let document = v3_document(&[secret]);
    let schemas = &document["components"]["schemas"];
    assert!(schemas.get("io.k8s.api.core.v1.Secret").is_some());
    assert!(schemas.get("io.k8s.api.autoscaling.v1.Scale").is_none());
    assert!(
        document["paths"]
            .get("/api/v1/namespaces/{namespace}/secrets")
            .is_some()
    );
    assert_eq!(schemas["io.k8s.api.core.v1.Secret"]["type"], "object");
}
