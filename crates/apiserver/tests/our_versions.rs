//! Our own kinds in both of their versions, on the embedded server, which converts in the process,
//! and on a real one, which asks a webhook: every answer is equal.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed assumption is a failed test"
)]

mod common;

use std::fs;
use std::path::Path;

use common::both::{Peer, assert_same};
use common::hooks::{Behaviour, Hooks};
use common::ours::{ALPHA, BETA, convert, define, embedded};
use common::real::Real;
use serde_json::{Value, json};

fn manifest(name: &str) -> Value {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../api/tests/manifests");
    let text = fs::read_to_string(folder.join(name)).unwrap();
    let mut manifest: Value = serde_saphyr::from_str(&text).unwrap();
    manifest.as_object_mut().unwrap().remove("status");
    manifest["metadata"]["namespace"] = "default".into();
    manifest
}

/// A machine that is written in v1alpha1 and changed in v1beta1.
const CHANGED: &str = "web-server-02";

struct Stage {
    peer: Peer,
    transcript: Vec<(String, Value)>,
}

impl Stage {
    async fn call(&mut self, line: &str, body: Value) -> Value {
        let given = (!body.is_null()).then_some(&body);
        let answer = self.peer.call(line, given).await;
        let line = format!("{}. {line}", self.transcript.len());
        self.transcript.push((line, answer.masked()));
        answer.body
    }

    async fn get(&mut self, line: &str) -> Value {
        self.call(line, Value::Null).await
    }
}

async fn life(stage: &mut Stage) {
    for (name, plural, object) in [
        ("machine-a-full.yaml", "machines", "web-server-01"),
        ("machine-b-full.yaml", "machines", "web-server-02"),
        ("provider-a-full.yaml", "machineproviders", ""),
        ("provider-b-full.yaml", "machineproviders", "proxmox-oslo"),
    ] {
        let manifest = manifest(name);
        let given = manifest["metadata"]["name"].as_str().unwrap().to_owned();
        let object = if object.is_empty() {
            given.as_str()
        } else {
            object
        };
        assert_eq!(given, object, "{name}");
        let written = stage
            .call(
                &format!("POST {ALPHA}/{plural}?fieldManager=a"),
                manifest.clone(),
            )
            .await;
        assert_eq!(written["apiVersion"], "vitistack.io/v1alpha1", "{written}");
        let beta = stage.get(&format!("GET {BETA}/{plural}/{object}")).await;
        assert_eq!(beta["apiVersion"], "vitistack.io/v1beta1", "{beta}");
        let alpha = stage.get(&format!("GET {ALPHA}/{plural}/{object}")).await;
        assert_eq!(alpha["spec"], written["spec"]);
        // Written back in the other version as it was read, it is what it was.
        let put = stage
            .call(
                &format!("PUT {BETA}/{plural}/{object}?fieldManager=b"),
                beta.clone(),
            )
            .await;
        assert_eq!(put["spec"], beta["spec"], "{put}");
        let alpha = stage.get(&format!("GET {ALPHA}/{plural}/{object}")).await;
        assert_eq!(alpha["spec"], written["spec"], "{alpha}");
    }
    let mut other = manifest("provider-v1beta1.yaml");
    other["metadata"]["name"] = "proxmox-bergen".into();
    for (plural, manifest) in [
        ("machines", manifest("machine-v1beta1.yaml")),
        ("machineproviders", other),
    ] {
        let object = manifest["metadata"]["name"].as_str().unwrap().to_owned();
        let written = stage
            .call(
                &format!("POST {BETA}/{plural}?fieldManager=b"),
                manifest.clone(),
            )
            .await;
        assert_eq!(written["spec"], manifest["spec"], "{written}");
        stage.get(&format!("GET {ALPHA}/{plural}/{object}")).await;
        // A change in the other version, elsewhere, keeps what that version cannot say.
        let patch = json!({"metadata": {"labels": {"changed": "yes"}}});
        stage
            .call(
                &format!("PATCH+merge {ALPHA}/{plural}/{object}?fieldManager=a"),
                patch,
            )
            .await;
        let beta = stage.get(&format!("GET {BETA}/{plural}/{object}")).await;
        assert_eq!(beta["spec"], manifest["spec"], "{beta}");
    }
    for path in [ALPHA, BETA] {
        stage.get(&format!("GET {path}/machines")).await;
        stage.get(&format!("GET {path}/machineproviders")).await;
        stage
            .get(&format!("GET {path}/machines?watch=1&timeoutSeconds=1"))
            .await;
    }
}

async fn changes(stage: &mut Stage) {
    let one = format!("{BETA}/machines/{CHANGED}");
    let stop = json!({"spec": {"powerState": "Stopped", "resources": {"memory": "16Gi"}}});
    stage
        .call(&format!("PATCH+merge {one}?fieldManager=b"), stop)
        .await;
    let alpha = stage
        .get(&format!("GET {ALPHA}/machines/web-server-02"))
        .await;
    assert_eq!(alpha["spec"]["powerState"], "Stopped");
    assert_eq!(alpha["spec"]["memory"], 17_179_869_184_u64, "{alpha}");
    assert!(
        alpha["spec"]["storage"].is_object(),
        "the disks were not changed: {alpha}"
    );
    // Status, as the engine writes it.
    let status = json!({"status": {
        "phase": "Running", "observedGeneration": 1, "ipAddresses": ["10.0.0.1"], "memory": 1 << 30,
        "privateIPAddresses": ["10.0.0.1"], "addresses": {"internal": ["10.0.0.1"]},
    }});
    let line = format!("PATCH+merge {ALPHA}/machines/web-server-02/status?fieldManager=engine");
    stage.call(&line, status).await;
    let beta = stage.get(&format!("GET {one}")).await;
    assert_eq!(beta["status"]["memory"], "1Gi", "{beta}");
    // Two appliers, each in its own version.
    let apply = |version: &str, spec: Value| {
        json!({
            "apiVersion": format!("vitistack.io/{version}"), "kind": "Machine",
            "metadata": {"name": "applied"}, "spec": spec,
        })
    };
    let beta = apply(
        "v1beta1",
        json!({"providerRef": {"name": "p"}, "resources": {"memory": "4Gi"}, "disks": [{"name": "root", "size": "20Gi"}]}),
    );
    stage
        .call(
            &format!("PATCH+apply {BETA}/machines/applied?fieldManager=x"),
            beta.clone(),
        )
        .await;
    let alpha = apply(
        "v1alpha1",
        json!({"tags": {"team": "a"}, "disks": [{"name": "more", "sizeGB": 5}]}),
    );
    stage
        .call(
            &format!("PATCH+apply {ALPHA}/machines/applied?fieldManager=y"),
            alpha,
        )
        .await;
    let both = stage.get(&format!("GET {BETA}/machines/applied")).await;
    assert_eq!(both["spec"]["tags"]["team"], "a", "{both}");
    assert_eq!(
        both["spec"]["disks"].as_array().map(Vec::len),
        Some(2),
        "{both}"
    );
    stage
        .call(
            &format!("PATCH+apply {BETA}/machines/applied?fieldManager=x"),
            beta,
        )
        .await;
    stage.get(&format!("GET {ALPHA}/machines/applied")).await;
    one_applier(stage, &apply).await;
    // What v1beta1 refuses, in the same words.
    for spec in [
        json!({}),
        json!({"providerRef": {"name": "p"}, "providerSelector": {"type": "aws", "region": "us-west-2"}}),
        json!({"providerSelector": {"type": "aws", "region": "us-west-2"}}),
        json!({"providerRef": {"name": "p"}, "image": {"id": "a", "url": "b"}}),
        json!({"providerRef": {"name": "p"}, "disks": [{"name": "a", "role": "Boot", "size": "1Mi"}, {"name": "b", "role": "Boot"}]}),
        json!({"providerRef": {"name": "p"}, "resources": {"memory": "much", "cpu": {"cores": 0}}}),
    ] {
        let mut machine = apply("v1beta1", spec);
        machine["metadata"]["name"] = "refused".into();
        let refused = stage.call(&format!("POST {BETA}/machines"), machine).await;
        assert_eq!(refused["reason"], "Invalid", "{refused}");
    }
}

/// One applier that goes from one version to the other and back, with others beside it.
async fn one_applier(stage: &mut Stage, apply: &impl Fn(&str, Value) -> Value) {
    let disks = json!([{"name": "root", "sizeGB": 20}, {"name": "data", "sizeGB": 5}]);
    let alpha = [
        json!({"providerRef": {"name": "p"}, "memory": 4_294_967_296_u64, "tags": {"a": "1", "b": "2"}, "disks": disks}),
        json!({"providerRef": {"name": "p"}, "tags": {"b": "2"}}),
    ];
    let beta = [
        json!({"providerRef": {"name": "p"}, "resources": {"memory": "4Gi"}, "disks": [{"name": "data", "size": "5G"}]}),
        json!({"providerRef": {"name": "p"}, "powerState": "Stopped", "tags": {"c": "3"}}),
    ];
    let steps = [
        ("v1alpha1", "mover", &alpha[0], ""),
        ("v1beta1", "mover", &beta[0], ""),
        ("v1alpha1", "beside", &alpha[1], ""),
        ("v1beta1", "mover", &beta[1], ""),
        ("v1beta1", "mover", &beta[1], ""),
        ("v1beta1", "beside", &beta[0], ""),
        ("v1alpha1", "other", &json!({"memory": 1_073_741_824}), ""),
        (
            "v1alpha1",
            "other",
            &json!({"memory": 1_073_741_824}),
            "&force=true",
        ),
        ("v1alpha1", "mover", &alpha[0], "&force=true"),
        (
            "v1beta1",
            "mover",
            &json!({"providerRef": {"name": "p"}}),
            "",
        ),
    ];
    for (version, manager, spec, more) in steps {
        let path = if version == "v1beta1" { BETA } else { ALPHA };
        let line = format!("PATCH+apply {path}/machines/moved?fieldManager={manager}{more}");
        let mut machine = apply(version, spec.clone());
        machine["metadata"]["name"] = "moved".into();
        stage.call(&line, machine).await;
        stage.get(&format!("GET {ALPHA}/machines/moved")).await;
    }
    // An update in one version, and a status in the other.
    let update = json!({"metadata": {"labels": {"l": "1"}}, "spec": {"powerState": "Running"}});
    let line = format!("PATCH+merge {ALPHA}/machines/moved?fieldManager=editor");
    stage.call(&line, update).await;
    let status = json!({"status": {"memory": "1Gi"}});
    let line = format!("PATCH+merge {BETA}/machines/moved/status?fieldManager=engine");
    stage.call(&line, status).await;
    let gone = json!({"spec": {"tags": null, "resources": null}, "metadata": {"labels": null}});
    let line = format!("PATCH+merge {BETA}/machines/moved?fieldManager=editor");
    stage.call(&line, gone).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_real_server_serves_both_versions_the_same() {
    let mut ours = Stage {
        peer: embedded().await,
        transcript: Vec::new(),
    };
    define(&ours.peer, None).await;
    life(&mut ours).await;
    changes(&mut ours).await;
    let Some(real) = Real::start().await else {
        return;
    };
    let hooks = Hooks::start().await;
    hooks.at("/convert", Behaviour::Convert(convert));
    let mut theirs = Stage {
        peer: Peer {
            name: "real",
            client: real.client.clone(),
        },
        transcript: Vec::new(),
    };
    define(&theirs.peer, Some(&hooks.client_config("/convert"))).await;
    life(&mut theirs).await;
    changes(&mut theirs).await;
    assert_same(&ours.transcript, &theirs.transcript);
}
