//! Typed Go clients, which send Kubernetes protobuf and nothing else: two kubectls and two Helms
//! over TLS, and the bodies themselves without a socket.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed assumption is a failed test"
)]

mod common;

use std::path::Path;

use axum::body::Body;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use common::program::{Program, serve};
use common::{WIDGETS, assert_contains, ok, server, widget};
use http::Request;
use serde_json::{Value, json};

const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

/// What the Go serializer wrote for an object.
fn vector(name: &str) -> Vec<u8> {
    let text = include_str!("../src/protobuf/testdata/vectors.json");
    let vectors: Vec<Value> = serde_json::from_str(text).unwrap();
    let vector = vectors.iter().find(|v| v["name"] == name).expect(name);
    STANDARD
        .decode(vector["protobuf"].as_str().unwrap())
        .unwrap()
}

fn typed(line: &str, body: Vec<u8>) -> Request<Body> {
    let mut request = common::request(line, None);
    let headers = request.headers_mut();
    headers.insert("content-type", PROTOBUF.parse().unwrap());
    let accept = format!("{PROTOBUF},application/json");
    headers.insert("accept", accept.parse().unwrap());
    *request.body_mut() = body.into();
    request
}

#[tokio::test]
async fn bodies_in_protobuf() {
    let server = server().await;
    ok(&server, &format!("POST {WIDGETS}"), Some(&widget("one"))).await;
    let namespaces = "/api/v1/namespaces";
    // Where the recorded Scales belong.
    let space = json!({"metadata": {"name": "space"}});
    ok(&server, &format!("POST {namespaces}"), Some(&space)).await;
    let elsewhere = WIDGETS.replace("default", "space");
    let line = format!("POST {elsewhere}");
    ok(&server, &line, Some(&widget("one"))).await;
    let secrets = format!("{namespaces}/default/secrets");
    let reviews = "/apis/authorization.k8s.io/v1";
    let rows = [
        (
            format!("POST {namespaces}"),
            vector("namespace as kubectl creates it"),
            201,
            json!({
                "kind": "Namespace", "apiVersion": "v1", "metadata": {"name": "one"}, "status": {"phase": "Active"},
            }),
        ),
        (
            format!("POST {namespaces}"),
            vector("namespace as kubectl creates it"),
            409,
            json!({"reason": "AlreadyExists"}),
        ),
        (
            format!("POST {secrets}"),
            vector("secret of a release"),
            201,
            json!({"type": "helm.sh/release.v1", "data": {"release": "~SDRzSUFBQUFIN"}}),
        ),
        (
            format!("PUT {secrets}/sh.helm.release.v1.one.v1"),
            vector("secret of a release"),
            200,
            json!({"type": "helm.sh/release.v1"}),
        ),
        (
            format!("POST {secrets}"),
            vector("secret"),
            400,
            json!({"message": "~the namespace of the provided object does not match"}),
        ),
        (
            format!("POST {secrets}"),
            vector("config map"),
            400,
            json!({"reason": "BadRequest"}),
        ),
        (
            format!("POST {secrets}"),
            vector("secret")[..40].to_vec(),
            400,
            json!({"kind": "Status", "reason": "BadRequest", "message": "~unexpected EOF"}),
        ),
        (
            format!("POST {secrets}"),
            b"{}".to_vec(),
            400,
            json!({"message": "~does not appear to be a protobuf message"}),
        ),
        (
            format!("POST {WIDGETS}"),
            vector("secret"),
            415,
            json!({
                "reason": "UnsupportedMediaType",
                "message": "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf",
            }),
        ),
        (
            format!("PUT {WIDGETS}/one/scale"),
            vector("scale"),
            400,
            json!({"message": "~the namespace of the provided object does not match"}),
        ),
        (
            format!("PUT {elsewhere}/one/scale"),
            vector("scale"),
            200,
            json!({"spec": {"replicas": 3}}),
        ),
        (
            format!("PUT {elsewhere}/one/scale"),
            vector("scale to nothing"),
            200,
            // A zero is left out of a Scale, as Kubernetes has it.
            json!({"spec": {"replicas": null}}),
        ),
        // The options of a deletion are known for every kind; these name both
        // forms of a policy, which no server takes.
        (
            format!("DELETE {WIDGETS}/one"),
            vector("delete options"),
            422,
            json!({"message": "~cannot be both set"}),
        ),
        (
            format!("DELETE {WIDGETS}/one"),
            vector("empty delete options"),
            200,
            json!({"status": "Success"}),
        ),
        (
            format!("DELETE {WIDGETS}/one"),
            b"k8s\0\xff".to_vec(),
            400,
            json!({"reason": "BadRequest"}),
        ),
        (
            format!("POST {reviews}/selfsubjectaccessreviews"),
            vector("self subject access review"),
            422,
            json!({"message": "~rawSelector: Invalid value: \"a=b\": may not specified at the same time as requirements"}),
        ),
        (
            format!("POST {reviews}/selfsubjectrulesreviews"),
            vector("self subject rules review"),
            201,
            json!({
                "kind": "SelfSubjectRulesReview", "status": {"incomplete": false},
            }),
        ),
        (
            format!("POST {reviews}/selfsubjectrulesreviews"),
            vector("answered self subject rules review"),
            400,
            json!({"message": "no namespace on request"}),
        ),
        (
            format!("POST {reviews}/subjectaccessreviews"),
            vector("subject access review"),
            422,
            json!({"reason": "Invalid", "details": {"group": "authorization.k8s.io"}}),
        ),
    ];
    for (line, body, code, expected) in rows {
        let (found, answer) = common::answer(common::send(&server, typed(&line, body)).await).await;
        assert_eq!(found, code, "{line}: {answer}");
        assert_contains(&answer, &expected, &line);
    }
}

#[tokio::test]
async fn a_definition_in_protobuf_is_served() {
    let server = server().await;
    let create = typed(
        "POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions",
        vector("small definition"),
    );
    let (code, answer) = common::answer(common::send(&server, create).await).await;
    assert_eq!(code, 201, "{answer}");
    let gadgets = "/apis/example.io/v1/gadgets";
    common::eventually(&server, &format!("GET {gadgets}"), |code, _| code == 200).await;
    let gadget = json!({"apiVersion": "example.io/v1", "kind": "Gadget", "metadata": {"name": "one"}, "spec": {}});
    let made = ok(&server, &format!("POST {gadgets}"), Some(&gadget)).await;
    assert_eq!(made["spec"]["size"], 3);
}

#[tokio::test]
async fn nothing_is_answered_in_protobuf() {
    let server = server().await;
    let review = "POST /apis/authentication.k8s.io/v1/selfsubjectreviews";
    for (line, body) in [
        ("GET /api/v1/namespaces/default", Vec::new()),
        (review, vector("self subject review")),
    ] {
        let mut request = typed(line, body);
        request
            .headers_mut()
            .insert("accept", PROTOBUF.parse().unwrap());
        let (code, answer) = common::answer(common::send(&server, request).await).await;
        assert_eq!((code, &answer["reason"]), (406, &json!("NotAcceptable")));
    }
}

#[tokio::test]
async fn reviews_are_discovered() {
    let server = server().await;
    let list = ok(&server, "GET /apis/authorization.k8s.io/v1", None).await;
    let resource = |name: &str| {
        let namespaced = name.starts_with("local");
        json!({"name": name, "namespaced": namespaced, "verbs": ["create"]})
    };
    assert_contains(
        &list["resources"],
        &json!([
            resource("localsubjectaccessreviews"),
            resource("selfsubjectaccessreviews"),
            resource("selfsubjectrulesreviews"),
            resource("subjectaccessreviews")
        ]),
        "resources",
    );
    let group = ok(&server, "GET /apis/authentication.k8s.io", None).await;
    assert_eq!(
        group["preferredVersion"]["groupVersion"],
        "authentication.k8s.io/v1"
    );
    let accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    let (_, list) = common::call_accepting(&server, "GET /apis", accept).await;
    let groups = list["items"].as_array().unwrap();
    let group = groups
        .iter()
        .find(|g| g["metadata"]["name"] == "authentication.k8s.io");
    let expected = json!([
        {"resource": "selfsubjectreviews", "scope": "Cluster"},
        {"resource": "tokenreviews", "scope": "Cluster"},
    ]);
    assert_contains(
        &group.unwrap()["versions"][0]["resources"],
        &expected,
        "group",
    );
}

async fn kubectl_creates(variable: &str) {
    let home = tempfile::tempdir().unwrap();
    let Some(kubectl) = Program::find(variable, "kubectl", home.path()).await else {
        return;
    };
    let server = server().await;
    let serving = serve(&server, home.path()).await;
    kubectl
        .check(&[
            ("create ns one", true, "namespace/one created"),
            ("create ns one", false, "AlreadyExists"),
            (
                "create cm settings -n one --from-literal=a=b",
                true,
                "configmap/settings created",
            ),
            ("get cm settings -n one -o |jsonpath={.data.a}|", true, "b"),
            (
                "create secret generic key -n one --from-literal=a=b",
                true,
                "secret/key created",
            ),
            (
                "get secret key -n one -o |jsonpath={.type} {.data.a}|",
                true,
                "Opaque Yg==",
            ),
            (
                "create sa robot -n one",
                true,
                "serviceaccount/robot created",
            ),
            (
                "create cm settings -n nowhere",
                false,
                "namespaces \"nowhere\" not found",
            ),
            (
                "create cm |Bad_Name| -n one",
                false,
                "a lowercase RFC 1123 subdomain",
            ),
            ("auth can-i create widgets", true, "yes"),
            ("auth can-i --list", true, "*.*"),
            ("auth whoami", true, "system:masters"),
            (
                "delete cm settings -n one",
                true,
                "configmap \"settings\" deleted",
            ),
            ("delete ns one", true, "namespace \"one\" deleted"),
            ("get ns one", false, "NotFound"),
        ])
        .await;
    serving.abort();
}

#[tokio::test]
async fn the_new_kubectl_creates() {
    kubectl_creates("MACHINIST_KUBECTL").await;
}

#[tokio::test]
async fn the_old_kubectl_creates() {
    kubectl_creates("MACHINIST_KUBECTL_OLD").await;
}

fn write_chart(home: &Path) {
    let templates = home.join("chart/templates");
    std::fs::create_dir_all(&templates).unwrap();
    let file =
        |name: &str, text: &str| std::fs::write(home.join("chart").join(name), text).unwrap();
    file("Chart.yaml", "apiVersion: v2\nname: tiny\nversion: 0.1.0\n");
    file("values.yaml", "color: red\n");
    file(
        "templates/settings.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}\ndata:\n  color: {{ .Values.color }}\n",
    );
}

async fn helm_releases(variable: &str) {
    let home = tempfile::tempdir().unwrap();
    let Some(helm) = Program::find(variable, "helm", home.path()).await else {
        return;
    };
    write_chart(home.path());
    let server = server().await;
    let serving = serve(&server, home.path()).await;
    let settings = "GET /api/v1/namespaces/space/configmaps/tiny";
    for (line, color) in [
        ("install tiny chart -n space --create-namespace", "red"),
        ("upgrade tiny chart -n space --set color=blue", "blue"),
        ("rollback tiny 1 -n space", "red"),
    ] {
        helm.check(&[(line, true, "")]).await;
        let object = ok(&server, settings, None).await;
        assert_eq!(object["data"]["color"], color, "helm {line}");
    }
    helm.check(&[
        ("list -n space", true, "tiny-0.1.0"),
        ("history tiny -n space", true, "Rollback to 1"),
        ("get manifest tiny -n space", true, "color: red"),
        (
            "uninstall tiny -n space",
            true,
            "release \"tiny\" uninstalled",
        ),
    ])
    .await;
    assert_eq!(common::call(&server, settings, None).await.0, 404);
    let secrets = ok(&server, "GET /api/v1/namespaces/space/secrets", None).await;
    assert_eq!(secrets["items"], json!([]));
    serving.abort();
}

#[tokio::test]
async fn the_new_helm_releases() {
    helm_releases("MACHINIST_HELM").await;
}

#[tokio::test]
async fn the_old_helm_releases() {
    helm_releases("MACHINIST_HELM_OLD").await;
}
