//! What a request may carry: validation, unknown fields, formats.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed assumption is a failed test"
)]

mod common;

use common::{WIDGETS, assert_contains, check, server, widget};
use serde_json::{Value, json};

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
            (&create, with("/metadata", json!({"name": "one", "resourceVersion": "5"})), 500, json!({"message": "resourceVersion should not be set on objects to be created"})),
            (&create, with("/metadata", json!({"name": "one", "namespace": "other"})), 400, json!({"message": "the namespace of the provided object does not match the namespace sent on the request"})),
            (&create, with("/metadata", json!({})), 422, json!({"message": "~name or generateName is required"})),
            (&create, with("/kind", json!("Gadget")), 422, json!({"reason": "Invalid"})),
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
            (&format!("PATCH+merge {WIDGETS}/one?fieldValidation=Strict"), json!({"spec": {"size": 1}}), 422, json!({"message": "~unknown field \"spec.size\""})),
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
