//! Webhooks where no real server is needed to know what is right: hostile answers, services that
//! the embedder claims, what is never shown, and writes that meet each other.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed assumption is a failed test"
)]

mod common;

use std::sync::Arc;

use common::both::Peer;
use common::hooks::{Behaviour, Hooks};
use common::stage::{Stage, rules, with};
use common::{WIDGETS, call, ok, server, widget, widget_definition};
use futures::future::BoxFuture;
use machinist_apiserver::webhook::{Backend, Endpoint};
use machinist_apiserver::{ApiServer, Identity, Options, Store};
use serde_json::{Value, json};

fn stage<'a>(server: &ApiServer, hooks: &'a Hooks) -> Stage<'a> {
    let client = kube::Client::new(server.service(Identity::admin()), "default");
    hooks.at("/marker", Behaviour::Deny(json!({"message": "marked"})));
    Stage::new(
        Peer {
            name: "embedded",
            client,
        },
        hooks,
    )
}

#[tokio::test]
async fn hostile_answers_are_refused() {
    let hooks = Hooks::start().await;
    let server = server().await;
    let mut stage = stage(&server, &hooks);
    let hook = stage.hook("check.example.io", "/check");
    stage
        .configure(&[("Validating", "check", vec![hook])])
        .await;
    hooks.at("/elsewhere", Behaviour::Allow);
    let elsewhere = hooks.client_config("/elsewhere")["url"]
        .as_str()
        .unwrap()
        .to_owned();
    for (behaviour, expected) in [
        (
            Behaviour::Redirect(elsewhere),
            "the server responded with the status code 307",
        ),
        (
            Behaviour::Huge(9 << 20),
            "the response is larger than 8388608 bytes",
        ),
        (
            Behaviour::Raw(200, "garbage".into()),
            "couldn't get version/kind; json parse error",
        ),
        (
            Behaviour::Raw(200, "[]".into()),
            "received invalid webhook response",
        ),
    ] {
        hooks.at("/check", behaviour.clone());
        let line = format!("POST {WIDGETS}?dryRun=All");
        let (code, body) = call(&server, &line, Some(&widget("one"))).await;
        assert_eq!(code, 500, "{behaviour:?}: {body}");
        let message = body["message"].as_str().unwrap();
        assert!(
            message.contains(expected),
            "{message} does not say {expected}"
        );
    }
    assert!(
        !hooks
            .take_reviews()
            .iter()
            .any(|(path, _)| path == "/elsewhere")
    );
}

/// Denies everything with the path that was called.
struct Denier;

impl Backend for Denier {
    fn call<'a>(
        &'a self,
        path: &'a str,
        review: Value,
        _: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Value, String>> {
        Box::pin(async move {
            Ok(json!({
                "apiVersion": review["apiVersion"], "kind": review["kind"],
                "response": {"uid": review["request"]["uid"], "allowed": false, "status": {"message": path}},
            }))
        })
    }
}

#[tokio::test]
async fn services_are_who_the_embedder_says() {
    let hooks = Hooks::start().await;
    hooks.at("/far", Behaviour::Deny(json!({"message": "far"})));
    let address = hooks.address;
    let services = move |namespace: &str, name: &str, port: u16| match (namespace, name, port) {
        ("default", "hooks", 443) => Some(Endpoint::Address(address)),
        ("default", "near", 8443) => Some(Endpoint::Backend(Arc::new(Denier))),
        _ => None,
    };
    let options = Options {
        crds: vec![widget_definition()],
        services: Some(Arc::new(services)),
        ..Options::default()
    };
    let server = ApiServer::new(Store::memory(), options).await.unwrap();
    let mut stage = stage(&server, &hooks);
    for (service, expected) in [
        (
            json!({"namespace": "default", "name": "hooks", "path": "/far"}),
            "denied the request: far",
        ),
        (
            json!({"namespace": "default", "name": "near", "path": "/near", "port": 8443}),
            "denied the request: /near",
        ),
        (
            json!({"namespace": "default", "name": "near"}),
            "Post \"https://near.default.svc:443/?timeout=10s\": service \"near\" not found",
        ),
    ] {
        let config = json!({"service": service, "caBundle": hooks.ca});
        let hook = with(
            stage.hook("check.example.io", "/x"),
            json!({"clientConfig": config}),
        );
        stage
            .configure(&[("Validating", "check", vec![hook])])
            .await;
        let (_, body) = call(&server, &format!("POST {WIDGETS}"), Some(&widget("one"))).await;
        let message = body["message"].as_str().unwrap_or_default();
        assert!(message.contains(expected), "{body} does not say {expected}");
    }
}

#[tokio::test]
async fn the_server_itself_and_configurations_are_not_shown() {
    let hooks = Hooks::start().await;
    let server = server().await;
    let mut stage = stage(&server, &hooks);
    let owner = ok(&server, &format!("POST {WIDGETS}"), Some(&widget("owner"))).await;
    let mut owned = widget("owned");
    owned["metadata"]["ownerReferences"] = json!([{
        "apiVersion": "example.io/v1", "kind": "Widget", "name": "owner", "uid": owner["metadata"]["uid"],
    }]);
    ok(&server, &format!("POST {WIDGETS}"), Some(&owned)).await;
    // Everything is denied but the deletion of the owner.
    hooks.at("/check", Behaviour::Deny(json!({"message": "never"})));
    let everything = json!({
        "rules": rules(&["*"], "*", "*/*"),
        "matchConditions": [{"name": "not-the-owner", "expression": "request.name != 'owner'"}],
    });
    let hook = with(stage.hook("check.example.io", "/check"), everything);
    stage
        .configure(&[
            ("Validating", "check", vec![hook.clone()]),
            ("Mutating", "check", vec![hook]),
        ])
        .await;
    let (code, _) = call(&server, &format!("DELETE {WIDGETS}/owned"), None).await;
    assert_eq!(code, 400);
    ok(&server, &format!("DELETE {WIDGETS}/owner"), None).await;
    common::eventually(&server, &format!("GET {WIDGETS}/owned"), |code, _| {
        code == 404
    })
    .await;
    // A configuration that denies everything can still be taken away.
    stage.configure(&[]).await;
    ok(&server, &format!("POST {WIDGETS}"), Some(&widget("free"))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn writers_that_meet_are_all_asked_about() {
    let hooks = Hooks::start().await;
    let server = server().await;
    let mut stage = stage(&server, &hooks);
    ok(&server, &format!("POST {WIDGETS}"), Some(&widget("one"))).await;
    hooks.at("/check", Behaviour::Allow);
    let hook = stage.hook("check.example.io", "/check");
    stage
        .configure(&[("Validating", "check", vec![hook])])
        .await;
    let writers = (0..8).map(|number| {
        let server = server.clone();
        async move {
            let label = json!({"metadata": {"labels": {format!("writer-{number}"): "was-here"}}});
            ok(&server, &format!("PATCH+merge {WIDGETS}/one"), Some(&label)).await
        }
    });
    futures::future::join_all(writers).await;
    let one = ok(&server, &format!("GET {WIDGETS}/one"), None).await;
    assert_eq!(one["metadata"]["labels"].as_object().unwrap().len(), 8);
    // What is stored was seen, with the state that it replaced.
    let reviews = hooks.take_reviews();
    let last = reviews.iter().any(|(_, review)| {
        let labels = |object: &str| {
            review["request"][object]["metadata"]["labels"]
                .as_object()
                .map_or(0, |l| l.len())
        };
        labels("object") == 8 && labels("oldObject") == 7
    });
    assert!(last, "{} reviews", reviews.len());
    let (_, metrics) = call(&server, "GET /metrics", None).await;
    let counted = "apiserver_admission_webhook_admission_duration_seconds_count{name=\"check.example.io\",operation=\"UPDATE\",rejected=\"false\",type=\"validating\"}";
    assert!(metrics.as_str().unwrap().contains(counted), "{metrics}");
}
