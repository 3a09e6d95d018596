//! Create, read, update, delete: codes, metadata, conflicts, finalizers, dry runs.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed assumption is a failed test"
)]

mod common;

use common::{WIDGETS, check, ok, server, widget};
use serde_json::{Value, json};

#[tokio::test]
async fn the_life_of_an_object() {
    let server = server().await;
    let one = format!("{WIDGETS}/one");
    check(
        &server,
        &[
            (&format!("GET {one}"), Value::Null, 404, json!({
                "kind": "Status", "reason": "NotFound", "code": 404, "status": "Failure",
                "message": "widgets.example.io \"one\" not found",
                "details": {"name": "one", "group": "example.io", "kind": "widgets"},
            })),
            (&format!("POST {WIDGETS}"), widget("one"), 201, json!({
                "kind": "Widget", "apiVersion": "example.io/v1",
                "metadata": {"name": "one", "namespace": "default", "generation": 1,
                    "managedFields": [{"manager": "table-test", "operation": "Update"}]},
                "spec": {"color": "red", "replicas": 1},
            })),
            (&format!("POST {WIDGETS}"), widget("one"), 409, json!({
                "reason": "AlreadyExists", "message": "widgets.example.io \"one\" already exists",
            })),
            (&format!("GET {one}"), Value::Null, 200, json!({"spec": {"color": "red"}})),
            (&format!("GET {WIDGETS}"), Value::Null, 200, json!({
                "kind": "WidgetList", "apiVersion": "example.io/v1",
                "items": [{"kind": "Widget", "metadata": {"name": "one"}}],
            })),
            (&format!("DELETE {one}"), Value::Null, 200, json!({
                "kind": "Status", "status": "Success",
                "details": {"name": "one", "group": "example.io", "kind": "widgets"},
            })),
            (&format!("DELETE {one}"), Value::Null, 404, json!({"reason": "NotFound"})),
            ("GET /apis/example.io/v1/namespaces/default/gadgets", Value::Null, 404, json!("~page not found")),
            (&format!("POST {one}"), widget("one"), 405, json!({"reason": "MethodNotAllowed"})),
        ],
    )
    .await;
}

#[tokio::test]
async fn updates_need_the_latest_version() {
    let server = server().await;
    let one = format!("{WIDGETS}/one");
    let created = ok(&server, &format!("POST {WIDGETS}"), Some(&widget("one"))).await;
    let mut changed = created.clone();
    changed["spec"]["color"] = "blue".into();
    let updated = ok(&server, &format!("PUT {one}"), Some(&changed)).await;
    assert_eq!(updated["metadata"]["generation"], 2);
    assert_ne!(
        updated["metadata"]["resourceVersion"],
        created["metadata"]["resourceVersion"]
    );
    assert_eq!(updated["metadata"]["uid"], created["metadata"]["uid"]);
    let mut without = updated.clone();
    without["metadata"]
        .as_object_mut()
        .unwrap()
        .remove("resourceVersion");
    let mut renamed = updated.clone();
    renamed["metadata"]["name"] = "two".into();
    let mut other_uid = updated.clone();
    other_uid["metadata"]["uid"] = "11111111-2222-3333-4444-555555555555".into();
    check(
        &server,
        &[
            (&format!("PUT {one}"), changed, 409, json!({
                "reason": "Conflict",
                "message": "Operation cannot be fulfilled on widgets.example.io \"one\": the object has been modified; please apply your changes to the latest version and try again",
            })),
            (&format!("PUT {one}"), without, 422, json!({
                "message": "widgets.example.io \"one\" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update",
            })),
            (&format!("PUT {one}"), renamed, 400, json!({"message": "the name of the object (two) does not match the name on the URL (one)"})),
            (&format!("PUT {one}"), other_uid, 409, json!({"message": "~UID in precondition"})),
        ],
    )
    .await;
    // The same content again is no write.
    let same = ok(&server, &format!("PUT {one}"), Some(&updated)).await;
    assert_eq!(same, updated);
}

#[tokio::test]
async fn spec_and_status_are_written_apart() {
    let server = server().await;
    let one = format!("{WIDGETS}/one");
    let mut body = widget("one");
    body["status"] = json!({"phase": "Sneaked"});
    let created = ok(&server, &format!("POST {WIDGETS}"), Some(&body)).await;
    assert_eq!(created.get("status"), None);
    check(
        &server,
        &[
            (&format!("PATCH+merge {one}/status"), json!({"status": {"phase": "Running"}, "spec": {"color": "blue"}}), 200, json!({
                "status": {"phase": "Running"}, "spec": {"color": "red"}, "metadata": {"generation": 1},
            })),
            (&format!("PATCH+merge {one}"), json!({"status": {"phase": "Gone"}, "spec": {"color": "green"}}), 200, json!({
                "status": {"phase": "Running"}, "spec": {"color": "green"}, "metadata": {"generation": 2},
            })),
            (&format!("PATCH+merge {one}"), json!({"metadata": {"labels": {"a": "b"}}}), 200, json!({
                "metadata": {"generation": 2, "labels": {"a": "b"}},
            })),
            (&format!("GET {one}/status"), Value::Null, 200, json!({"kind": "Widget", "status": {"phase": "Running"}})),
            (&format!("GET {one}/scale"), Value::Null, 200, json!({
                "kind": "Scale", "apiVersion": "autoscaling/v1", "spec": {"replicas": 1}, "status": {"replicas": 0},
            })),
            (&format!("PATCH+merge {one}/scale"), json!({"spec": {"replicas": 7}}), 200, json!({"spec": {"replicas": 7}})),
            (&format!("GET {one}"), Value::Null, 200, json!({"spec": {"replicas": 7}, "metadata": {"generation": 3}})),
            (&format!("PATCH+merge {one}/scale"), json!({"spec": {"replicas": 700}}), 422, json!({"reason": "Invalid"})),
            (&format!("GET {one}/console"), Value::Null, 404, json!({})),
        ],
    )
    .await;
}

#[tokio::test]
async fn whoever_applies_a_scale_is_held_to_what_others_own() {
    let server = server().await;
    let one = format!("{WIDGETS}/one");
    let scale = |replicas: i64| json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "one"}, "spec": {"replicas": replicas}});
    let mut author = widget("one");
    author["spec"]["replicas"] = 2.into();
    let apply = |manager: &str| format!("PATCH+apply {one}/scale?fieldManager={manager}");
    check(
        &server,
        &[
            (&format!("PATCH+apply {one}?fieldManager=author"), author.clone(), 201, json!({})),
            (&apply("scaler"), scale(5), 409, json!({
                "message": "Apply failed with 1 conflict: conflict with \"author\": .spec.replicas",
            })),
            (&format!("GET {one}"), Value::Null, 200, json!({"spec": {"replicas": 2}})),
            (&format!("{}&force=true", apply("scaler")), scale(5), 200, json!({"kind": "Scale", "spec": {"replicas": 5}})),
            (&format!("GET {one}"), Value::Null, 200, json!({"spec": {"replicas": 5}})),
            // The number is the scaler's now.
            (&format!("PATCH+apply {one}?fieldManager=author"), author, 409, json!({
                "message": "Apply failed with 1 conflict: conflict with \"scaler\" with subresource \"scale\": .spec.replicas",
            })),
            (&apply("scaler"), widget("one"), 400, json!({"reason": "BadRequest"})),
        ],
    )
    .await;
}

#[tokio::test]
async fn finalizers_hold_a_deleted_object() {
    let server = server().await;
    let one = format!("{WIDGETS}/one");
    let mut body = widget("one");
    body["metadata"]["finalizers"] = json!(["example.io/hold"]);
    ok(&server, &format!("POST {WIDGETS}"), Some(&body)).await;
    let pending = ok(&server, &format!("DELETE {one}"), None).await;
    assert_eq!(pending["kind"], "Widget");
    assert_eq!(pending["metadata"]["generation"], 2);
    assert!(pending["metadata"]["deletionTimestamp"].is_string());
    check(
        &server,
        &[
            (&format!("DELETE {one}"), Value::Null, 200, json!({"kind": "Widget"})),
            (&format!("PATCH+merge {one}"), json!({"metadata": {"finalizers": ["example.io/hold", "example.io/more"]}}), 422, json!({
                "message": "~no new finalizers can be added if the object is being deleted, found new finalizers []string{\"example.io/more\"}",
            })),
            (&format!("PATCH+json {one}"), json!([{"op": "remove", "path": "/metadata/finalizers"}]), 200, json!({"kind": "Widget"})),
            (&format!("GET {one}"), Value::Null, 404, json!({})),
        ],
    )
    .await;
}

#[tokio::test]
async fn deletion_checks_its_preconditions() {
    let server = server().await;
    let one = format!("{WIDGETS}/one");
    let created = ok(&server, &format!("POST {WIDGETS}"), Some(&widget("one"))).await;
    let delete = format!("DELETE {one}");
    let uid = created["metadata"]["uid"].clone();
    check(
        &server,
        &[
            (
                &delete,
                json!({"preconditions": {"uid": "other"}}),
                409,
                json!({"message": "~the UID in the precondition (other) does not match"}),
            ),
            (
                &delete,
                json!({"preconditions": {"resourceVersion": "1"}}),
                409,
                json!({"reason": "Conflict"}),
            ),
            (
                &delete,
                json!({"propagationPolicy": "Sideways"}),
                422,
                json!({"reason": "Invalid"}),
            ),
            (
                &format!("{delete}?dryRun=All"),
                Value::Null,
                200,
                json!({"status": "Success"}),
            ),
            (
                &delete,
                json!({"preconditions": {"uid": uid}}),
                200,
                json!({"status": "Success"}),
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn a_dry_run_changes_nothing() {
    let server = server().await;
    let one = format!("{WIDGETS}/one");
    check(
        &server,
        &[
            (
                &format!("POST {WIDGETS}?dryRun=All"),
                widget("one"),
                201,
                json!({"spec": {"replicas": 1}}),
            ),
            (&format!("GET {one}"), Value::Null, 404, json!({})),
            (&format!("POST {WIDGETS}"), widget("one"), 201, json!({})),
            (
                &format!("PATCH+merge {one}?dryRun=All"),
                json!({"spec": {"color": "blue"}}),
                200,
                json!({"spec": {"color": "blue"}, "metadata": {"generation": 2}}),
            ),
            (
                &format!("GET {one}"),
                Value::Null,
                200,
                json!({"spec": {"color": "red"}, "metadata": {"generation": 1}}),
            ),
            (
                &format!("POST {WIDGETS}?dryRun=Some"),
                widget("two"),
                422,
                json!({}),
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn names_can_be_generated() {
    let server = server().await;
    let mut body = widget("");
    body["metadata"] = json!({"generateName": "w-"});
    let first = ok(&server, &format!("POST {WIDGETS}"), Some(&body)).await;
    let second = ok(&server, &format!("POST {WIDGETS}"), Some(&body)).await;
    let name = first["metadata"]["name"].as_str().unwrap();
    assert!(name.starts_with("w-") && name.len() == 7, "{name}");
    assert_ne!(first["metadata"]["name"], second["metadata"]["name"]);
}
