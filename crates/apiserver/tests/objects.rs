//! Create, read, update, delete: codes, metadata, conflicts, finalizers, dry runs, validation.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed assumption is a failed test"
)]

mod common;

use common::{WIDGETS, assert_contains, call, check, ok, server, widget};
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
            ("GET /apis/example.io/v1/namespaces/default/gadgets", Value::Null, 404, json!({
                "message": "the server could not find the requested resource",
            })),
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
                "message": "Widget.example.io \"one\" is invalid: metadata.resourceVersion: Invalid value: 0x0: must be specified for an update",
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
async fn invalid_objects_are_refused_in_the_words_of_kubernetes() {
    let server = server().await;
    let create = format!("POST {WIDGETS}");
    let with = |path: &str, value: Value| {
        let mut body = widget("one");
        *body.pointer_mut(path).unwrap() = value;
        body
    };
    let mut no_spec = widget("one");
    no_spec.as_object_mut().unwrap().remove("spec");
    check(
        &server,
        &[
            (&create, with("/spec/color", json!("pink")), 422, json!({
                "reason": "Invalid",
                "message": "~Widget.example.io \"one\" is invalid: [spec.color: Unsupported value: \"pink\": supported values: \"red\", \"green\", \"blue\", ",
                "details": {"kind": "Widget", "group": "example.io", "name": "one",
                    "causes": [{"reason": "FieldValueNotSupported", "field": "spec.color"}, {"field": "<nil>"}]},
            })),
            (&create, no_spec, 422, json!({"message": "~spec: Required value"})),
            (&create, with("/spec", json!({"color": "red", "note": "forbidden"})), 422, json!({"message": "~note must not be forbidden"})),
            (&create, with("/metadata/name", json!("One_")), 422, json!({"message": "~a lowercase RFC 1123 subdomain must consist of"})),
            (&create, with("/metadata", json!({"name": "one", "labels": {"a": "b c"}})), 422, json!({"message": "~a valid label must be"})),
            (&create, with("/metadata", json!({"name": "one", "labels": {"a": 1}})), 400, json!({"message": "~cannot unmarshal number"})),
            (&create, with("/metadata", json!({"name": "one", "resourceVersion": "5"})), 400, json!({"message": "resourceVersion should not be set on objects to be created"})),
            (&create, with("/metadata", json!({"name": "one", "namespace": "other"})), 400, json!({"message": "the namespace of the provided object does not match the namespace sent on the request"})),
            (&create, with("/metadata", json!({})), 422, json!({"message": "~name or generateName is required"})),
            (&create, with("/kind", json!("Gadget")), 400, json!({"reason": "BadRequest"})),
            (&create, with("/apiVersion", json!("example.io/v2")), 400, json!({"message": "~does not match the expected API version (example.io/v1)"})),
            (&create, json!([]), 400, json!({"reason": "BadRequest"})),
            ("POST /apis/example.io/v1/namespaces/missing/widgets", widget("one"), 404, json!({"message": "namespaces \"missing\" not found"})),
        ],
    )
    .await;
}

#[tokio::test]
async fn unknown_and_duplicate_fields() {
    let server = server().await;
    let mut body = widget("one");
    body["spec"]["colour"] = "red".into();
    check(
        &server,
        &[
            (&format!("POST {WIDGETS}?fieldValidation=Strict"), body.clone(), 400, json!({
                "message": "Widget in version \"v1\" cannot be handled as a Widget: strict decoding error: unknown field \"spec.colour\"",
            })),
            (&format!("POST {WIDGETS}?fieldValidation=Ignore"), body.clone(), 201, json!({"spec": {"colour": null}})),
            (&format!("PATCH+merge {WIDGETS}/one?fieldValidation=Strict"), json!({"spec": {"size": 1}}), 400, json!({"message": "~unknown field \"spec.size\""})),
            (&format!("POST {WIDGETS}?fieldValidation=Sometimes"), body, 422, json!({})),
        ],
    )
    .await;
    let twice = r#"{"apiVersion":"example.io/v1","kind":"Widget","metadata":{"name":"two"},"spec":{"color":"red","color":"blue","x":1}}"#;
    let mut request = common::request(&format!("POST {WIDGETS}"), None);
    *request.body_mut() = twice.into();
    let response = common::send(&server, request).await;
    assert_eq!(response.status(), 201);
    let warnings: Vec<_> = response
        .headers()
        .get_all("warning")
        .iter()
        .map(|w| w.to_str().unwrap().to_owned())
        .collect();
    assert_eq!(
        warnings,
        [
            r#"299 - "duplicate field \"spec.color\"""#,
            r#"299 - "unknown field \"spec.x\"""#
        ]
    );
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
            (&format!("{}&fieldValidation=Strict", apply("a")), with(json!({"colour": "x"})), 400, json!({"message": "~unknown field \"spec.colour\""})),
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

#[tokio::test]
async fn bodies_in_yaml_and_in_formats_unknown() {
    let server = server().await;
    let yaml =
        "apiVersion: example.io/v1\nkind: Widget\nmetadata:\n  name: one\nspec:\n  color: green\n";
    let typed = |content_type: &str, body: String| {
        let mut request = common::request(&format!("POST {WIDGETS}"), None);
        request
            .headers_mut()
            .insert("content-type", content_type.parse().unwrap());
        *request.body_mut() = body.into();
        request
    };
    let (code, object) =
        common::answer(common::send(&server, typed("application/yaml", yaml.into())).await).await;
    assert_eq!(code, 201, "{object}");
    for (content_type, body, code, reason) in [
        (
            "application/vnd.kubernetes.protobuf",
            "k8s".to_owned(),
            415,
            "UnsupportedMediaType",
        ),
        ("application/json", "{".to_owned(), 400, "BadRequest"),
        ("application/json", "[".repeat(10_000), 400, "BadRequest"),
        (
            "application/json",
            " ".repeat(3 * 1024 * 1024 + 1),
            413,
            "RequestEntityTooLarge",
        ),
        (
            "application/yaml",
            "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b".to_owned(),
            400,
            "BadRequest",
        ),
    ] {
        let (found, status) =
            common::answer(common::send(&server, typed(content_type, body)).await).await;
        assert_eq!(found, code, "{content_type}: {status}");
        assert_contains(
            &status,
            &json!({"kind": "Status", "reason": reason}),
            content_type,
        );
    }
    let (code, text) =
        common::call_accepting(&server, &format!("GET {WIDGETS}/one"), "application/yaml").await;
    assert_eq!(code, 200);
    assert!(text.as_str().unwrap().contains("color: green"), "{text}");
    let (code, _) =
        common::call_accepting(&server, &format!("GET {WIDGETS}/one"), "image/png").await;
    assert_eq!(code, 406);
}
