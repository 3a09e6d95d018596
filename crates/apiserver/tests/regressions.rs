//! What the Kubernetes end-to-end tests and other foreign programs once found wrong, so that it
//! is seen here first if it comes back.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed assumption is a failed test"
)]

mod common;

use common::{WIDGETS, answer, call, call_accepting, check, ok, request, send, server, widget};
use machinist_apiserver::ApiServer;
use serde_json::{Value, json};

const DEFINITION: &str =
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.io";

/// Changes the schema of widgets.
async fn change_schema(server: &ApiServer, changes: Value) {
    let root = "/spec/versions/0/schema/openAPIV3Schema/properties/spec";
    let patch: Vec<Value> = changes
        .as_array()
        .unwrap()
        .iter()
        .map(|change| {
            let mut change = change.clone();
            change["path"] = format!("{root}{}", change["path"].as_str().unwrap()).into();
            change
        })
        .collect();
    ok(
        server,
        &format!("PATCH+json {DEFINITION}"),
        Some(&patch.into()),
    )
    .await;
}

#[tokio::test]
async fn defaults_reach_objects_that_are_older_than_they() {
    let server = server().await;
    ok(&server, &format!("POST {WIDGETS}"), Some(&widget("old"))).await;
    let note = json!([{"op": "add", "path": "/properties/note/default", "value": "late"}]);
    change_schema(&server, note).await;
    let one = ok(&server, &format!("GET {WIDGETS}/old"), None).await;
    assert_eq!(one["spec"]["note"], "late");
    let all = ok(&server, &format!("GET {WIDGETS}"), None).await;
    assert_eq!(all["items"][0]["spec"]["note"], "late");
    let color = json!({"spec": {"color": "blue"}});
    let patched = ok(&server, &format!("PATCH+merge {WIDGETS}/old"), Some(&color)).await;
    assert_eq!(patched["spec"]["note"], "late");
    // Once it is written, it stays: a later default does not replace it.
    let note = json!([{"op": "replace", "path": "/properties/note/default", "value": "later"}]);
    change_schema(&server, note).await;
    let one = ok(&server, &format!("GET {WIDGETS}/old"), None).await;
    assert_eq!(one["spec"]["note"], "late");
}

#[tokio::test]
async fn what_was_wrong_before_and_is_not_touched_is_tolerated() {
    let server = server().await;
    let mut object = widget("old");
    object["spec"]["ports"] = json!([{"name": "a", "port": 1}, {"name": "b", "port": 2}]);
    ok(&server, &format!("POST {WIDGETS}"), Some(&object)).await;
    let stricter = json!([
        {"op": "replace", "path": "/properties/color/enum", "value": ["pink"]},
        {"op": "add", "path": "/properties/ports/items/properties/port/minimum", "value": 10},
        {"op": "add", "path": "/properties/color/x-kubernetes-validations", "value": [{"rule": "self == 'pink'"}]},
    ]);
    change_schema(&server, stricter).await;
    let one = format!("PATCH+merge {WIDGETS}/old");
    let patch = |spec: Value| json!({"spec": spec});
    check(
        &server,
        &[
            (
                &one,
                json!({"metadata": {"labels": {"a": "b"}}}),
                200,
                json!({}),
            ),
            (
                &one,
                patch(json!({"replicas": 3})),
                200,
                json!({"spec": {"replicas": 3}}),
            ),
            (
                &one,
                patch(json!({"ports": [{"name": "b", "port": 2}, {"name": "c", "port": 11}]})),
                200,
                json!({}),
            ),
            (
                &one,
                patch(json!({"color": "green"})),
                422,
                json!({"reason": "Invalid"}),
            ),
            (
                &one,
                patch(json!({"ports": [{"name": "b", "port": 3}]})),
                422,
                json!({"reason": "Invalid"}),
            ),
            (&one, patch(json!({"color": "pink"})), 200, json!({})),
            (
                &one,
                patch(json!({"color": "red"})),
                422,
                json!({"reason": "Invalid"}),
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn what_is_applied_must_be_declared() {
    let server = server().await;
    let mut object = widget("one");
    object["spec"]["shape"] = "round".into();
    let prefix = "failed to create typed patch object (/one; example.io/v1, Kind=Widget): ";
    for validation in ["Strict", "Warn", "Ignore"] {
        let line = format!("PATCH+apply {WIDGETS}/one?fieldManager=m&fieldValidation={validation}");
        let (code, status) = call(&server, &line, Some(&object)).await;
        assert_eq!(code, 500, "{status}");
        assert_eq!(
            status["message"],
            format!("{prefix}.spec.shape: field not declared in schema")
        );
        assert!(status.get("reason").is_none(), "{status}");
    }
    object["metadata"]["colour"] = "red".into();
    let line = format!("PATCH+apply {WIDGETS}/one?fieldManager=m");
    let (_, status) = call(&server, &line, Some(&object)).await;
    let both = "errors:\n  .metadata.colour: field not declared in schema\n  .spec.shape: field not declared in schema";
    assert_eq!(status["message"], format!("{prefix}{both}"));
}

#[tokio::test]
async fn a_key_that_stands_twice_in_yaml() {
    let server = server().await;
    let yaml = "apiVersion: example.io/v1\nkind: Widget\nmetadata:\n  name: one\nspec:\n  color: red\n  color: blue\n";
    let apply = async |validation: &str| {
        let path = format!("{WIDGETS}/one?fieldManager=m&fieldValidation={validation}");
        let mut asked = request(&format!("PATCH+apply {path}"), None);
        *asked.body_mut() = yaml.into();
        answer(send(&server, asked).await).await
    };
    let (code, status) = apply("Strict").await;
    assert_eq!(code, 400);
    assert_eq!(
        status["message"],
        "error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  line 7: key \"color\" already set in map"
    );
    let (code, object) = apply("Ignore").await;
    assert_eq!((code, &object["spec"]["color"]), (201, &json!("blue")));
}

#[tokio::test]
async fn namespaces_have_more_ways_to_be_written() {
    let server = server().await;
    let space = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "space"}});
    let mut created = ok(&server, "POST /api/v1/namespaces", Some(&space)).await;
    let annotated = json!({"metadata": {"annotations": {"a": "b"}}, "status": {"phase": "Active"}});
    let line = "PATCH+merge /api/v1/namespaces/space/status";
    let patched = ok(&server, line, Some(&annotated)).await;
    assert_eq!(patched["metadata"]["annotations"]["a"], "b");

    created["metadata"] = patched["metadata"].clone();
    created["spec"]["finalizers"] = json!(["kubernetes", "example.io/mine"]);
    let line = "PUT /api/v1/namespaces/space/finalize";
    let held = ok(&server, line, Some(&created)).await;
    assert_eq!(
        held["spec"]["finalizers"],
        json!(["kubernetes", "example.io/mine"])
    );
    ok(&server, "DELETE /api/v1/namespaces/space", None).await;
    common::eventually(&server, "GET /api/v1/namespaces/space", |_, space| {
        space["spec"]["finalizers"] == json!(["example.io/mine"])
    })
    .await;
    let mut last = ok(&server, "GET /api/v1/namespaces/space", None).await;
    last["spec"]["finalizers"] = json!([]);
    ok(&server, line, Some(&last)).await;
    common::eventually(&server, "GET /api/v1/namespaces/space", |code, _| {
        code == 404
    })
    .await;
}

#[tokio::test]
async fn small_things() {
    let server = server().await;
    let secret = |key: &str| json!({"metadata": {"name": "s"}, "data": {key: "eA=="}});
    let event = json!({
        "metadata": {"name": "e"}, "regarding": {"namespace": "default"}, "reason": "Test", "type": "Normal",
        "reportingController": "tester", "reportingInstance": "t", "action": "test", "eventTime": "2026-01-01T00:00:00.000000Z",
    });
    let condition =
        json!([{"op": "add", "path": "/status/conditions/-", "value": {"message": "only this"}}]);
    check(
        &server,
        &[
            ("GET /api/v1/namespaces?timeout=soon", Value::Null, 400, json!({
                "message": "invalid timeout specified in the request URL - time: invalid duration \"soon\""})),
            ("GET /api/v1/namespaces?timeout=30s", Value::Null, 200, json!({})),
            ("POST /api/v1/namespaces/default/secrets", secret(""), 422, json!({"reason": "Invalid"})),
            ("POST /api/v1/namespaces/default/secrets", secret("a b"), 422, json!({"reason": "Invalid"})),
            ("POST /api/v1/namespaces/default/secrets", secret("a.b"), 201, json!({})),
            ("POST /apis/events.k8s.io/v1/namespaces/default/events", event, 201, json!({})),
            ("GET /api/v1/namespaces/default/events?fieldSelector=source=tester", Value::Null, 200, json!({"items": [{"metadata": {"name": "e"}}]})),
            ("GET /api/v1/namespaces/default/events?fieldSelector=source=nobody", Value::Null, 200, json!({"items": []})),
            (&format!("PATCH+json {DEFINITION}/status"), condition, 200, json!({})),
        ],
    )
    .await;
    let review = json!({"spec": {"nonResourceAttributes": {"path": "/", "verb": "get"}}});
    let mut asked = request(
        "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
        Some(&review),
    );
    let table = "application/json;as=Table;v=v1;g=meta.k8s.io";
    asked.headers_mut().insert("accept", table.parse().unwrap());
    assert_eq!(send(&server, asked).await.status(), 406);
    let list = ok(&server, "GET /apis/example.io/v1", None).await;
    // The digest of "example.io/v1/Widget", as Kubernetes makes it.
    assert_eq!(list["resources"][0]["storageVersionHash"], "1ko09pd2AaU=");
}

#[tokio::test]
async fn documents_that_the_go_types_can_hold() {
    let server = server().await;
    let document = ok(&server, "GET /openapi/v3/apis/example.io/v1", None).await;
    let text = document.to_string();
    assert!(
        !text.contains("\"parameters\":[]"),
        "an empty list of parameters"
    );
    assert!(text.contains("APIVersion defines"));
    let root = "/spec/versions/0/schema/openAPIV3Schema";
    let keep = json!([{"op": "add", "path": format!("{root}/x-kubernetes-preserve-unknown-fields"), "value": true}]);
    ok(&server, &format!("PATCH+json {DEFINITION}"), Some(&keep)).await;
    let (_, swagger) = call_accepting(&server, "GET /openapi/v2", "application/json").await;
    assert_eq!(
        swagger["definitions"]["io.example.v1.Widget"],
        json!({
            "type": "object",
            "x-kubernetes-group-version-kind": [{"group": "example.io", "version": "v1", "kind": "Widget"}],
        })
    );
}

#[tokio::test]
async fn the_metadata_of_an_embedded_object_is_read_like_any_other() {
    let server = server().await;
    let template = json!({"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true});
    let add = json!([{"op": "add", "path": "/properties/template", "value": template}]);
    change_schema(&server, add).await;
    let mut object = widget("a");
    let metadata = json!({"name": "p", "extra": 1});
    object["spec"]["template"] =
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"kept": 1}});
    let line = format!("POST {WIDGETS}?fieldValidation=Warn");
    let response = send(&server, request(&line, Some(&object))).await;
    let warning = response.headers()["warning"].to_str().unwrap().to_owned();
    assert_eq!(
        warning,
        "299 - \"unknown field \\\"spec.template.metadata.extra\\\"\""
    );
    let (code, made) = answer(response).await;
    assert_eq!(code, 201, "{made}");
    assert_eq!(made["spec"]["template"]["metadata"], json!({"name": "p"}));
    assert_eq!(made["spec"]["template"]["spec"], json!({"kept": 1}));
    object["metadata"]["name"] = "b".into();
    object["spec"]["template"]["metadata"] = json!({"name": 5});
    let (code, refused) = call(&server, &format!("POST {WIDGETS}"), Some(&object)).await;
    assert_eq!(code, 400, "{refused}");
}
