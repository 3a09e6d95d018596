//! The planner: every row of its table, and the laws that hold for all of them.
#![allow(clippy::expect_used, reason = "a failed assumption is a failed test")]

mod support;

use machinist_core::{
    machine::{
        Absence, Change, Disk, DiskFacts, Facts, Nic, Power, PowerState, Refusal, Seen, Situation,
        Stall, Step, Waiting, Want, plan,
    },
    provider::{Capabilities, When},
};
use proptest::prelude::*;
use support::{able, facts, want};

const STATES: [PowerState; 7] = [
    PowerState::Creating,
    PowerState::Starting,
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
        absence: Absence::Proven,
        can: able(),
    })
}

/// The decision about one bound machine on a platform that can do this much.
fn about(want: &Want, machine: &Facts, can: Capabilities) -> Step {
    plan(Situation {
        deleting: false,
        bound: true,
        want: Some(want),
        seen: Seen::Machines(std::slice::from_ref(machine)),
        absence: Absence::Apparent,
        can,
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
        (Power::On, PowerState::Starting, "wait"),
        (Power::On, PowerState::Running, "settled"),
        (Power::On, PowerState::Stopping, "wait"),
        (Power::On, PowerState::Stopped, "start"),
        (Power::On, PowerState::Deleting, "wait"),
        (Power::On, PowerState::Failed, "stall"),
        (Power::Off, PowerState::Creating, "wait"),
        (Power::Off, PowerState::Starting, "wait"),
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
fn a_restart_is_due_until_the_machine_carries_its_token() {
    let mut want = want();
    let mut machine = facts("i-1", PowerState::Running);
    assert_eq!(about(&want, &machine, able()).name(), "settled");
    want.restart = Some("2026-01-01T00:00:00Z".into());
    assert_eq!(about(&want, &machine, able()).name(), "restart");
    machine.power = PowerState::Stopped;
    assert_eq!(about(&want, &machine, able()).name(), "restart");
    machine.restart = want.restart.clone();
    assert_eq!(about(&want, &machine, able()).name(), "start");
    want.power = Power::Off;
    want.restart = Some("2026-01-01T00:00:01Z".into());
    assert_eq!(about(&want, &machine, able()).name(), "settled");
}

#[test]
fn a_resize_is_done_in_place_with_a_restart_or_not_at_all() {
    let mut want = want();
    want.memory += 1 << 30;
    let running = facts("i-1", PowerState::Running);
    let stopped = facts("i-1", PowerState::Stopped);
    let with = |resize| {
        let mut can = able();
        can.changes.resize = resize;
        can
    };
    let rows = [
        (When::Always, &running, "resize"),
        (When::Always, &stopped, "resize"),
        (When::Stopped, &running, "stop"),
        (When::Stopped, &stopped, "resize"),
        (When::Never, &running, "stall"),
        (When::Never, &stopped, "start"),
    ];
    for (when, machine, step) in rows {
        let decided = about(&want, machine, with(when));
        assert_eq!(decided.name(), step, "{when:?} on {:?}", machine.power);
    }
    // Where sizes have names, the name is what counts.
    let mut can = with(When::Stopped);
    can.instance_types = true;
    let mut machine = stopped;
    machine.instance_type = Some("small".into());
    assert_eq!(about(&want, &machine, can).name(), "start");
    machine.instance_type = Some("large".into());
    assert_eq!(about(&want, &machine, can).name(), "resize");
}

fn disk(name: &str, size: u64) -> Disk {
    Disk {
        name: name.into(),
        size: Some(size),
        ..want().disks[0].clone()
    }
}

fn disk_facts(name: &str, size: u64, boot: bool) -> DiskFacts {
    DiskFacts {
        name: name.into(),
        size: Some(size),
        boot,
        ..DiskFacts::default()
    }
}

#[test]
fn disks_follow_the_declaration_but_never_shrink_and_never_lose_the_boot_disk() {
    let data = Disk {
        boot: false,
        ..disk("data", 10)
    };
    let check = |disks: Vec<Disk>, has: &[(&str, u64)]| {
        let want = Want { disks, ..want() };
        let mut machine = facts("i-1", PowerState::Running);
        let disks = has.iter().enumerate();
        machine.disks = disks
            .map(|(place, (name, size))| disk_facts(name, *size, place == 0))
            .collect();
        about(&want, &machine, able())
    };
    let update = |change| Step::Update(facts("i-1", PowerState::Running).id, change);
    let refused = |refusal| Step::Stall(Stall::Refused(refusal));
    let root = disk("root", 5);
    assert_eq!(check(vec![root.clone()], &[("root", 5)]), Step::Settled);
    assert_eq!(
        check(vec![root.clone(), data.clone()], &[("root", 5)]),
        update(Change::AttachDisk(data.clone()))
    );
    assert_eq!(
        check(vec![root.clone()], &[("root", 5), ("data", 10)]),
        update(Change::DetachDisk("data".into()))
    );
    assert_eq!(
        check(vec![disk("root", 7)], &[("root", 5)]),
        update(Change::GrowDisk {
            name: "root".into(),
            size: 7
        })
    );
    assert_eq!(
        check(vec![disk("root", 3)], &[("root", 5)]),
        refused(Refusal::Shrink {
            name: "root".into(),
            has: 5
        })
    );
    assert_eq!(
        check(vec![disk("other", 5)], &[("root", 5)]),
        refused(Refusal::BootDisk("root".into()))
    );
    // What the platform does not tell is no difference.
    assert_eq!(check(vec![root, data], &[]), Step::Settled);
}

#[test]
fn interfaces_and_tags_follow_the_declaration() {
    let named = |name: &str| Nic {
        name: name.into(),
        ..Nic::default()
    };
    let machine = facts("i-1", PowerState::Running);
    let mut want = want();
    want.nics = vec![named("eth0"), named("eth1")];
    assert_eq!(about(&want, &machine, able()).name(), "attach-interface");
    want.nics = vec![named("eth1")];
    assert_eq!(about(&want, &machine, able()).name(), "attach-interface");
    want.nics = Vec::new();
    assert_eq!(about(&want, &machine, able()).name(), "settled");
    want.tags = [("team".to_owned(), "a".to_owned())].into();
    assert_eq!(about(&want, &machine, able()).name(), "tag");
    let blind = Capabilities {
        tags: false,
        ..able()
    };
    assert_eq!(about(&want, &machine, blind).name(), "settled");
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

#[test]
fn an_apparent_absence_is_no_proof_that_a_machine_is_gone() {
    let want = want();
    let decide = |absence, want| {
        plan(Situation {
            deleting: true,
            bound: true,
            want,
            seen: Seen::Machines(&[]),
            absence,
            can: able(),
        })
    };
    assert_eq!(decide(Absence::Proven, None), Step::Release);
    assert_eq!(decide(Absence::Apparent, Some(&want)), Step::Reclaim);
    assert_eq!(
        decide(Absence::Apparent, None),
        Step::Stall(Stall::Unproven)
    );
}

#[derive(Debug, Clone)]
struct Case {
    deleting: bool,
    bound: bool,
    understood: bool,
    power: Power,
    seen: Option<Vec<PowerState>>,
    restart: bool,
    proven: bool,
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
        any::<bool>(),
    )
        .prop_map(
            |(deleting, bound, understood, power, seen, restart, proven)| Case {
                deleting,
                bound,
                understood,
                power,
                seen,
                restart,
                proven,
            },
        )
}

proptest! {
    #[test]
    fn the_laws_of_exactly_once(case in cases()) {
        let restart = case.restart.then(|| "2026-01-01T00:00:00Z".to_owned());
        let want = Want { power: case.power, restart, ..want() };
        let seen: Option<Vec<Facts>> = case.seen.as_ref().map(|states| {
            let facts = |(index, state): (usize, &PowerState)| facts(&format!("i-{index}"), *state);
            states.iter().enumerate().map(facts).collect()
        });
        let step = plan(Situation {
            deleting: case.deleting,
            bound: case.bound,
            want: case.understood.then_some(&want),
            seen: seen.as_deref().map_or(Seen::Unknown, Seen::Machines),
            absence: if case.proven { Absence::Proven } else { Absence::Apparent },
            can: able(),
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
            Step::Release => prop_assert!(
                case.deleting && (!case.bound || (there == Some(0) && case.proven))
            ),
            Step::Reclaim => prop_assert!(case.deleting && case.bound && there == Some(0)),
            Step::Update(..) => prop_assert!(!case.deleting && there == Some(1)),
            Step::Wait(_) | Step::Stall(_) | Step::Settled => {}
        }
        if seen.is_none() && case.bound {
            prop_assert_eq!(step, Step::Wait(Waiting::Sight));
        }
    }
}
