//! What is valid in one version of our kinds is valid in the other: conversion makes nothing that
//! the other version's schema and rules refuse.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed assumption is a failed test"
)]

#[path = "../../api/tests/support/arbitrary.rs"]
#[allow(dead_code, reason = "only its values are used here")]
mod arbitrary;
mod common;
#[path = "../../api/tests/table/mod.rs"]
mod table;

use std::collections::BTreeMap;

use arbitrary::Dice;
use common::both::Peer;
use common::ours::{ALPHA, BETA, convert, define, embedded};
use serde_json::Value;

/// How many objects are made up.
const MADE_UP: usize = 400;

/// What both servers must take: accepted cases, and documented manifests, of the two kinds.
fn accepted() -> Vec<(String, Value)> {
    let cases = table::cases().into_iter();
    let cases = cases.filter(|case| case.refusal().is_none() && case.was.is_none());
    let all = cases
        .map(|case| (case.name, case.manifest))
        .chain(table::manifests());
    let ours = |object: &Value| {
        let version = object["apiVersion"].as_str().unwrap();
        version.starts_with("vitistack.io/") && plural(object).is_some()
    };
    let mut found: Vec<_> = all.filter(|(_, object)| ours(object)).collect();
    for (_, object) in &mut found {
        object.as_object_mut().unwrap().remove("status");
        object["metadata"]["namespace"] = "default".into();
    }
    found
}

fn plural(object: &Value) -> Option<&'static str> {
    match object["kind"].as_str()? {
        "Machine" => Some("machines"),
        "MachineProvider" => Some("machineproviders"),
        _ => None,
    }
}

/// Takes an object to the other version and back, each time as somebody would write it there,
/// without what the other version could not say. Gives what a server has against it there; nothing
/// where it has something against it as it comes.
async fn there_and_back(peer: &Peer, object: &Value) -> Option<Result<(), String>> {
    let version = object["apiVersion"].as_str().unwrap().to_owned();
    let (here, there, other) = match version.as_str() {
        "vitistack.io/v1beta1" => (BETA, ALPHA, "vitistack.io/v1alpha1"),
        _ => (ALPHA, BETA, "vitistack.io/v1beta1"),
    };
    let plural = plural(object).unwrap();
    let mut step = object.clone();
    let steps = [(here, &*version), (there, other), (here, &*version)];
    for (at, (path, version)) in steps.into_iter().enumerate() {
        convert(&mut step, version);
        let line = format!("POST {path}/{plural}?dryRun=All");
        let answer = peer.call(&line, Some(&step)).await;
        let faults = machinist_api::admission::faults(&step);
        if answer.code != 201 || !faults.is_empty() {
            let message = &answer.body["message"];
            let said = format!("as {version}: {message} {faults:?}\n{step}");
            return (at > 0).then_some(Err(said));
        }
        let metadata = step["metadata"].as_object_mut().unwrap();
        metadata.remove("annotations");
    }
    Some(Ok(()))
}

/// Whoever reads an object in the other version can write it there.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_valid_in_one_version_is_valid_in_the_other() {
    let peer = embedded().await;
    define(&peer, None).await;
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for (name, object) in accepted() {
        match there_and_back(&peer, &object).await {
            Some(Ok(())) => seen += 1,
            Some(Err(said)) => wrong.push(format!("{name} {said}")),
            None => wrong.push(format!("{name} is refused as it is")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen > 150, "only {seen} objects were tried");
}

/// The same for objects that nobody wrote: accepted ones with arbitrary values in some of their
/// fields, as far as they are accepted then. `MACHINIST_SEED` makes others.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_made_up_and_valid_is_valid_in_the_other_version() {
    let peer = embedded().await;
    define(&peer, None).await;
    let seed = std::env::var("MACHINIST_SEED").ok();
    let mut dice = Dice(seed.and_then(|text| text.parse().ok()).unwrap_or(1));
    let all = accepted();
    let (mut wrong, mut seen) = (Vec::new(), 0);
    // Making a schema costs more than all that is done with it.
    let mut schemas = BTreeMap::new();
    for _ in 0..MADE_UP {
        let (_, mut object) = all[dice.below(all.len())].clone();
        let kind = object["kind"].as_str().unwrap().to_owned();
        let version = object["apiVersion"].as_str().unwrap();
        let (_, version) = version.split_once('/').unwrap();
        let schema = schemas
            .entry((kind.clone(), version.to_owned()))
            .or_insert_with(|| arbitrary::schema(&kind, version));
        let spec = &schema["properties"]["spec"];
        let fields = spec["properties"].as_object().unwrap();
        for _ in 0..=dice.below(3) {
            let (name, field) = fields.iter().nth(dice.below(fields.len())).unwrap();
            let density = dice.below(80);
            object["spec"][name] = arbitrary::value(field, &mut dice, density);
        }
        match there_and_back(&peer, &object).await {
            Some(Ok(())) => seen += 1,
            Some(Err(said)) => wrong.push(said),
            None => {}
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(seen > MADE_UP / 5, "only {seen} were valid");
}
