//! Every reason is explained, and every state of an object leads to the right answer.

use std::{collections::BTreeSet, fs, path::Path};

use serde_json::{Value, json};

use super::*;

const NOW: &str = "2026-01-01T10:00:00Z";

fn view(kind: &str, conditions: &[(&str, &str, &str)]) -> View {
    let conditions: Vec<Value> = conditions
        .iter()
        .map(|(kind, status, reason)| {
            json!({"type": kind, "status": status, "reason": reason,
                "message": format!("{reason} it is."), "lastTransitionTime": NOW})
        })
        .collect();
    View::of(&json!({
        "kind": kind,
        "metadata": {"name": "web", "namespace": "shop", "generation": 2,
            "creationTimestamp": "2026-01-01T09:00:00Z"},
        "status": {"observedGeneration": 2, "phase": "Pending", "conditions": conditions},
    }))
}

/// Words in quotes that look like a reason.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    code.split('"').skip(1).step_by(2).filter(|word| {
        word.len() > 3
            && word.starts_with(|c: char| c.is_ascii_uppercase())
            && word.chars().all(|c| c.is_ascii_alphabetic())
            && word.chars().any(|c| c.is_ascii_lowercase())
    })
}

/// Reasons of what keeps a pass from its goal: they are written as `reason: "…"`.
fn troubles(directory: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(directory).expect("a directory of the engine") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            troubles(&path, found);
            continue;
        }
        let text = fs::read_to_string(&path).expect("source");
        let after = text.split("reason: \"").skip(1);
        found.extend(after.filter_map(|rest| Some(rest.split_once('"')?.0.to_owned())));
    }
}

#[test]
fn every_reason_that_can_be_written_is_explained() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = BTreeSet::new();
    troubles(&root.join("../engine/src"), &mut found);
    troubles(&root.join("src/dialect"), &mut found);
    for file in [
        "machine/conditions.rs",
        "dialect/vitistack/raise.rs",
        "dialect/vitistack/raise_provider.rs",
        "place/verdict.rs",
        "provider/error.rs",
    ] {
        let text = fs::read_to_string(root.join("src").join(file)).expect(file);
        found.extend(words(&text).map(str::to_owned));
    }
    // Types of conditions, states of an interface and of a disk, are no reasons.
    for other in [
        "Ready",
        "InfrastructureReady",
        "NetworkReady",
        "BootstrapReady",
        "Reconciling",
        "Stalled",
        "Assigned",
        "Attached",
    ] {
        found.remove(other);
    }
    assert!(found.len() > 35, "the search finds little: {found:?}");
    let unexplained: Vec<&String> = found.iter().filter(|name| reason(name).is_none()).collect();
    assert!(
        unexplained.is_empty(),
        "these reasons have no row in crates/core/src/explain/reasons.rs: {unexplained:?}"
    );
}

#[test]
fn the_table_names_each_reason_once_and_says_what_to_do() {
    let mut seen = BTreeSet::new();
    for reason in reasons::ALL.iter().chain(places::ALL) {
        assert!(seen.insert(reason.name), "{} is there twice", reason.name);
        assert!(!reason.waits_for.is_empty(), "{}", reason.name);
        let silent = reason.turn == Turn::Nobody || reason.name == "InUse";
        assert_eq!(reason.next.is_empty(), silent, "{}", reason.name);
    }
}

#[test]
fn the_deciding_condition_is_found() {
    use State::{Fine, Stuck, Waiting, Working};
    type Row<'a> = (&'a [(&'a str, &'a str, &'a str)], State, &'a str);
    let rows: &[Row<'_>] = &[
        (&[("Ready", "True", "Running")], Fine, "Running"),
        (
            &[
                ("Ready", "False", "Stopped"),
                ("Reconciling", "False", "Settled"),
            ],
            Fine,
            "Stopped",
        ),
        (
            &[
                ("Ready", "False", "Creating"),
                ("Reconciling", "True", "Progressing"),
            ],
            Working,
            "Creating",
        ),
        (
            &[
                ("Ready", "True", "Running"),
                ("Reconciling", "True", "RestartNeeded"),
            ],
            Working,
            "RestartNeeded",
        ),
        (
            &[
                ("Ready", "False", "ProviderNotFound"),
                ("Stalled", "False", "Progressing"),
            ],
            Waiting,
            "ProviderNotFound",
        ),
        (
            &[("Ready", "Unknown", "ProviderUnreachable")],
            Waiting,
            "ProviderUnreachable",
        ),
        (
            &[
                ("Ready", "False", "Failed"),
                ("Stalled", "True", "Rejected"),
            ],
            Stuck,
            "Rejected",
        ),
        // A reason of another controller is not guessed at.
        (&[("Ready", "False", "MoonPhase")], Waiting, "MoonPhase"),
        (&[("Accepted", "True", "Accepted")], Fine, "NotJudged"),
    ];
    for (conditions, state, reason) in rows {
        let answer = explain(&view("Machine", conditions), Surroundings::default());
        assert_eq!((answer.state, answer.reason.as_str()), (*state, *reason));
        assert_eq!(
            answer.waits_for.is_none() && answer.reason != "MoonPhase",
            *state == Fine
        );
        assert_eq!(answer.next.is_empty(), *state == Fine, "{answer:?}");
        if *reason != "NotJudged" {
            assert_eq!(answer.since, NOW.parse().ok(), "{answer:?}");
        }
    }
}

#[test]
fn what_nobody_has_looked_at_says_so() {
    let mut fresh = view("Machine", &[]);
    fresh.observed = Some(-1);
    let answer = explain(&fresh, Surroundings::default());
    assert_eq!(
        (answer.state, answer.reason.as_str()),
        (State::Waiting, "NotObserved")
    );
    assert_eq!(answer.since, fresh.created);
    let mut changed = view("Machine", &[("Ready", "True", "Running")]);
    changed.generation = Some(3);
    let answer = explain(&changed, Surroundings::default());
    assert_eq!(answer.reason, "NotObserved");
    assert!(
        answer
            .message
            .is_some_and(|text| text.contains("generation 3"))
    );
}

#[test]
fn an_object_that_others_hold_names_them() {
    let mut held = view("Machine", &[("Ready", "False", "Terminated")]);
    held.deleting = NOW.parse().ok();
    held.finalizers = vec!["example.org/dns".into()];
    let answer = explain(&held, Surroundings::default());
    assert_eq!(answer.reason, "Held");
    assert!(
        answer
            .waits_for
            .is_some_and(|text| text.contains("example.org/dns"))
    );
    // While ours is there, the machine itself is what is waited for.
    held.finalizers.push(names::MACHINE_FINALIZER.into());
    let answer = explain(&held, Surroundings::default());
    assert_eq!(answer.reason, "Terminated");
}

#[test]
fn a_machine_without_its_provider_points_at_it() {
    let machine = view("Machine", &[("Ready", "False", "ProviderNotReady")]);
    let mut provider = view("MachineProvider", &[("Ready", "False", "SecretNotFound")]);
    provider.name = "cloud".into();
    let around = Surroundings {
        provider: Some((provider.clone(), Vec::new())),
        ..Surroundings::default()
    };
    let because = explain(&machine, around)
        .because
        .expect("the provider's answer");
    assert_eq!(
        (because.name.as_str(), because.reason.as_str()),
        ("cloud", "SecretNotFound")
    );
    assert!(because.next[0].contains("kubectl edit machineprovider cloud -n shop"));
    // One that is well in itself explains nothing.
    provider.conditions = view("MachineProvider", &[("Ready", "True", "Connected")]).conditions;
    let around = Surroundings {
        provider: Some((provider, Vec::new())),
        ..Surroundings::default()
    };
    assert_eq!(explain(&machine, around).because, None);
}

#[test]
fn a_name_that_is_wrong_is_told_what_there_is() {
    let machine = view("Machine", &[("Ready", "False", "ProviderNotFound")]);
    let with = |others: &[&str]| Surroundings {
        others: others.iter().map(|&name| name.to_owned()).collect(),
        ..Surroundings::default()
    };
    let first = |around| explain(&machine, around).next.swap_remove(0);
    assert_eq!(first(with(&[])), "There is no MachineProvider at all yet.");
    assert_eq!(
        first(with(&["shop/local (qemu)"])),
        "There is: shop/local (qemu)."
    );
    let provider = view("MachineProvider", &[("Ready", "False", "InUse")]);
    let next = explain(&provider, with(&["shop/web"])).next;
    assert_eq!(next, ["Delete what runs on it: shop/web."]);
}

#[test]
fn attempts_are_told_from_the_latest_on() {
    let event = |reason: &str, kind: &str, last: &str, count: i64| {
        Happening::of(
            &json!({"reason": reason, "type": kind, "message": "so it went",
            "eventTime": "2026-01-01T09:00:00.000000Z",
            "series": {"count": count, "lastObservedTime": last}}),
        )
    };
    let around = Surroundings {
        events: vec![
            event("Bound", "Normal", "2026-01-01T09:00:01.000000Z", 1),
            event("CreateFailed", "Warning", "2026-01-01T09:30:00.000000Z", 7),
        ],
        ..Surroundings::default()
    };
    let tried = explain(
        &view("Machine", &[("Ready", "False", "NoCapacity")]),
        around,
    )
    .tried;
    assert_eq!(tried[0].reason, "CreateFailed");
    assert_eq!((tried[0].times, tried[0].failed), (7, true));
    assert_eq!(tried[1].reason, "Bound");
    let plain = Happening::of(&json!({"reason": "A", "type": "Normal", "count": 3,
        "firstTimestamp": "2026-01-01T09:00:00Z", "lastTimestamp": "2026-01-01T09:10:00Z"}));
    assert_eq!(
        (plain.times, plain.last),
        (3, "2026-01-01T09:10:00Z".parse().ok())
    );
}
