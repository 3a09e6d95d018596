//! Doors for fuzzers: each takes any bytes and may refuse them, but must come back without a
//! panic. `fuzz/` runs them with a coverage-guided fuzzer, `tests/fuzzing.rs` on every test run.
//! Nothing of the server uses this.

use std::cell::RefCell;
use std::sync::Arc;

use axum::body::Body;
use http::{Request, StatusCode};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tower::ServiceExt as _;

use crate::apply::{self, Manager, Set};
use crate::patch::{self, PatchKind};
use crate::protobuf::Envelope;
use crate::registry::Strategic;
use crate::resource::ListOptions;
use crate::schema::{self, Schema, Validator};
use crate::selector::Selector;
use crate::{ApiServer, Identity, Options, Store};

/// A function that takes any bytes.
pub type Target = fn(&[u8]);

/// Every target, by the name of its corpus.
pub const TARGETS: [(&str, Target); 7] = [
    ("request", request),
    ("patch", patch),
    ("apply", apply),
    ("cel", cel),
    ("protobuf", protobuf),
    ("selector", selector),
    ("token", token),
];

/// A kind with every way of merging, defaulting and validating.
fn definition() -> Value {
    let schema = json!({"type": "object", "properties": {
        "spec": {"type": "object", "x-kubernetes-validations": [{"rule": "!has(self.text) || self.text != 'no'"}],
            "properties": {
                "text": {"type": "string", "maxLength": 20, "default": "x"},
                "number": {"type": "integer", "minimum": 0},
                "either": {"x-kubernetes-int-or-string": true},
                "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
                "map": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
                    "items": {"type": "object", "required": ["name"], "properties": {
                        "name": {"type": "string"}, "value": {"type": "string"}}}},
                "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
                "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            }},
    }});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.example.io"},
        "spec": {
            "group": "example.io", "scope": "Namespaced",
            "names": {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": schema}, "subresources": {"status": {}}}],
        },
    })
}

fn thing_schema() -> Schema {
    let definition = definition();
    let schema = definition.pointer("/spec/versions/0/schema/openAPIV3Schema");
    schema
        .and_then(|schema| Schema::from_value(schema).ok())
        .unwrap_or_default()
}

thread_local! {
    static SERVER: RefCell<Option<(Runtime, ApiServer)>> = const { RefCell::new(None) };
}

/// Runs something with a server in memory, made once for each thread.
fn with_server(run: impl AsyncFnOnce(&ApiServer)) {
    SERVER.with_borrow_mut(|slot| {
        if slot.is_none() {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            let Ok(runtime) = runtime else { return };
            let options = Options {
                crds: vec![definition()],
                ..Options::default()
            };
            let server = runtime.block_on(ApiServer::new(Store::memory(), options));
            let Ok(server) = server else { return };
            *slot = Some((runtime, server));
        }
        if let Some((runtime, server)) = slot.as_ref() {
            runtime.block_on(run(server));
        }
    });
}

/// A whole request: a line with method and path, one with the content type, one with what is
/// accepted, and the body.
fn request(bytes: &[u8]) {
    let mut parts = bytes.splitn(4, |b| *b == b'\n');
    let mut line = || String::from_utf8_lossy(parts.next().unwrap_or_default()).into_owned();
    let (first, content_type, accept) = (line(), line(), line());
    let body = parts.next().unwrap_or_default().to_vec();
    let (method, path) = first.split_once(' ').unwrap_or(("GET", &first));
    let built = Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", content_type)
        .header("accept", accept)
        .body(Body::from(body));
    // What is no request at all does not come past the HTTP library.
    let Ok(request) = built else { return };
    if request.uri().query().is_some_and(|q| q.contains("watch")) {
        return;
    }
    with_server(async |server| {
        let Ok(answer) = server.service(Identity::admin()).oneshot(request).await;
        let code = answer.status();
        let body = answer.into_body().collect().await.map(|b| b.to_bytes());
        let body = body.unwrap_or_default();
        if code.is_client_error() || code.is_server_error() {
            // A path that is nobody's is answered in plain text, as upstream does.
            if code == StatusCode::NOT_FOUND && body.starts_with(b"404 ") {
                return;
            }
            // Who accepts YAML is refused in YAML. That has not all characters that JSON has.
            let text = String::from_utf8_lossy(&body);
            let status = serde_json::from_str(&text);
            let status = status.or_else(|_| serde_saphyr::from_str::<Value>(&text));
            let status = status.unwrap_or_default();
            assert_eq!(status["kind"], "Status", "{code}: {body:?}");
            assert_eq!(status["code"], code.as_u16());
            assert_ne!(status["reason"], Value::Null);
            // An applied object that does not fit its schema is a fault of the server upstream, too.
            let message = status["message"].as_str().unwrap_or_default();
            assert!(!message.contains("panic"), "{message}");
        }
    });
}

/// Two JSON documents after one byte.
fn two_documents(bytes: &[u8]) -> Option<(u8, Value, Value)> {
    let (first, rest) = bytes.split_first()?;
    let mut documents = serde_json::Deserializer::from_slice(rest).into_iter::<Value>();
    let one = documents.next()?.ok()?;
    let two = documents.next()?.ok()?;
    Some((*first, one, two))
}

/// A kind of patch, an object, and a patch.
fn patch(bytes: &[u8]) {
    let Some((kind, live, change)) = two_documents(bytes) else {
        return;
    };
    let kind = match kind % 3 {
        0 => PatchKind::Json,
        1 => PatchKind::Merge,
        _ => PatchKind::Strategic,
    };
    let lists = patch::Lists {
        kind: "Thing",
        strategic: &Strategic::BySchema(Arc::default()),
        schema: &thing_schema(),
    };
    if let Ok(patched) = patch::apply_patch(kind, lists, &live, &change) {
        let _ = crate::codec::encode_bounded(&patched);
    }
}

/// Force, a live object, and what is applied; what comes out is applied to once more.
fn apply(bytes: &[u8]) {
    let Some((force, live, applied)) = two_documents(bytes) else {
        return;
    };
    let schema = thing_schema();
    let manager = |name| Manager {
        name,
        api_version: "example.io/v1",
        subresource: "",
        now: "2024-01-01T00:00:00Z",
    };
    let live = live.is_object().then_some(live);
    let first = apply::apply(
        &schema,
        live.as_ref(),
        &applied,
        &manager("a"),
        force % 2 == 0,
        &Set::new(),
    );
    if let Ok(mut first) = first {
        let _ = apply::apply(
            &schema,
            Some(&first),
            &json!({}),
            &manager("a"),
            true,
            &Set::new(),
        );
        schema::prune(&schema, &mut first);
        schema::default(&schema, &mut first);
        let _ = schema::validate(&schema, &first, live.as_ref());
    }
}

/// A rule, judged on an object.
fn cel(bytes: &[u8]) {
    let Ok(rule) = std::str::from_utf8(bytes) else {
        return;
    };
    let mut schema = thing_schema();
    if let Some(spec) = schema.properties.get_mut("spec")
        && let Some(first) = spec.validations.first_mut()
    {
        first.rule = rule.into();
        first.message_expression = Some(rule.into());
    }
    let Ok(validator) = Validator::new(schema) else {
        return;
    };
    let object = json!({"spec": {
        "text": "text", "number": 3, "either": "5%", "set": ["a", "b"], "labels": {"a": "b"},
        "map": [{"name": "a", "value": "b"}], "free": {"x": [1, 2.5, null]},
    }});
    let _ = validator.validate(&object, None);
    let _ = validator.validate(&object, Some(&object));
}

/// A body in Kubernetes protobuf, of its own kind or of a Secret.
fn protobuf(bytes: &[u8]) {
    if let Ok(envelope) = Envelope::open(bytes, "v1", "Secret") {
        let _ = envelope.object();
    }
}

/// A label selector and a field selector, on two lines.
fn selector(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (labels, fields) = text.split_once('\n').unwrap_or((&text, ""));
    with_server(async |server| {
        let snapshot = server.core().registry.snapshot();
        let Some(kind) = snapshot.find("example.io", "v1", "things") else {
            return;
        };
        if let Ok(selector) = Selector::parse(&kind, labels, fields) {
            let object = json!({"metadata": {"name": "a", "labels": {"a": "b", "n": "3"}}});
            let _ = (selector.matches(&object), selector.matches(&Value::Null));
        }
    });
}

/// A token with which a list goes on.
fn token(bytes: &[u8]) {
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    let plain = String::from_utf8_lossy(bytes).into_owned();
    let encoded = URL_SAFE_NO_PAD.encode(bytes);
    with_server(async |server| {
        let core = server.core();
        let snapshot = core.registry.snapshot();
        let Some(kind) = snapshot.find("", "v1", "namespaces") else {
            return;
        };
        for token in [plain, encoded] {
            let options = ListOptions {
                token: Some(token),
                limit: Some(1),
                ..ListOptions::default()
            };
            let listed = core.list(&kind, None, &Selector::default(), &options).await;
            if let Err(error) = listed {
                assert_ne!(error.code, StatusCode::INTERNAL_SERVER_ERROR, "{error}");
            }
        }
    });
}
