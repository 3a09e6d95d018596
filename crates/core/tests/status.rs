//! Phase and conditions: what a person sees of a situation.
#![allow(clippy::expect_used, reason = "a failed assumption is a failed test")]

mod support;

use jiff::Timestamp;
use machinist_api::{conditions, vitistack::Machine};
use machinist_core::{
    dialect::vitistack::{Times, raise},
    machine::{
        Absence, Facts, GuestFacts, Outlook, PowerState, Seen, Situation, Trouble, Want, plan,
    },
};
use support::{MACHINE, able, facts, machine, want};

struct Case<'a> {
    deleting: bool,
    bound: bool,
    want: Option<&'a Want>,
    seen: Option<&'a [Facts]>,
    trouble: Option<&'a Trouble>,
}

impl<'a> Case<'a> {
    /// A bound machine that the platform shows.
    fn of(want: &'a Want, seen: &'a [Facts]) -> Case<'a> {
        Case {
            deleting: false,
            bound: true,
            want: Some(want),
            seen: Some(seen),
            trouble: None,
        }
    }
}

fn at(second: i64) -> Times {
    Times {
        now: Timestamp::from_second(second).expect("a time"),
    }
}

fn status(object: &Machine, case: &Case<'_>, times: Times) -> Machine {
    let situation = Situation {
        deleting: case.deleting,
        bound: case.bound,
        want: case.want,
        seen: case.seen.map_or(Seen::Unknown, Seen::Machines),
        absence: Absence::Proven,
        can: able(),
    };
    let step = plan(situation);
    let outlook = Outlook {
        situation,
        step: &step,
        trouble: case.trouble,
    };
    Machine {
        status: Some(raise(object, &outlook, Some("local"), times)),
        ..object.clone()
    }
}

/// Phase, then the conditions that hold, then those that nobody can tell.
fn view(machine: &Machine) -> String {
    let status = machine.status.clone().unwrap_or_default();
    let with = |wanted: &str| {
        let kinds = status.conditions.iter().filter(|c| c.status == wanted);
        kinds
            .map(|c| c.type_.as_str())
            .collect::<Vec<_>>()
            .join(" ")
    };
    let phase = status.phase.unwrap_or_default();
    format!("{phase} | {} | {}", with("True"), with("Unknown"))
}

#[test]
fn the_life_of_a_machine() {
    let object = machine(MACHINE);
    let want = want();
    let bound = Case {
        deleting: false,
        bound: true,
        want: Some(&want),
        seen: None,
        trouble: None,
    };
    let creating = [facts("i-1", PowerState::Creating)];
    let starting = [facts("i-1", PowerState::Starting)];
    let running = [facts("i-1", PowerState::Running)];
    let reported = [Facts {
        guest: Some(GuestFacts::default()),
        ..facts("i-1", PowerState::Running)
    }];
    let failed = [facts("i-1", PowerState::Failed)];
    let terminal = Trouble {
        reason: "Rejected".into(),
        message: "image: \"x\": not found".into(),
        terminal: true,
        retry_after: None,
    };
    let passing = Trouble {
        terminal: false,
        ..terminal.clone()
    };
    let rows = [
        (
            Case {
                bound: false,
                ..bound
            },
            "Pending | Reconciling | InfrastructureReady",
        ),
        (
            Case {
                seen: Some(&[]),
                ..bound
            },
            "Creating | Reconciling | ",
        ),
        (
            Case {
                seen: Some(&creating),
                ..bound
            },
            "Creating | Reconciling | BootstrapReady",
        ),
        (
            Case {
                seen: Some(&starting),
                ..bound
            },
            "Creating | InfrastructureReady Reconciling | BootstrapReady",
        ),
        (
            Case {
                seen: Some(&running),
                ..bound
            },
            "Running | Ready InfrastructureReady NetworkReady DrainReady | BootstrapReady",
        ),
        (
            Case {
                seen: Some(&reported),
                ..bound
            },
            "Running | Ready InfrastructureReady NetworkReady BootstrapReady DrainReady | ",
        ),
        (
            Case {
                seen: Some(&[]),
                trouble: Some(&passing),
                ..bound
            },
            "Creating | Reconciling | ",
        ),
        (
            Case {
                seen: Some(&[]),
                trouble: Some(&terminal),
                ..bound
            },
            "Failed | Stalled | ",
        ),
        (
            Case {
                seen: Some(&failed),
                ..bound
            },
            "Failed | Stalled | BootstrapReady",
        ),
        (
            Case {
                deleting: true,
                seen: Some(&running),
                ..bound
            },
            "Terminating | InfrastructureReady NetworkReady Reconciling DrainReady | BootstrapReady",
        ),
        (
            Case {
                deleting: true,
                seen: Some(&[]),
                ..bound
            },
            "Terminated | Reconciling | ",
        ),
    ];
    for (case, expected) in rows {
        assert_eq!(view(&status(&object, &case, at(0))), expected);
    }
}

#[test]
fn what_cannot_be_seen_keeps_its_phase_and_facts() {
    let want = want();
    let running = [facts("i-1", PowerState::Running)];
    let seen = Case::of(&want, &running);
    let before = status(&machine(MACHINE), &seen, at(0));
    let trouble = Trouble {
        reason: "ProviderUnreachable".into(),
        message: "no answer".into(),
        terminal: false,
        retry_after: None,
    };
    let unseen = Case {
        seen: None,
        trouble: Some(&trouble),
        ..seen
    };
    let after = status(&before, &unseen, at(60));
    assert_eq!(
        view(&after),
        "Running | Reconciling | Ready InfrastructureReady NetworkReady BootstrapReady DrainReady"
    );
    let status = after.status.expect("a status");
    assert_eq!(status.provider_id.as_deref(), Some("test:///i-1"));
    assert_eq!(status.private_ip_addresses, ["10.0.0.5"]);
}

#[test]
fn times_move_only_with_what_they_date() {
    let want = want();
    let running = [facts("i-1", PowerState::Running)];
    let case = Case::of(&want, &running);
    let first = status(&machine(MACHINE), &case, at(0));
    let second = status(&first, &case, at(60));
    assert_eq!(first.status, second.status);
    let reported = [Facts {
        guest: Some(GuestFacts::default()),
        ..facts("i-1", PowerState::Running)
    }];
    let case = Case {
        seen: Some(&reported),
        ..case
    };
    let third = status(&second, &case, at(120)).status.expect("a status");
    let time = |kind| {
        let condition = conditions::find(&third.conditions, kind).expect("the condition");
        condition.last_transition_time.0.as_second()
    };
    assert_eq!((time("Ready"), time("BootstrapReady")), (0, 120));
    assert_eq!(third.observed_generation, Some(3));
}

#[test]
fn both_vocabularies_say_the_same() {
    let want = want();
    let running = [facts("i-1", PowerState::Running)];
    let case = Case::of(&want, &running);
    let status = status(&machine(MACHINE), &case, at(0))
        .status
        .expect("a status");
    let addresses = status.addresses.expect("addresses");
    assert_eq!(addresses.internal, status.private_ip_addresses);
    assert_eq!(addresses.external, status.public_ip_addresses);
    assert_eq!(
        status.ip_addresses,
        ["10.0.0.5", "203.0.113.7", "2001:db8::7"]
    );
    assert_eq!(status.ipv6_addresses, ["2001:db8::7"]);
    let interfaces = status.network_status.expect("a network status").interfaces;
    assert_eq!(interfaces, status.network_interfaces);
}

#[test]
fn a_status_that_was_read_back_is_no_news() {
    let want = want();
    let precise = |milliseconds| Some(Timestamp::from_millisecond(milliseconds).expect("a time"));
    let running = [Facts {
        created: precise(1_639),
        started: precise(2_750),
        ..facts("i-1", PowerState::Running)
    }];
    let case = Case::of(&want, &running);
    let first = status(&machine(MACHINE), &case, at(10));
    let stored = serde_json::to_value(&first).expect("an object");
    let stored: Machine = serde_json::from_value(stored).expect("a machine");
    assert_eq!(
        status(&stored, &case, at(20)).status,
        stored.status,
        "a pass that sees the same writes nothing"
    );
}
