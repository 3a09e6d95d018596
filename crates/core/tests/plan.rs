//! The planner: every row of its table, and the laws that hold for all of them.
#![allow(clippy::expect_used, reason = "a failed assumption is a failed test")]

mod support;

use jiff::Timestamp;
use machinist_core::machine::{
    Facts, Power, PowerState, Seen, Situation, Stall, Step, Waiting, Want, plan,
};
use proptest::prelude::*;
use support::{facts, want};

const STATES: [PowerState; 6] = [
    PowerState::Creating,
    PowerState::Running,
    PowerState::Stopping,
    PowerState::Stopped,
    PowerState::Deleting,
    PowerState::Failed,
];

fn decide(deleting: bool, bound: bool, want: Option<&Want>, seen: Option<&[Facts]>) -> Step {
    plan(Situation {
        deleting,
        bound,
        want,
        seen: seen.map_or(Seen::Unknown, Seen::Machines),
        restart: None,
    })
}

#[test]
fn a_new_machine_is_bound_before_anything_else() {
    let want = want();
    assert_eq!(decide(false, false, Some(&want), None), Step::Bind);
    assert_eq!(
        decide(false, false, None, None),
        Step::Wait(Waiting::Declaration)
    );
    assert_eq!(decide(false, true, Some(&want), Some(&[])), Step::Create);
}

#[test]
fn power_follows_the_declaration() {
    let rows = [
        (Power::On, PowerState::Creating, "wait"),
        (Power::On, PowerState::Running, "settled"),
        (Power::On, PowerState::Stopping, "wait"),
        (Power::On, PowerState::Stopped, "start"),
        (Power::On, PowerState::Deleting, "wait"),
        (Power::On, PowerState::Failed, "stall"),
        (Power::Off, PowerState::Creating, "wait"),
        (Power::Off, PowerState::Running, "stop"),
        (Power::Off, PowerState::Stopping, "wait"),
        (Power::Off, PowerState::Stopped, "settled"),
        (Power::Off, PowerState::Deleting, "wait"),
        (Power::Off, PowerState::Failed, "stall"),
    ];
    for (power, state, step) in rows {
        let want = Want { power, ..want() };
        let seen = [facts("i-1", state)];
        let decided = decide(false, true, Some(&want), Some(&seen));
        assert_eq!(decided.name(), step, "{power:?} and {state:?}");
    }
}

#[test]
fn a_restart_is_due_until_the_machine_was_started_after_it_was_asked_for() {
    let want = want();
    let at = |second| Timestamp::from_second(second).expect("a time");
    let mut running = facts("i-1", PowerState::Running);
    running.started = Some(at(100));
    let seen = [running];
    let decide = |restart| {
        plan(Situation {
            deleting: false,
            bound: true,
            want: Some(&want),
            seen: Seen::Machines(&seen),
            restart,
        })
        .name()
    };
    assert_eq!(decide(None), "settled");
    assert_eq!(decide(Some(at(100))), "settled");
    assert_eq!(decide(Some(at(101))), "restart");
}

#[test]
fn deletion_removes_all_that_carry_the_key_and_only_then_lets_go() {
    let one = facts("i-1", PowerState::Deleting);
    let two = facts("i-2", PowerState::Running);
    let both = [one.clone(), two.clone()];
    assert_eq!(decide(true, true, None, Some(&both)), Step::Delete(two.id));
    assert_eq!(
        decide(true, true, None, Some(&[one])),
        Step::Wait(Waiting::Removal)
    );
    assert_eq!(decide(true, true, None, Some(&[])), Step::Release);
    assert_eq!(decide(true, false, None, None), Step::Release);
}

#[test]
fn duplicates_are_reported_and_left_alone() {
    let both = [
        facts("i-1", PowerState::Running),
        facts("i-2", PowerState::Running),
    ];
    let step = decide(false, true, Some(&want()), Some(&both));
    assert_eq!(step, Step::Stall(Stall::Duplicates));
}

#[derive(Debug, Clone)]
struct Case {
    deleting: bool,
    bound: bool,
    understood: bool,
    power: Power,
    seen: Option<Vec<PowerState>>,
    restart: bool,
}

fn cases() -> impl Strategy<Value = Case> {
    let state = prop::sample::select(STATES.to_vec());
    let seen = prop::option::of(prop::collection::vec(state, 0..4));
    let power = prop::sample::select(vec![Power::On, Power::Off]);
    (
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
        power,
        seen,
        any::<bool>(),
    )
        .prop_map(|(deleting, bound, understood, power, seen, restart)| Case {
            deleting,
            bound,
            understood,
            power,
            seen,
            restart,
        })
}

proptest! {
    #[test]
    fn the_laws_of_exactly_once(case in cases()) {
        let want = Want { power: case.power, ..want() };
        let seen: Option<Vec<Facts>> = case.seen.as_ref().map(|states| {
            let facts = |(index, state): (usize, &PowerState)| facts(&format!("i-{index}"), *state);
            states.iter().enumerate().map(facts).collect()
        });
        let step = plan(Situation {
            deleting: case.deleting,
            bound: case.bound,
            want: case.understood.then_some(&want),
            seen: seen.as_deref().map_or(Seen::Unknown, Seen::Machines),
            restart: case.restart.then_some(Timestamp::UNIX_EPOCH),
        });
        let there = seen.as_ref().map(Vec::len);
        match &step {
            // Created only when absence is proven, and only after the binding is durable.
            Step::Create => prop_assert!(case.bound && !case.deleting && case.understood && there == Some(0)),
            Step::Bind => prop_assert!(!case.bound && !case.deleting && case.understood),
            // Deleted only when the object is, and only what was seen.
            Step::Delete(id) => {
                let ids: Vec<String> = seen.iter().flatten().map(|m| m.id.to_string()).collect();
                prop_assert!(case.deleting && case.bound && ids.contains(&id.to_string()));
            }
            // Let go only when nothing was ever asked for, or absence is proven.
            Step::Release => prop_assert!(case.deleting && (!case.bound || there == Some(0))),
            Step::Power(..) | Step::Restart(_) => prop_assert!(!case.deleting && there == Some(1)),
            Step::Wait(_) | Step::Stall(_) | Step::Settled => {}
        }
        if seen.is_none() && case.bound {
            prop_assert_eq!(step, Step::Wait(Waiting::Sight));
        }
    }
}
