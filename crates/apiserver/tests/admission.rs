//! Admission webhooks: the same configurations, webhooks and calls on the embedded server and on
//! a real one; verdicts, messages, objects and the reviews that webhooks see are equal.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed assumption is a failed test"
)]

mod common;

use std::time::Duration;

use common::both::{Peer, assert_same};
use common::hooks::{Behaviour, Hooks};
use common::real::Real;
use common::stage::{Stage, rules, with};
use common::{WIDGETS, server, widget, widget_definition};
use machinist_apiserver::Identity;
use serde_json::{Value, json};

async fn validating(stage: &mut Stage<'_>) {
    let one = format!("{WIDGETS}/one");
    let hook = stage.hook("check.example.io", "/check");
    stage.hooks.at("/check", Behaviour::Allow);
    stage
        .configure(&[("Validating", "check", vec![hook])])
        .await;
    stage
        .call(&format!("POST {WIDGETS}?fieldManager=me"), widget("one"))
        .await;
    stage
        .call(
            &format!("PATCH+merge {one}?fieldManager=me"),
            json!({"spec": {"color": "blue"}}),
        )
        .await;
    stage.call(&format!("PATCH+apply {one}?fieldManager=you&fieldValidation=Strict"), json!({
        "apiVersion": "example.io/v1", "kind": "Widget", "metadata": {"name": "one"}, "spec": {"note": "mine"},
    })).await;
    stage
        .call(
            &format!("PATCH+apply {WIDGETS}/two?fieldManager=you&dryRun=All"),
            widget("two"),
        )
        .await;
    let refusals = [
        json!(null),
        json!({"message": "no"}),
        json!({"reason": "Odd"}),
        json!({"message": "conflict of interest", "reason": "Conflict", "code": 409, "details": {"name": "x", "kind": "y", "causes": [{"reason": "r", "message": "m", "field": "spec.color"}]}}),
        json!({"message": "fine?", "code": 200, "status": "Success"}),
    ];
    for refusal in refusals {
        stage.hooks.at("/check", Behaviour::Deny(refusal));
        stage
            .call(&format!("POST {WIDGETS}"), widget("three"))
            .await;
    }
    for line in [
        "DELETE {one}",
        "DELETE {one}?propagationPolicy=Foreground",
        "DELETE {all}",
    ] {
        let line = line.replace("{one}", &one).replace("{all}", WIDGETS);
        stage.get(&line).await;
    }
    stage.call(&format!("DELETE {one}"), json!({"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 3, "propagationPolicy": "Background"})).await;
    stage.hooks.at("/check", Behaviour::Answer(json!({"warnings": ["mind the gap", "mind the gap", "and \"this\""], "auditAnnotations": {"k": "v"}})));
    stage
        .call(
            &format!("PATCH+merge {one}"),
            json!({"spec": {"color": "green"}}),
        )
        .await;
    stage.hooks.at("/check", Behaviour::Allow);
    stage.call(&format!("POST {WIDGETS}"), json!({"apiVersion": "example.io/v1", "kind": "Widget", "metadata": {"name": "bad"}, "spec": {"color": "pink"}})).await;
    stage.get(&format!("DELETE {WIDGETS}")).await;
}

async fn choosing(stage: &mut Stage<'_>) {
    let one = format!("{WIDGETS}/one");
    stage.hooks.at("/check", Behaviour::Allow);
    let hook = |name: &str, more: Value| with(stage.hook(name, "/check"), more);
    let rule = |operations: Value, resources: Value, scope: &str| json!({"rules": [{"operations": operations, "apiGroups": ["example.io"], "apiVersions": ["v1"], "resources": resources, "scope": scope}]});
    let hooks = vec![
        hook(
            "a.example.io",
            rule(json!(["CREATE"]), json!(["widgets"]), "*"),
        ),
        hook(
            "b.example.io",
            rule(json!(["UPDATE"]), json!(["widgets/status"]), "Namespaced"),
        ),
        hook(
            "c.example.io",
            rule(json!(["*"]), json!(["*/*"]), "Cluster"),
        ),
        hook(
            "d.example.io",
            rule(json!(["UPDATE"]), json!(["*/scale"]), "*"),
        ),
        hook(
            "e.example.io",
            json!({"objectSelector": {"matchLabels": {"ask": "yes"}}}),
        ),
        hook(
            "f.example.io",
            json!({"namespaceSelector": {"matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["default"]}]}}),
        ),
        hook(
            "g.example.io",
            json!({"matchConditions": [{"name": "red", "expression": "object.spec.color == 'red'"}], "rules": rules(&["CREATE", "UPDATE"], "example.io", "widgets")}),
        ),
    ];
    stage.configure(&[("Validating", "choose", hooks)]).await;
    stage.call(&format!("POST {WIDGETS}"), widget("one")).await;
    stage
        .call(
            &format!("PATCH+merge {one}/status"),
            json!({"status": {"phase": "Ready"}}),
        )
        .await;
    stage
        .call(
            &format!("PATCH+merge {one}/scale"),
            json!({"spec": {"replicas": 3}}),
        )
        .await;
    stage
        .call(
            &format!("PATCH+merge {one}"),
            json!({"metadata": {"labels": {"ask": "yes"}}}),
        )
        .await;
    stage
        .call(
            &format!("PATCH+merge {one}"),
            json!({"metadata": {"labels": {"ask": null}}, "spec": {"color": "blue"}}),
        )
        .await;
    stage.get(&format!("DELETE {one}")).await;
    let broken = json!({"matchConditions": [{"name": "broken", "expression": "object.spec.absent == 'red'"}], "rules": rules(&["CREATE"], "example.io", "widgets")});
    let hooks = vec![with(stage.hook("h.example.io", "/check"), broken.clone())];
    stage.configure(&[("Validating", "choose", hooks)]).await;
    stage.call(&format!("POST {WIDGETS}"), widget("one")).await;
    let hooks = vec![with(
        with(stage.hook("h.example.io", "/check"), broken),
        json!({"failurePolicy": "Ignore"}),
    )];
    stage.configure(&[("Validating", "choose", hooks)]).await;
    stage
        .call(&format!("POST {WIDGETS}?dryRun=All"), widget("one"))
        .await;
}

async fn mutating(stage: &mut Stage<'_>) {
    let one = format!("{WIDGETS}/one");
    let patch = |ops: Value| Behaviour::Patch(ops);
    stage.hooks.at(
        "/first",
        patch(json!([{"op": "add", "path": "/spec/note", "value": "first"}])),
    );
    stage.hooks.at("/second", patch(json!([{"op": "replace", "path": "/spec/note", "value": "second"}, {"op": "add", "path": "/metadata/labels", "value": {"by": "second"}}])));
    let first = with(
        stage.hook("first.example.io", "/first"),
        json!({"reinvocationPolicy": "IfNeeded"}),
    );
    let second = stage.hook("second.example.io", "/second");
    stage
        .configure(&[
            ("Mutating", "b", vec![second]),
            ("Mutating", "a", vec![first]),
        ])
        .await;
    stage
        .call(&format!("POST {WIDGETS}?fieldManager=me"), widget("one"))
        .await;
    stage.get(&format!("GET {one}")).await;
    stage
        .call(
            &format!("PATCH+merge {one}?fieldManager=you"),
            json!({"spec": {"color": "blue"}}),
        )
        .await;
    stage.call(&format!("PATCH+apply {one}?fieldManager=applier&force=true"), json!({
        "apiVersion": "example.io/v1", "kind": "Widget", "metadata": {"name": "one"}, "spec": {"color": "green", "note": "mine"},
    })).await;
    stage.call(&format!("PATCH+apply {WIDGETS}/applied?fieldManager=applier"), json!({
        "apiVersion": "example.io/v1", "kind": "Widget", "metadata": {"name": "applied"}, "spec": {"color": "green"},
    })).await;
    // Unknown fields are dropped, defaults are filled in, the schema is enforced.
    for operations in [
        json!([{"op": "add", "path": "/spec/unknown", "value": 1}]),
        json!([{"op": "remove", "path": "/spec/replicas"}]),
        json!([{"op": "replace", "path": "/spec/color", "value": "pink"}]),
        json!([{"op": "replace", "path": "/spec/note", "value": 5}]),
        json!([{"op": "add", "path": "/status", "value": {"phase": "Odd"}}]),
        json!([{"op": "remove", "path": "/metadata/managedFields"}]),
        json!([{"op": "replace", "path": "/metadata/managedFields", "value": [{"manager": "x"}]}]),
        json!([]),
    ] {
        stage.hooks.at("/first", patch(operations.clone()));
        stage.hooks.at("/second", Behaviour::Allow);
        stage
            .call(
                &format!("PATCH+merge {one}?fieldManager=you&dryRun=All"),
                json!({"spec": {"color": "red"}}),
            )
            .await;
        stage
            .call(
                &format!("POST {WIDGETS}?fieldManager=you&dryRun=All"),
                widget("new"),
            )
            .await;
    }
    stage.hooks.at(
        "/first",
        patch(json!([{"op": "add", "path": "/spec/replicas", "value": 7}])),
    );
    stage.hooks.at("/second", Behaviour::Allow);
    stage
        .call(
            &format!("PATCH+merge {one}/status?fieldManager=you"),
            json!({"status": {"phase": "Ready"}}),
        )
        .await;
    stage.call(&format!("POST {WIDGETS}?fieldManager=you&dryRun=All"), json!({"apiVersion": "example.io/v1", "kind": "Widget", "metadata": {"generateName": "gen-"}, "spec": {"color": "red"}, "status": {"phase": "Sent"}})).await;
    stage.get(&format!("DELETE {one}")).await;
    stage.hooks.at("/first", Behaviour::Allow);
    stage.get(&format!("DELETE {one}")).await;
    stage
        .hooks
        .at("/first", Behaviour::Deny(json!({"message": "never"})));
    stage
        .call(&format!("POST {WIDGETS}"), widget("denied"))
        .await;
    stage.hooks.at("/first", Behaviour::Allow);
    stage.get(&format!("DELETE {WIDGETS}")).await;
}

async fn failing(stage: &mut Stage<'_>) {
    let hook = |more: Value| with(stage.hook("check.example.io", "/check"), more);
    let configurations = [
        ("Validating", json!({"timeoutSeconds": 1})),
        ("Mutating", json!({"timeoutSeconds": 1})),
        (
            "Validating",
            json!({"timeoutSeconds": 1, "failurePolicy": "Ignore"}),
        ),
    ];
    let hooks: Vec<_> = configurations.map(|(kind, more)| (kind, hook(more))).into();
    for (kind, hook) in hooks {
        stage.configure(&[(kind, "fail", vec![hook])]).await;
        for behaviour in [
            Behaviour::Break,
            Behaviour::Slow(Duration::from_secs(3)),
            Behaviour::Raw(500, "boom".into()),
            Behaviour::Raw(404, "nothing here".into()),
            Behaviour::Raw(403, "not you".into()),
            Behaviour::Raw(200, String::new()),
            Behaviour::Answer(json!({"uid": "another"})),
            Behaviour::Raw(
                200,
                json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}).to_string(),
            ),
            Behaviour::Answer(json!({"patch": "W10=", "patchType": "Odd"})),
            Behaviour::Answer(json!({"patch": "W10="})),
            Behaviour::Answer(json!({"patchType": "JSONPatch"})),
        ] {
            stage.hooks.at("/check", behaviour);
            stage
                .call(&format!("POST {WIDGETS}?dryRun=All"), widget("one"))
                .await;
        }
    }
    let nobody = json!({"url": "https://127.0.0.1:1/nobody", "caBundle": stage.hooks.ca});
    let service = json!({"service": {"namespace": "default", "name": "absent", "path": "/x"}, "caBundle": stage.hooks.ca});
    let stranger = {
        let other = Hooks::start().await;
        json!({"url": stage.hooks.client_config("/check")["url"], "caBundle": other.ca})
    };
    stage.hooks.at("/check", Behaviour::Allow);
    for config in [nobody, service, stranger] {
        let hook = with(
            stage.hook("check.example.io", "/check"),
            json!({"clientConfig": config}),
        );
        stage.configure(&[("Validating", "fail", vec![hook])]).await;
        stage
            .call(&format!("POST {WIDGETS}?dryRun=All"), widget("one"))
            .await;
    }
}

async fn all(stage: &mut Stage<'_>) {
    stage
        .hooks
        .at("/marker", Behaviour::Deny(json!({"message": "marked"})));
    validating(stage).await;
    choosing(stage).await;
    mutating(stage).await;
    failing(stage).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_real_server_says_the_same() {
    let Some(real) = Real::start().await else {
        return;
    };
    let hooks = Hooks::start().await;
    let server = server().await;
    let client = kube::Client::new(server.service(Identity::admin()), "default");
    let mut ours = Stage::new(
        Peer {
            name: "embedded",
            client,
        },
        &hooks,
    );
    all(&mut ours).await;
    let peer = Peer {
        name: "real",
        client: real.client.clone(),
    };
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    peer.ok(&format!("POST {definitions}"), Some(&widget_definition()))
        .await;
    let served = async {
        while peer.call(&format!("GET {WIDGETS}"), None).await.code != 200 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(common::PATIENCE, served)
        .await
        .expect("widgets are served");
    let mut theirs = Stage::new(peer, &hooks);
    all(&mut theirs).await;
    assert_same(&ours.transcript, &theirs.transcript);
}
