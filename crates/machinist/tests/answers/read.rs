//! `machinist get` and `machinist describe` beside what kubectl prints.

use serde_json::Value;

use crate::{
    ask, scene,
    support::{Kubectl, Sandbox, manifests},
    told,
};

/// Words of a table, whatever the gaps between them.
fn words(text: &str) -> Vec<Vec<&str>> {
    text.lines()
        .map(|line| line.split_whitespace().collect())
        .collect()
}

#[test]
fn tables_are_those_of_kubectl() {
    let sandbox = Sandbox::new();
    let scene = scene(&sandbox, &[manifests::machine("web", "sim", "any")]);
    scene.expect("Machine", "web", ("Ready", "True"), &[]);
    let Some(kubectl) = Kubectl::current(&sandbox, &scene.up.kubeconfig()) else {
        return;
    };
    // The column Age moves with the clock: it is left out of the comparison.
    let without_age = |text: &str| -> Vec<Vec<String>> {
        let rows = words(text).into_iter();
        let age = |word: &&str| !word.ends_with(['s', 'm', 'h']) || word.len() > 6;
        rows.map(|row| row.into_iter().filter(age).map(str::to_owned).collect())
            .collect()
    };
    for question in [
        "get machines",
        "get machine web -o wide",
        "get machines.vitistack.io -A",
        "get machines -l tier=test",
        "get namespaces",
        "get vitistack -A",
        "get machines,machineproviders",
        "get machine/web -o name",
    ] {
        let ours = told(&sandbox, question);
        let theirs = kubectl.ok(question);
        assert_eq!(without_age(&ours), without_age(&theirs), "{question}");
    }
    let ours = told(&sandbox, "get machine web -o json");
    let ours: Value = serde_json::from_str(&ours).unwrap();
    assert_eq!(ours, kubectl.get("machine web"));
    let yaml = told(&sandbox, "get machine web -o yaml");
    let yaml: Value = serde_saphyr::from_str(&yaml).unwrap();
    assert_eq!(yaml, ours);
}

#[test]
fn one_object_is_described_with_conditions_and_events() {
    let sandbox = Sandbox::new();
    let scene = scene(&sandbox, &[manifests::machine("web", "sim", "any")]);
    scene.expect("Machine", "web", ("Ready", "True"), &[]);
    let text = told(&sandbox, "describe machine web");
    for said in [
        "Name:",
        "Conditions:",
        "NetworkReady",
        "Events:",
        "Bound",
        "tier=test",
        "Spec:",
    ] {
        assert!(text.contains(said), "{said:?} in {text}");
    }
    let missing = ask(&sandbox, "describe machine nobody");
    assert_eq!(missing.code(), Some(2), "{missing:#?}");
    assert!(
        missing.stderr.contains("\"nobody\" not found"),
        "{missing:#?}"
    );
    let nothing = ask(&sandbox, "get machines -n kube-system");
    assert_eq!((nothing.code(), nothing.stdout.as_str()), (Some(0), ""));
    assert!(nothing.stderr.contains("kube-system"), "{nothing:#?}");
}
