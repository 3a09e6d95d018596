//! `machinist why`, on machines that run, that are stuck, and that are not there.

use serde_json::{Value, json};

use crate::{
    ask, scene,
    support::{Sandbox, manifests},
    told,
};

#[test]
fn why_says_what_a_machine_waits_for_and_when_it_is_well() {
    let sandbox = Sandbox::new();
    // A word that names no provider: the machine waits until one comes.
    let lost = manifests::machine("lost", "sim", "any").replace("region: local", "region: nowhere");
    let web = manifests::machine("web", "sim", "any");
    let scene = scene(&sandbox, &[web, lost]);
    scene.expect("Machine", "web", ("Ready", "True"), &[]);
    scene.expect("Machine", "lost", ("Ready", "False"), &["nowhere"]);

    let text = told(&sandbox, "why web");
    assert!(
        text.contains("Machine default/web is as declared."),
        "{text}"
    );
    assert!(text.contains("Created"), "what was done is told: {text}");

    let answer = ask(&sandbox, "why lost");
    assert_eq!(answer.code(), Some(5), "{answer:#?}");
    for said in [
        "waits",
        "nowhere",
        "ProviderNotFound",
        "default/local (sim, local)",
        "1.",
    ] {
        assert!(
            answer.stdout.contains(said),
            "{said:?} in {}",
            answer.stdout
        );
    }
    let answer = ask(&sandbox, "why machine/lost -o json");
    assert_eq!(answer.code(), Some(5), "{answer:#?}");
    let json: Value = serde_json::from_str(&answer.stdout).unwrap();
    assert_eq!(json["state"], "Waiting");
    assert_eq!(json["reason"], "ProviderNotFound");
    assert!(
        json["since"].is_string() && json["next"].is_array(),
        "{json}"
    );

    let text = told(&sandbox, "why machineprovider/local");
    assert!(
        text.contains("MachineProvider default/local is as declared."),
        "{text}"
    );

    let missing = ask(&sandbox, "why nobody");
    assert_eq!(missing.code(), Some(2), "{missing:#?}");
    assert!(
        missing.stderr.contains("there is no machine \"nobody\""),
        "{missing:#?}"
    );
    let unknown = ask(&sandbox, "why unicorn/web");
    assert_eq!(unknown.code(), Some(2), "{unknown:#?}");

    // The way out that was told is taken, and the answer changes.
    let patch = json!({"spec": {"providerConfig": {"region": "local"}}});
    scene.patch("Machine", "lost", &patch);
    scene.expect("Machine", "lost", ("Ready", "True"), &[]);
    told(&sandbox, "why lost");
}

#[test]
fn a_machine_that_is_stuck_points_at_its_provider() {
    let sandbox = Sandbox::new();
    let broken = manifests::provider("sim")
        .replace("name: local", "name: broken")
        .replace(
            "region: local",
            "region: moon, config: {customSettings: {latency: soon}}",
        );
    let web = manifests::machine("web", "sim", "any").replace("region: local", "region: moon");
    let scene = scene(&sandbox, &[broken, web]);
    scene.expect("MachineProvider", "broken", ("Stalled", "True"), &["soon"]);
    scene.expect("Machine", "web", ("Ready", "False"), &["soon"]);
    let answer = ask(&sandbox, "why web");
    assert_eq!(answer.code(), Some(5), "{answer:#?}");
    for said in [
        "MachineProvider default/broken is stuck",
        "a latency is written as milliseconds",
        "kubectl edit machineprovider broken",
    ] {
        assert!(
            answer.stdout.contains(said),
            "{said:?} in {}",
            answer.stdout
        );
    }
}

#[test]
fn without_anybody_to_ask_the_way_out_is_said() {
    let sandbox = Sandbox::new();
    let answer = ask(&sandbox, "why web");
    assert_eq!(answer.code(), Some(3), "{answer:#?}");
    assert!(
        answer.stderr.contains("no control plane runs on"),
        "{answer:#?}"
    );
    assert!(answer.stderr.contains("machinist up"), "{answer:#?}");
    let answer = ask(&sandbox, "get machines --kubeconfig /nowhere/kubeconfig");
    assert_eq!(answer.code(), Some(3), "{answer:#?}");
    assert!(answer.stderr.contains("/nowhere/kubeconfig"), "{answer:#?}");
}
