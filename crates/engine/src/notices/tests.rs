//! One list tells which machines changed, and nothing else does.

use machinist_core::machine::PowerState;

use super::*;
use crate::testing::{facts, machine};

fn provider() -> ProviderName {
    ("default".into(), "local".into())
}

fn names(changed: &[ObjectRef<Packed>]) -> Vec<&str> {
    let mut names: Vec<&str> = changed.iter().map(|of| of.name.as_str()).collect();
    names.sort_unstable();
    names
}

fn seen(count: u64) -> (Notices, Vec<Facts>) {
    let notices = Notices::default();
    let fleet: Vec<Facts> = (0..count).map(|number| facts(number, "c")).collect();
    for (number, facts) in fleet.iter().enumerate() {
        let machine = machine(number as u64);
        notices.meet(&machine);
        notices.put(&machine, &provider(), std::slice::from_ref(facts), false);
    }
    (notices, fleet)
}

#[test]
fn what_is_as_it_was_needs_no_pass() {
    let (notices, mut fleet) = seen(10);
    fleet.reverse();
    assert!(notices.changed(&provider(), &fleet).is_empty());
}

#[test]
fn what_changed_came_or_went_needs_one() {
    let (notices, mut fleet) = seen(10);
    fleet[3].power = PowerState::Stopped;
    fleet.remove(7);
    let mut twin = fleet[5].clone();
    twin.id = machinist_core::machine::MachineId::new("twin");
    fleet.push(twin);
    // One that nobody declared is the sweep's business.
    fleet.push(facts(99, "c"));
    let changed = notices.changed(&provider(), &fleet);
    assert_eq!(names(&changed), ["m-3", "m-5", "m-7"]);
    let other = ("default".into(), "other".into());
    assert!(notices.changed(&other, &fleet).is_empty());
}

#[test]
fn what_is_gone_is_forgotten() {
    let (notices, _) = seen(2);
    notices.forget("uid-0");
    assert!(notices.machine("uid-0").is_none());
    assert_eq!(notices.machine("uid-1").unwrap().name, "m-1");
    assert_eq!(names(&notices.changed(&provider(), &[])), ["m-1"]);
}

#[tokio::test]
async fn a_provider_is_busy_while_many_machines_are_on_their_way() {
    let notices = Notices::default();
    let becomes_busy = notices.becomes_busy();
    for number in 0..FEW as u64 {
        assert!(!notices.put(&machine(number), &provider(), &[], true));
    }
    assert!(!notices.is_busy(&provider()));
    assert!(notices.put(&machine(FEW as u64), &provider(), &[], true));
    becomes_busy.await;
    // One that has arrived is not listed for its own sake.
    assert!(!notices.put(&machine(100), &provider(), &[], false));
    assert!(notices.is_busy(&provider()));
    assert!(!notices.put(&machine(0), &provider(), &[], false));
    assert!(!notices.is_busy(&provider()));
    notices.put(&machine(0), &provider(), &[], true);
    notices.forget("uid-0");
    assert!(!notices.is_busy(&provider()));
}

#[test]
fn an_object_that_stays_otherwise_than_it_was_left_needs_a_pass() {
    let notices = Notices::default();
    let at = |version: &str| {
        let mut machine = machine(0);
        machine.metadata.resource_version = Some(version.into());
        machine
    };
    notices.meet(&at("7"));
    notices.put(&at("7"), &provider(), &[], false);
    let found = |version: &str| {
        let view = Arc::new(Packed::new(at(version)).unwrap());
        !notices
            .overwritten(&provider(), |_| Some(view.clone()))
            .is_empty()
    };
    assert!(!found("7"));
    assert!(!found("5"), "the view may be behind");
    assert!(!found("7"), "and has come up");
    assert!(!found("8"));
    assert!(!found("9"), "it is on its way still");
    assert!(found("9"), "somebody else left it like this");
    notices.left(&at("9"), &provider());
    assert!(!found("9") && !found("9"), "a pass has seen it");
    assert!(notices.overwritten(&provider(), |_| None).is_empty());
}
