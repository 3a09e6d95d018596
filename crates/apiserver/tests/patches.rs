//! The four ways to patch, and who owns what after them.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed assumption is a failed test"
)]

mod common;

use common::{WIDGETS, call, check, ok, server, widget};
use machinist_apiserver::registry::StrategicGroup;
use machinist_apiserver::{ApiServer, Options, Store};
use serde_json::{Value, json};

#[tokio::test]
async fn the_four_patches() {
    let server = server().await;
    let one = format!("{WIDGETS}/one");
    let created = ok(&server, &format!("POST {WIDGETS}"), Some(&widget("one"))).await;
    let version = created["metadata"]["resourceVersion"].clone();
    check(
        &server,
        &[
            (
                &format!("PATCH+json {one}"),
                json!([{"op": "replace", "path": "/spec/color", "value": "blue"}]),
                200,
                json!({"spec": {"color": "blue"}}),
            ),
            (
                &format!("PATCH+json {one}"),
                json!([{"op": "test", "path": "/spec/color", "value": "red"}]),
                422,
                json!({}),
            ),
            (
                &format!("PATCH+json {one}"),
                json!({"op": "test"}),
                400,
                json!({}),
            ),
            (
                &format!("PATCH+merge {one}"),
                json!({"spec": {"note": "x"}}),
                200,
                json!({"spec": {"note": "x"}}),
            ),
            (
                &format!("PATCH+merge {one}"),
                json!({"spec": {"note": null}}),
                200,
                json!({"spec": {"note": null}}),
            ),
            (
                &format!("PATCH+merge {one}"),
                json!({"metadata": {"resourceVersion": version}, "spec": {"note": "y"}}),
                409,
                json!({"reason": "Conflict"}),
            ),
            (
                &format!("PATCH+merge {one}"),
                json!({"metadata": {"name": "two"}}),
                400,
                json!({}),
            ),
            (
                &format!("PATCH+strategic {one}"),
                json!({"spec": {"note": "x"}}),
                415,
                json!({"reason": "UnsupportedMediaType"}),
            ),
            (
                &format!("PATCH+merge {WIDGETS}/two"),
                json!({"spec": {"note": "x"}}),
                404,
                json!({}),
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn concurrent_patches_all_count() {
    let server = server().await;
    let one = format!("{WIDGETS}/one");
    ok(&server, &format!("POST {WIDGETS}"), Some(&widget("one"))).await;
    let patches = (0..20).map(|n| {
        let (server, line) = (server.clone(), format!("PATCH+merge {one}"));
        let body = json!({"metadata": {"labels": {format!("l{n}"): "x"}}});
        tokio::spawn(async move { call(&server, &line, Some(&body)).await.0 })
    });
    for patch in patches.collect::<Vec<_>>() {
        assert_eq!(patch.await.unwrap(), 200);
    }
    let object = ok(&server, &format!("GET {one}"), None).await;
    assert_eq!(object["metadata"]["labels"].as_object().unwrap().len(), 20);
}

#[tokio::test]
async fn server_side_apply_keeps_owners_apart() {
    let server = server().await;
    let one = format!("{WIDGETS}/one");
    let apply = |manager: &str| format!("PATCH+apply {one}?fieldManager={manager}");
    let with = |spec: Value| {
        let mut body = widget("one");
        body["spec"] = spec;
        body
    };
    check(
        &server,
        &[
            (&format!("PATCH+apply {one}"), widget("one"), 422, json!({"message": "~fieldManager: Required value"})),
            (&apply("a"), with(json!({"color": "red", "ports": [{"name": "http", "port": 80}]})), 201, json!({
                "metadata": {"generation": 1, "managedFields": [{"manager": "a", "operation": "Apply"}]}, "spec": {"replicas": 1},
            })),
            (&apply("b"), with(json!({"color": "red", "ports": [{"name": "https", "port": 443}]})), 200, json!({
                "spec": {"ports": [{"name": "http"}, {"name": "https"}]},
            })),
            (&apply("b"), with(json!({"color": "blue"})), 409, json!({
                "reason": "Conflict",
                "message": "~conflict with \"a\": .spec.color",
                "details": {"causes": [{"reason": "FieldManagerConflict", "field": ".spec.color"}]},
            })),
            (&format!("{}&force=true", apply("b")), with(json!({"color": "blue"})), 200, json!({
                "spec": {"color": "blue", "ports": [{"name": "http"}]},
            })),
            (&format!("{}&fieldValidation=Strict", apply("a")), with(json!({"colour": "x"})), 500, json!({"message": "~.spec.colour: field not declared in schema"})),
            (&format!("PATCH+apply {one}/status?fieldManager=c"), json!({
                "apiVersion": "example.io/v1", "kind": "Widget", "metadata": {"name": "one"},
                "status": {"conditions": [{"type": "Ready", "status": "True"}]},
            }), 200, json!({"status": {"conditions": [{"type": "Ready"}]}, "metadata": {"generation": 3}})),
            (&format!("PATCH+merge {one}?force=true"), json!({}), 422, json!({})),
        ],
    )
    .await;
    // Applying the same again changes nothing, not even the resource version.
    let line = apply("b");
    let before = ok(&server, &format!("GET {one}"), None).await;
    let after = ok(&server, &line, Some(&with(json!({"color": "blue"})))).await;
    assert_eq!(before, after);
}

/// A definition in the manner of IronCore's machines.
fn definition(group: &str) -> Value {
    let volume = json!({"type": "object", "required": ["name"], "properties": {
        "name": {"type": "string"}, "device": {"type": "string"},
    }});
    let volumes = json!({"type": "array", "items": volume,
        "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("boxes.{group}")},
        "spec": {
            "group": group, "scope": "Namespaced",
            "names": {"plural": "boxes", "kind": "Box"},
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                    "spec": {"type": "object", "properties": {"volumes": volumes}},
                    "status": {"type": "object", "properties": {"volumes": volumes, "seen": volumes}},
                }}},
            }],
        },
    })
}

#[tokio::test]
async fn strategic_patches_of_custom_kinds() {
    let options = Options {
        crds: vec![definition("compute.example.dev"), definition("other.io")],
        strategic: vec![StrategicGroup {
            suffix: "example.dev".into(),
            replaced: vec!["status.volumes".into()],
        }],
        ..Options::default()
    };
    let server = ApiServer::new(Store::memory(), options).await.unwrap();
    let path = |group: &str| format!("/apis/{group}/v1/namespaces/default/boxes");
    for group in ["compute.example.dev", "other.io"] {
        let body = json!({"apiVersion": format!("{group}/v1"), "kind": "Box",
            "metadata": {"name": "one"},
            "spec": {"volumes": [{"name": "a", "device": "oda"}, {"name": "b"}]}});
        ok(&server, &format!("POST {}", path(group)), Some(&body)).await;
    }
    let one = format!("{}/one", path("compute.example.dev"));
    let status = json!({"status": {"volumes": [{"name": "a"}], "seen": [{"name": "a"}]}});
    ok(&server, &format!("PATCH+merge {one}/status"), Some(&status)).await;
    check(
        &server,
        &[
            (
                &format!("PATCH+strategic {one}"),
                json!({"spec": {"volumes": [{"name": "c"}, {"name": "b", "$patch": "delete"}]}}),
                200,
                json!({"spec": {"volumes": [{"name": "c"}, {"name": "a", "device": "oda"}]}}),
            ),
            (
                &format!("PATCH+strategic {one}/status"),
                json!({"status": {"volumes": [{"name": "b"}], "seen": [{"name": "b"}]}}),
                200,
                json!({"status": {"volumes": [{"name": "b"}],
                                  "seen": [{"name": "b"}, {"name": "a"}]}}),
            ),
            (
                &format!("PATCH+strategic {one}"),
                json!({"spec": {"volumes": [{"device": "x"}]}}),
                500,
                json!({}),
            ),
            (
                &format!("PATCH+strategic {}/one", path("other.io")),
                json!({"spec": {"volumes": [{"name": "c"}]}}),
                415,
                json!({"reason": "UnsupportedMediaType"}),
            ),
        ],
    )
    .await;
}
