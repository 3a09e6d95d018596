//! Several versions of a kind: the same definitions, converters and calls on the embedded server
//! and on a real one; objects, lists, events, managed fields and messages are equal.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed assumption is a failed test"
)]

mod common;

use std::sync::Arc;
use std::time::Duration;

use common::both::{Peer, assert_same, masked};
use common::hooks::{Behaviour, Hooks};
use common::real::Real;
use machinist_apiserver::{ApiServer, Converter, Converters, Identity, Options, Store};
use serde_json::{Value, json};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// A kind whose size is at another place in its second version.
fn definition(plural: &str, storage: &str, conversion: &Value) -> Value {
    let kind = format!(
        "{}{}",
        plural[..1].to_uppercase(),
        &plural[1..plural.len() - 1]
    );
    let version = |name: &str, spec: Value| {
        json!({
            "name": name, "served": true, "storage": name == storage,
            "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}},
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                "spec": {"type": "object", "properties": spec},
                "status": {"type": "object", "properties": {"replicas": {"type": "integer"}, "phase": {"type": "string"}}},
            }}},
        })
    };
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.example.io")},
        "spec": {
            "group": "example.io", "scope": "Namespaced",
            "names": {"plural": plural, "singular": kind.to_lowercase(), "kind": kind, "listKind": format!("{kind}List")},
            "conversion": conversion,
            "versions": [
                version("v1", json!({"size": {"type": "integer"}, "color": {"type": "string"}, "replicas": {"type": "integer"}})),
                version("v2", json!({"dimensions": {"type": "object", "properties": {"size": {"type": "integer"}}}, "color": {"type": "string"}, "replicas": {"type": "integer"}, "size": {"type": "integer"}})),
            ],
        },
    })
}

fn gadget(version: &str, kind: &str, name: &str, spec: Value) -> Value {
    json!({"apiVersion": format!("example.io/{version}"), "kind": kind, "metadata": {"name": name}, "spec": spec})
}

/// Moves the size to where the version has it.
fn convert(object: &mut Value, version: &str) {
    object["apiVersion"] = version.into();
    let Some(spec) = object["spec"].as_object_mut() else {
        return;
    };
    if version.ends_with("v2") {
        if let Some(size) = spec.remove("size") {
            spec.insert("dimensions".into(), json!({"size": size}));
        }
    } else if let Some(dimensions) = spec.remove("dimensions") {
        spec.insert("size".into(), dimensions["size"].clone());
    }
}

fn meddle(object: &mut Value, version: &str) {
    convert(object, version);
    object["metadata"]["annotations"] = json!({"converted": "yes"});
    object["metadata"]["finalizers"] = json!(["example.io/meddled"]);
}

fn rename(object: &mut Value, version: &str) {
    convert(object, version);
    object["metadata"]["name"] = "other".into();
}

fn forget(object: &mut Value, _: &str) {
    object["metadata"]["labels"] = json!({});
}

struct Stage<'a> {
    peer: Peer,
    hooks: &'a Hooks,
    transcript: Vec<(String, Value)>,
    /// How many definitions there were.
    round: usize,
}

impl Stage<'_> {
    async fn call(&mut self, line: &str, body: Value) {
        let given = (!body.is_null()).then_some(&body);
        let answer = self.peer.call(line, given).await;
        // How often a real server converts is its own affair.
        self.hooks.take_reviews();
        let line = format!("{}. {line}", self.transcript.len());
        self.transcript.push((line, answer.masked()));
    }

    async fn get(&mut self, line: &str) {
        self.call(line, Value::Null).await;
    }

    /// Applies a definition and waits until it is in force: a real server takes a while to follow
    /// its own definitions. Each has a column that no other has, and the tables of an empty
    /// namespace tell which one they are made by.
    async fn define(&mut self, definition: &Value) {
        self.round += 1;
        let column = format!("Round {}", self.round);
        let mut definition = definition.clone();
        for version in definition["spec"]["versions"].as_array_mut().unwrap() {
            version["additionalPrinterColumns"] =
                json!([{"name": column, "type": "string", "jsonPath": ".spec.color"}]);
        }
        let name = definition["metadata"]["name"].as_str().unwrap();
        let line = format!("PATCH+apply {DEFINITIONS}/{name}?fieldManager=test&force=true");
        self.peer.ok(&line, Some(&definition)).await;
        let plural = definition["spec"]["names"]["plural"].as_str().unwrap();
        for version in ["v1", "v2"] {
            let list = format!("GET+table /apis/example.io/{version}/namespaces/empty/{plural}");
            let served = async {
                loop {
                    let table = self.peer.call(&list, None).await.body;
                    let columns = table["columnDefinitions"].as_array();
                    if columns.is_some_and(|all| all.iter().any(|c| c["name"] == column)) {
                        return;
                    }
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            };
            tokio::time::timeout(common::PATIENCE, served)
                .await
                .expect("the definition is in force");
        }
    }
}

fn paths(plural: &str) -> (String, String) {
    let path = |v: &str| format!("/apis/example.io/{v}/namespaces/default/{plural}");
    (path("v1"), path("v2"))
}

/// One name for both, so that the transcripts of strategies can be compared too.
async fn life(stage: &mut Stage<'_>, plural: &str, kind: &str) {
    let (v1, v2) = paths(plural);
    stage
        .call(
            &format!("POST {v1}?fieldManager=one"),
            gadget(
                "v1",
                kind,
                "a",
                json!({"size": 1, "color": "red", "replicas": 1}),
            ),
        )
        .await;
    stage
        .call(
            &format!("POST {v2}?fieldManager=two"),
            gadget(
                "v2",
                kind,
                "b",
                json!({"dimensions": {"size": 2}, "color": "blue"}),
            ),
        )
        .await;
    for path in [&v1, &v2] {
        stage.get(&format!("GET {path}/a")).await;
        stage.get(&format!("GET {path}/b")).await;
        stage.get(&format!("GET {path}")).await;
        stage
            .get(&format!("GET {path}?watch=1&timeoutSeconds=1"))
            .await;
        stage.get(&format!("GET {path}/a/scale")).await;
    }
    stage
        .call(
            &format!("PATCH+merge {v2}/a?fieldManager=two"),
            json!({"spec": {"color": "green"}}),
        )
        .await;
    stage
        .call(
            &format!("PATCH+json {v2}/b?fieldManager=two"),
            json!([{"op": "replace", "path": "/spec/color", "value": "black"}]),
        )
        .await;
    stage
        .call(
            &format!("PATCH+merge {v2}/a/status?fieldManager=two"),
            json!({"status": {"phase": "Ready"}}),
        )
        .await;
    stage
        .call(
            &format!("PATCH+merge {v2}/a/scale?fieldManager=two"),
            json!({"spec": {"replicas": 5}}),
        )
        .await;
    stage.get(&format!("GET {v1}/a")).await;
}

async fn webhooks(stage: &mut Stage<'_>) {
    let conversion = json!({"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": stage.hooks.client_config("/convert")}});
    stage.hooks.at("/convert", Behaviour::Convert(convert));
    stage
        .define(&definition("gadgets", "v1", &conversion))
        .await;
    life(stage, "gadgets", "Gadget").await;
    let (v1, v2) = paths("gadgets");
    // The other version becomes the stored one; what lies in the store stays readable.
    stage
        .define(&definition("gadgets", "v2", &conversion))
        .await;
    stage.get(&format!("GET {v1}")).await;
    stage.get(&format!("GET {v2}")).await;
    stage
        .get(&format!("GET {v2}?watch=1&timeoutSeconds=1"))
        .await;
    let name = format!("{DEFINITIONS}/gadgets.example.io");
    let mut without = definition("gadgets", "v2", &conversion);
    without["spec"]["versions"]
        .as_array_mut()
        .unwrap()
        .remove(0);
    stage
        .call(
            &format!("PATCH+apply {name}?fieldManager=test&force=true"),
            without,
        )
        .await;
    for behaviour in [
        Behaviour::Convert(meddle),
        Behaviour::Convert(rename),
        Behaviour::Convert(forget),
        Behaviour::Raw(500, "boom".into()),
        Behaviour::Break,
        Behaviour::Raw(200, json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "response": {"uid": "x"}}).to_string()),
        Behaviour::Raw(200, json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview"}).to_string()),
    ] {
        stage.hooks.at("/convert", behaviour);
        stage.get(&format!("GET {v1}/b")).await;
        stage.get(&format!("GET {v1}")).await;
    }
    stage.hooks.at("/convert", Behaviour::Convert(convert));
    stage.get(&format!("DELETE {v1}/a")).await;
    for conversion in [
        json!({"strategy": "Odd"}),
        json!({"strategy": "Webhook"}),
        json!({"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v3"], "clientConfig": {}}}),
        json!({"strategy": "None", "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": {"url": "https://a.b/c"}}}),
        json!({"strategy": "Webhook", "webhook": {"conversionReviewVersions": [], "clientConfig": {"url": "http://a.b/c?d#e"}}}),
    ] {
        stage
            .call(&format!("PUT {name}"), {
                let mut whole = definition("gadgets", "v2", &conversion);
                whole["metadata"]["resourceVersion"] = stage
                    .peer
                    .ok(&format!("GET {name}"), None)
                    .await["metadata"]["resourceVersion"]
                    .clone();
                whole
            })
            .await;
    }
}

async fn none(stage: &mut Stage<'_>) {
    stage
        .define(&definition("gizmos", "v1", &json!({"strategy": "None"})))
        .await;
    life(stage, "gizmos", "Gizmo").await;
    let (v1, v2) = paths("gizmos");
    let apply = |version: &str, spec: Value| gadget(version, "Gizmo", "c", spec);
    stage
        .call(
            &format!("PATCH+apply {v1}/c?fieldManager=x"),
            apply("v1", json!({"size": 1, "color": "red"})),
        )
        .await;
    stage
        .call(
            &format!("PATCH+apply {v2}/c?fieldManager=y"),
            apply("v2", json!({"color": "blue"})),
        )
        .await;
    stage
        .call(
            &format!("PATCH+apply {v2}/c?fieldManager=x"),
            apply("v2", json!({"color": "red"})),
        )
        .await;
    // A default that came later shows on what was there before, in lists and events too.
    let mut later = definition("gizmos", "v1", &json!({"strategy": "None"}));
    for version in later["spec"]["versions"].as_array_mut().unwrap() {
        version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["grade"] =
            json!({"type": "string", "default": "plain"});
    }
    stage.define(&later).await;
    for path in [&v1, &v2] {
        stage.get(&format!("GET {path}/c")).await;
        stage.get(&format!("GET {path}")).await;
        stage
            .get(&format!("GET {path}?watch=1&timeoutSeconds=1"))
            .await;
    }
}

async fn all(stage: &mut Stage<'_>) {
    none(stage).await;
    webhooks(stage).await;
}

fn embedded(server: &ApiServer) -> Peer {
    let client = kube::Client::new(server.service(Identity::admin()), "default");
    Peer {
        name: "embedded",
        client,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_real_server_converts_the_same() {
    let Some(real) = Real::start().await else {
        return;
    };
    let hooks = Hooks::start().await;
    let server = common::server().await;
    let mut ours = Stage {
        peer: embedded(&server),
        hooks: &hooks,
        transcript: Vec::new(),
        round: 0,
    };
    all(&mut ours).await;
    let peer = Peer {
        name: "real",
        client: real.client.clone(),
    };
    let mut theirs = Stage {
        peer,
        hooks: &hooks,
        transcript: Vec::new(),
        round: 0,
    };
    all(&mut theirs).await;
    assert_same(&ours.transcript, &theirs.transcript);
}

struct Mover;

impl Converter for Mover {
    fn convert(&self, object: &mut Value, api_version: &str) -> Result<(), String> {
        convert(object, api_version);
        Ok(())
    }
}

#[tokio::test]
async fn a_converter_in_the_process_does_what_a_webhook_does() {
    let hooks = Hooks::start().await;
    hooks.at("/convert", Behaviour::Convert(convert));
    let mut transcripts = Vec::new();
    let service = json!({"service": {"namespace": "vitistack-system", "name": "vitistack-webhook-service", "path": "/convert"}});
    for config in [hooks.client_config("/convert"), service] {
        let mut converters = Converters::new();
        converters.insert(("example.io".into(), "Gadget".into()), Arc::new(Mover));
        let options = Options {
            converters,
            ..Options::default()
        };
        let server = ApiServer::new(Store::memory(), options).await.unwrap();
        let mut stage = Stage {
            peer: embedded(&server),
            hooks: &hooks,
            transcript: Vec::new(),
            round: 0,
        };
        let conversion = json!({"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": config}});
        stage
            .define(&definition("gadgets", "v1", &conversion))
            .await;
        life(&mut stage, "gadgets", "Gadget").await;
        transcripts.push(stage.transcript);
    }
    assert_same(&transcripts[0], &transcripts[1]);
    let v2 = masked(&transcripts[0][7].1);
    assert_eq!(v2["body"]["spec"]["dimensions"]["size"], 1, "{v2}");
}
