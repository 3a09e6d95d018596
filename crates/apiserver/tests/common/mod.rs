//! One helper that knows how to call the server; the tests are tables of calls and answers.

#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "shared test code"
)]

pub mod both;
pub mod hooks;
pub mod ours;
pub mod program;
pub mod real;
pub mod stage;
pub mod tls;
pub mod wire;

use std::time::Duration;

use axum::body::Body;
use futures::StreamExt as _;
use http::{Request, Response};
use http_body_util::BodyExt as _;
use machinist_apiserver::{ApiServer, Identity, Limits, Options, Store};
use serde_json::{Value, json};
use tower::ServiceExt as _;

/// The limit of every wait: generous, because the machine may be busy.
pub const PATIENCE: Duration = Duration::from_secs(30);

pub const WIDGETS: &str = "/apis/example.io/v1/namespaces/default/widgets";

/// The definition that the tests use.
pub fn widget_definition() -> Value {
    serde_json::from_str(include_str!("../data/widgets.json")).unwrap()
}

/// A server in memory that serves widgets.
pub async fn server() -> ApiServer {
    server_on(Store::memory()).await
}

/// A server on a store that serves widgets.
pub async fn server_on(store: Store) -> ApiServer {
    server_with(store, Limits::default()).await
}

/// A server that serves widgets within limits.
pub async fn server_with(store: Store, limits: Limits) -> ApiServer {
    let options = Options {
        crds: vec![widget_definition()],
        limits,
        ..Options::default()
    };
    let server = ApiServer::new(store, options).await.unwrap();
    // The server is still writing at first; tests that count revisions start from rest.
    for namespace in ["default", "kube-system", "vitistack-system"] {
        let account = format!("GET /api/v1/namespaces/{namespace}/serviceaccounts/default");
        eventually(&server, &account, |code, _| code == 200).await;
    }
    server
}

/// A widget of this name.
pub fn widget(name: &str) -> Value {
    json!({
        "apiVersion": "example.io/v1",
        "kind": "Widget",
        "metadata": {"name": name},
        "spec": {"color": "red"},
    })
}

/// The revision of the widgets as they are.
pub async fn revision(server: &ApiServer) -> String {
    let list = ok(server, &format!("GET {WIDGETS}"), None).await;
    list["metadata"]["resourceVersion"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// Sends a request and gives the response as it comes.
pub async fn send(server: &ApiServer, request: Request<Body>) -> Response<Body> {
    server
        .service(Identity::admin())
        .oneshot(request)
        .await
        .unwrap()
}

/// A request in the shorthand of the tables: `METHOD[+merge|+json|+apply|+strategic] PATH`.
pub fn request(line: &str, body: Option<&Value>) -> Request<Body> {
    let (method, path) = line.split_once(' ').unwrap();
    let (method, patch) = method.split_once('+').unwrap_or((method, ""));
    let content_type = match patch {
        "" | "table" => "application/json",
        "merge" => "application/merge-patch+json",
        "json" => "application/json-patch+json",
        "apply" => "application/apply-patch+yaml",
        "strategic" => "application/strategic-merge-patch+json",
        other => panic!("unknown patch {other}"),
    };
    let body = body.map_or_else(Body::empty, |b| Body::from(b.to_string()));
    let mut builder = Request::builder();
    if patch == "table" {
        builder = builder.header("accept", "application/json;as=Table;v=v1;g=meta.k8s.io");
    }
    builder
        .method(method)
        .uri(path)
        .header("content-type", content_type)
        .header("user-agent", "table-test/1.0")
        .body(body)
        .unwrap()
}

/// The code and the body of an answer.
pub async fn answer(response: Response<Body>) -> (u16, Value) {
    let code = response.status().as_u16();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    let value = serde_json::from_slice(&bytes)
        .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&bytes).into_owned()));
    (code, value)
}

/// Calls the server.
pub async fn call(server: &ApiServer, line: &str, body: Option<&Value>) -> (u16, Value) {
    answer(send(server, request(line, body)).await).await
}

/// A caller of this name in these groups, beside those that every caller is in.
pub fn user(name: &str, groups: &[&str]) -> Identity {
    let groups = groups.iter().chain(&["system:authenticated"]);
    Identity {
        user: name.into(),
        groups: groups.map(|group| (*group).to_owned()).collect(),
        ..Identity::default()
    }
}

/// Calls the server as somebody.
pub async fn call_as(
    server: &ApiServer,
    who: &Identity,
    line: &str,
    body: Option<&Value>,
) -> (u16, Value) {
    let service = server.service(who.clone());
    answer(service.oneshot(request(line, body)).await.unwrap()).await
}

/// Calls the server with an `Accept` header.
pub async fn call_accepting(server: &ApiServer, line: &str, accept: &str) -> (u16, Value) {
    let mut request = request(line, None);
    request
        .headers_mut()
        .insert("accept", accept.parse().unwrap());
    answer(send(server, request).await).await
}

/// Calls the server and expects success.
pub async fn ok(server: &ApiServer, line: &str, body: Option<&Value>) -> Value {
    let (code, value) = call(server, line, body).await;
    assert!(code < 300, "{line}: {code} {value}");
    value
}

/// One row of a table: a request, its body, the expected code, and what the answer must contain.
pub type Row<'a> = (&'a str, Value, u16, Value);

/// Runs the rows in order; `null` as a body means none.
pub async fn check(server: &ApiServer, rows: &[Row<'_>]) {
    for (line, body, code, expected) in rows {
        let body = (!body.is_null()).then_some(body);
        let (found_code, found) = call(server, line, body).await;
        assert_eq!(found_code, *code, "{line} answered {found}");
        assert_contains(&found, expected, line);
    }
}

/// Whether `found` has everything that `expected` has; `null` expects absence, a text that begins
/// with `~` expects to be a part of the found text.
pub fn assert_contains(found: &Value, expected: &Value, context: &str) {
    match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => {
            for (key, value) in expected {
                let at = format!("{context} .{key}");
                assert_contains(found.get(key).unwrap_or(&Value::Null), value, &at);
            }
        }
        (Value::Array(expected), Value::Array(found)) => {
            assert_eq!(expected.len(), found.len(), "{context}: {found:?}");
            for (at, (expected, found)) in expected.iter().zip(found).enumerate() {
                assert_contains(found, expected, &format!("{context} [{at}]"));
            }
        }
        (Value::String(expected), Value::String(found)) if expected.starts_with('~') => {
            assert!(
                found.contains(&expected[1..]),
                "{context}: {found:?} does not contain {expected:?}"
            );
        }
        (expected, found) => assert_eq!(found, expected, "{context}"),
    }
}

/// Asks again until the answer satisfies a condition.
pub async fn eventually(server: &ApiServer, line: &str, condition: impl Fn(u16, &Value) -> bool) {
    let wait = async {
        loop {
            let (code, value) = call(server, line, None).await;
            if condition(code, &value) {
                return;
            }
            tokio::task::yield_now().await;
        }
    };
    if tokio::time::timeout(PATIENCE, wait).await.is_err() {
        let (code, value) = call(server, line, None).await;
        panic!("{line} stayed at {code} {value}");
    }
}

/// An open watch.
pub struct Watching {
    stream: axum::body::BodyDataStream,
    buffer: Vec<u8>,
}

/// Opens a watch.
pub async fn watch(server: &ApiServer, line: &str) -> Watching {
    watch_accepting(server, line, "application/json").await
}

/// Opens a watch with an `Accept` header.
pub async fn watch_accepting(server: &ApiServer, line: &str, accept: &str) -> Watching {
    let mut request = request(line, None);
    request
        .headers_mut()
        .insert("accept", accept.parse().unwrap());
    let response = send(server, request).await;
    assert_eq!(response.status(), 200, "{line}");
    Watching {
        stream: response.into_body().into_data_stream(),
        buffer: Vec::new(),
    }
}

impl Watching {
    /// The next event, or nothing when the stream has ended.
    pub async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some(at) = self.buffer.iter().position(|b| *b == b'\n') {
                let line: Vec<u8> = self.buffer.drain(..=at).collect();
                return Some(serde_json::from_slice(&line).unwrap());
            }
            let piece = tokio::time::timeout(PATIENCE, self.stream.next())
                .await
                .expect("an event in time")?;
            self.buffer.extend_from_slice(&piece.unwrap());
        }
    }

    /// The next event as `TYPE name`.
    pub async fn next_line(&mut self) -> String {
        let event = self.next().await.expect("the stream goes on");
        let name = event["object"]["metadata"]["name"].as_str().unwrap_or("-");
        format!("{} {name}", event["type"].as_str().unwrap())
    }
}
