//! Documented manifests with faults put into them: the embedded server never panics and never
//! refuses without naming a field, and a real server accepts and refuses the same ones and blames
//! the same fields.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed assumption is a failed test"
)]

#[path = "../../api/tests/support/arbitrary.rs"]
#[allow(dead_code, reason = "only its numbers are used here")]
mod arbitrary;
mod common;

use std::fs;
use std::path::Path;
use std::time::Duration;

use arbitrary::Dice;
use common::both::{Answer, Peer};
use common::real::Real;
use machinist_apiserver::{ApiServer, Identity, Options, Store};
use serde_json::{Value, json};

/// How many are tried on both servers.
const TRIED: usize = 1500;
/// Another seed, other faults: `MACHINIST_SEED=7 cargo test --test mutations`.
const SEED: &str = "MACHINIST_SEED";

/// Every documented manifest of a stored version; the others need a webhook.
fn manifests(folder: &Path, found: &mut Vec<Value>) {
    let mut paths: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            manifests(&path, found);
            continue;
        }
        let manifest: Value = serde_saphyr::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        if manifest["apiVersion"] != "vitistack.io/v1beta1" {
            found.push(manifest);
        }
    }
}

/// Where something can be changed: every value below spec, status and labels.
fn places(value: &Value, path: String, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                let key = key.replace('~', "~0").replace('/', "~1");
                places(value, format!("{path}/{key}"), found);
            }
        }
        Value::Array(items) => {
            for (at, value) in items.iter().enumerate() {
                places(value, format!("{path}/{at}"), found);
            }
        }
        _ => {}
    }
    let told = [
        "/apiVersion",
        "/kind",
        "/metadata",
        "/metadata/name",
        "/metadata/namespace",
    ];
    if !path.is_empty() && !told.contains(&path.as_str()) {
        found.push(path);
    }
}

fn odd(dice: &mut Dice) -> Value {
    let values = [
        json!(null),
        json!(""),
        json!("x"),
        json!(-1),
        json!(0),
        json!(i64::MAX),
        json!(1.5),
        json!(true),
        json!([]),
        json!({}),
        json!([null]),
        json!({"x": 1}),
        json!("é\u{0}\n"),
        json!("9".repeat(40)),
        json!("1Gi"),
        json!("10.0.0.0/33"),
        json!("x".repeat(5000)),
        json!([1, "a"]),
        json!("-5Mi"),
        json!("1e3"),
        json!("00:00:00:00:00:0g"),
        json!("5"),
    ];
    values[dice.below(values.len())].clone()
}

/// Puts one to three faults into a manifest.
fn mutated(manifest: &Value, dice: &mut Dice) -> Value {
    let mut made = manifest.clone();
    for _ in 0..=dice.below(3) {
        let mut all = Vec::new();
        places(&made, String::new(), &mut all);
        if all.is_empty() {
            break;
        }
        let at = all[dice.below(all.len())].clone();
        let (parent, key) = at.rsplit_once('/').unwrap();
        let key = key.replace("~1", "/").replace("~0", "~");
        let other = made.pointer(&all[dice.below(all.len())]).unwrap().clone();
        let replacement = if dice.percent(70) { odd(dice) } else { other };
        match made.pointer_mut(parent).unwrap() {
            Value::Object(map) => match dice.below(4) {
                0 => drop(map.remove(&key)),
                1 => {
                    let value = map.remove(&key).unwrap();
                    map.insert(format!("{key}x"), value);
                }
                _ => drop(map.insert(key, replacement)),
            },
            Value::Array(items) => {
                let at: usize = key.parse().unwrap();
                match dice.below(3) {
                    0 => drop(items.remove(at)),
                    1 => items.push(items[at].clone()),
                    _ => items[at] = replacement,
                }
            }
            _ => {}
        }
    }
    made
}

async fn judge(peer: &Peer, manifest: &Value, plural: &str, namespaced: bool) -> Answer {
    let group = manifest["apiVersion"].as_str().unwrap();
    let namespace = if namespaced {
        "namespaces/default/"
    } else {
        ""
    };
    let line = format!("POST /apis/{group}/{namespace}{plural}?dryRun=All");
    peer.call(&line, Some(manifest)).await
}

/// What is wrong with how a manifest was refused, if anything is.
fn fault(answer: &Answer) -> Option<String> {
    if answer.code == 201 {
        return None;
    }
    let body = &answer.body;
    let message = body["message"].as_str().unwrap_or_default();
    let causes = body["details"]["causes"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let named = |cause: &Value| {
        cause["field"]
            .as_str()
            .is_some_and(|field| !field.is_empty())
    };
    match answer.code {
        422 if !causes.is_empty() && causes.iter().all(named) => None,
        // A body that is no object of Kubernetes is refused before its fields are looked at; the
        // field is named as Kubernetes names it then.
        400 if message.contains("metadata") || message.contains("ObjectMeta.") => None,
        code => Some(format!("{code}: {body}")),
    }
}

/// The code of an answer, and which fields it blames for what.
fn verdict(answer: &Answer) -> (u16, Vec<(String, String)>) {
    let causes = answer.body["details"]["causes"].as_array();
    let part = |cause: &Value, name: &str| cause[name].as_str().unwrap_or_default().to_owned();
    let causes = causes.into_iter().flatten();
    let mut blamed: Vec<_> = causes
        .map(|cause| (part(cause, "field"), part(cause, "reason")))
        .collect();
    blamed.sort();
    (answer.code, blamed)
}

async fn install(peer: &Peer) {
    for crd in machinist_api::crds() {
        let crd = serde_json::to_value(crd).unwrap();
        let name = crd["metadata"]["name"].as_str().unwrap();
        let line = format!(
            "PATCH+apply /apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}?fieldManager=test"
        );
        peer.ok(&line, Some(&crd)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn faults_are_found_by_both_servers_and_named() {
    let seed = std::env::var(SEED)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(1);
    let mut dice = Dice(seed);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../api/tests/manifests");
    let mut all = Vec::new();
    manifests(&folder, &mut all);
    let crds = machinist_api::crds();
    let kind_of = |manifest: &Value| {
        let crd = crds.iter().find(|crd| {
            let group = manifest["apiVersion"].as_str().unwrap();
            group.starts_with(&format!("{}/", crd.spec.group))
                && manifest["kind"] == *crd.spec.names.kind
        });
        let spec = &crd.unwrap().spec;
        (spec.names.plural.clone(), spec.scope == "Namespaced")
    };
    let server = ApiServer::new(Store::memory(), Options::default())
        .await
        .unwrap();
    let ours = Peer {
        name: "embedded",
        client: kube::Client::new(server.service(Identity::admin()), "default"),
    };
    install(&ours).await;
    let mut wrong = Vec::new();
    let mut judged = Vec::new();
    for _ in 0..TRIED {
        let manifest = mutated(&all[dice.below(all.len())], &mut dice);
        let (plural, namespaced) = kind_of(&manifest);
        let answer = judge(&ours, &manifest, &plural, namespaced).await;
        if let Some(fault) = fault(&answer) {
            wrong.push(format!("{fault}\n{manifest}"));
        }
        judged.push((manifest, answer));
    }
    let refused = judged
        .iter()
        .filter(|(_, answer)| answer.code != 201)
        .count();
    assert!(
        wrong.is_empty(),
        "{} of {TRIED}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(
        refused > TRIED / 4 && refused < TRIED,
        "{refused} were refused"
    );
    let Some(real) = Real::start().await else {
        return;
    };
    let theirs = Peer {
        name: "real",
        client: real.client.clone(),
    };
    install(&theirs).await;
    for manifest in &all {
        let (plural, namespaced) = kind_of(manifest);
        let served = async {
            while judge(&theirs, manifest, &plural, namespaced).await.code == 404 {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        tokio::time::timeout(common::PATIENCE, served)
            .await
            .expect("the kind is served");
    }
    let mut apart = Vec::new();
    for (manifest, ours) in &judged {
        let (plural, namespaced) = kind_of(manifest);
        let theirs = judge(&theirs, manifest, &plural, namespaced).await;
        if verdict(ours) != verdict(&theirs) {
            apart.push(format!(
                "ours {}, theirs {}\n{manifest}",
                ours.body, theirs.body
            ));
        }
    }
    assert!(
        apart.is_empty(),
        "{} of {TRIED}:\n{}",
        apart.len(),
        apart.join("\n")
    );
}
