//! What is not about objects: discovery, OpenAPI, health, version, counters, reviews, identity.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed assumption is a failed test"
)]

mod common;

use common::{
    WIDGETS, answer, assert_contains, call, call_accepting, check, ok, request, send, server,
    widget,
};
use serde_json::{Value, json};

#[tokio::test]
async fn discovery_in_both_forms() {
    let server = server().await;
    check(
        &server,
        &[
            ("GET /api", Value::Null, 200, json!({"kind": "APIVersions", "versions": ["v1"]})),
            ("GET /apis/example.io", Value::Null, 200, json!({"kind": "APIGroup", "preferredVersion": {"groupVersion": "example.io/v1"}})),
            ("GET /apis/example.io/v1", Value::Null, 200, json!({
                "kind": "APIResourceList", "groupVersion": "example.io/v1",
                "resources": [
                    {"name": "widgets", "kind": "Widget", "namespaced": true, "shortNames": ["wd"], "singularName": "widget", "categories": ["all"]},
                    {"name": "widgets/status", "verbs": ["get", "patch", "update"]},
                    {"name": "widgets/scale", "group": "autoscaling", "version": "v1", "kind": "Scale"},
                ],
            })),
            ("GET /apis/example.io/v9", Value::Null, 404, json!("~page not found")),
            ("GET /apis/nowhere.io", Value::Null, 404, json!("~page not found")),
        ],
    )
    .await;
    let (_, groups) = call(&server, "GET /apis", None).await;
    assert!(
        groups["groups"]
            .as_array()
            .unwrap()
            .iter()
            .any(|g| g["name"] == "example.io")
    );
    let accept =
        "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
    let mut asked = request("GET /apis", None);
    asked
        .headers_mut()
        .insert("accept", accept.parse().unwrap());
    let response = send(&server, asked).await;
    let tag = response.headers()["etag"].clone();
    assert_eq!(
        response.headers()["content-type"],
        "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    );
    let (_, list) = answer(response).await;
    let group = list["items"]
        .as_array()
        .unwrap()
        .iter()
        .find(|g| g["metadata"]["name"] == "example.io")
        .unwrap();
    assert_contains(
        group,
        &json!({"versions": [{"version": "v1", "freshness": "Current", "resources": [{
            "resource": "widgets", "scope": "Namespaced", "singularResource": "widget",
            "responseKind": {"group": "example.io", "version": "v1", "kind": "Widget"},
            "subresources": [{"subresource": "status"}, {"subresource": "scale"}],
        }]}]}),
        "group",
    );
    let mut again = request("GET /apis", None);
    again
        .headers_mut()
        .insert("accept", accept.parse().unwrap());
    again.headers_mut().insert("if-none-match", tag);
    assert_eq!(send(&server, again).await.status(), 304);
}

#[tokio::test]
async fn open_api_documents() {
    let server = server().await;
    let index = ok(&server, "GET /openapi/v3", None).await;
    let url = index["paths"]["apis/example.io/v1"]["serverRelativeURL"]
        .as_str()
        .unwrap();
    let document = ok(&server, &format!("GET {url}"), None).await;
    let schema = &document["components"]["schemas"]["io.example.v1.Widget"];
    assert_eq!(
        schema["properties"]["spec"]["properties"]["color"]["description"],
        "The color of the widget."
    );
    let v2 = ok(&server, "GET /openapi/v2", None).await;
    assert_eq!(v2["swagger"], "2.0");
    let protobuf = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
    for (accept, code) in [(protobuf, 200), ("application/xml", 406)] {
        let answer = call_accepting(&server, "GET /openapi/v2", accept).await;
        assert_eq!(answer.0, code, "{accept}");
    }
}

#[tokio::test]
async fn health_version_counters_and_reviews() {
    let server = server().await;
    ok(&server, &format!("POST {WIDGETS}"), Some(&widget("one"))).await;
    for path in ["/readyz", "/livez", "/healthz"] {
        assert_eq!(ok(&server, &format!("GET {path}"), None).await, "ok");
    }
    let verbose = ok(&server, "GET /readyz?verbose", None).await;
    assert!(verbose.as_str().unwrap().ends_with("readyz check passed\n"));
    let version = ok(&server, "GET /version", None).await;
    assert!(
        version["gitVersion"]
            .as_str()
            .unwrap()
            .starts_with("v1.36.0+machinist-"),
        "{version}"
    );
    let metrics = ok(&server, "GET /metrics", None).await;
    let line =
        "apiserver_request_total{verb=\"POST\",resource=\"widgets.example.io\",code=\"201\"} 1";
    assert!(metrics.as_str().unwrap().contains(line), "{metrics}");
    check(
        &server,
        &[
            (
                "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                json!({"spec": {"nonResourceAttributes": {"path": "/", "verb": "get"}}}),
                201,
                json!({"status": {"allowed": true}}),
            ),
            (
                "POST /apis/authentication.k8s.io/v1/selfsubjectreviews",
                json!({}),
                201,
                json!({"status": {"userInfo": {"username": "machinist-admin"}}}),
            ),
            ("POST /version", Value::Null, 405, json!({})),
            ("GET /nowhere", Value::Null, 404, json!("~page not found")),
        ],
    )
    .await;
}

#[tokio::test]
async fn services_tell_of_this_api_and_are_not_written() {
    let server = server().await;
    let home = tempfile::tempdir().unwrap();
    let _serving = common::program::serve(&server, home.path()).await;
    let one = "/api/v1/namespaces/default/services/kubernetes";
    common::eventually(&server, &format!("GET {one}"), |code, service| {
        code == 200 && service["spec"]["ports"][0]["port"].is_number()
    })
    .await;
    let service = json!({"metadata": {"name": "web"}, "spec": {"ports": [{"port": 80}]}});
    for line in [
        "POST /api/v1/namespaces/default/services",
        &format!("PUT {one}"),
        &format!("DELETE {one}"),
    ] {
        let (code, status) = call(&server, line, Some(&service)).await;
        assert_eq!(
            (code, &status["reason"]),
            (405, &json!("MethodNotAllowed")),
            "{line}"
        );
    }
    let resources = ok(&server, "GET /api/v1", None).await;
    let entry = resources["resources"]
        .as_array()
        .unwrap()
        .iter()
        .find(|r| r["name"] == "services");
    assert_eq!(entry.unwrap()["verbs"], json!(["get", "list", "watch"]));
}
