//! The ledger's laws: whatever fails, vanishes or comes late, no limit is exceeded, and no place is
//! lost for good.
#![allow(clippy::expect_used, reason = "a failed assumption is a failed test")]

use std::collections::BTreeMap;

use machinist_core::quota::{Claim, Excess, Existing, Ledger, Limits, Thing};
use proptest::prelude::*;

fn machine(name: &str, storage: u64, before: Option<u64>) -> Claim {
    Claim {
        thing: Thing::Machine,
        name: name.into(),
        new: before.is_none(),
        storage,
        before: before.unwrap_or_default(),
        provider: Some("infra/p".into()),
    }
}

fn existing(name: &str, storage: u64) -> Existing {
    Existing {
        thing: Thing::Machine,
        name: name.into(),
        storage,
        provider: Some("infra/p".into()),
    }
}

#[test]
fn each_limit_is_named() {
    let limits = Limits {
        machines: Some(2),
        storage: Some(10),
        per_machine: Some(6),
        ..Limits::default()
    };
    let mut ledger = Ledger::default();
    let per_machine = Err(Excess::PerMachine {
        wanted: 7,
        limit: 6,
    });
    assert_eq!(
        ledger.promise(&machine("a", 7, None), &limits, 0),
        per_machine
    );
    assert_eq!(ledger.promise(&machine("a", 6, None), &limits, 0), Ok(()));
    let storage = Err(Excess::Storage {
        wanted: 11,
        limit: 10,
    });
    assert_eq!(ledger.promise(&machine("b", 5, None), &limits, 0), storage);
    assert_eq!(ledger.promise(&machine("b", 4, None), &limits, 0), Ok(()));
    // The same name again is the same place.
    assert_eq!(ledger.promise(&machine("b", 4, None), &limits, 0), Ok(()));
    let machines = Err(Excess::Machines { limit: 2 });
    assert_eq!(ledger.promise(&machine("c", 0, None), &limits, 0), machines);
    let limits = Limits {
        per_provider: Some(2),
        ..Limits::default()
    };
    let provider = Err(Excess::PerProvider {
        provider: "infra/p".into(),
        limit: 2,
    });
    assert_eq!(ledger.promise(&machine("c", 0, None), &limits, 0), provider);
    let network = Claim {
        thing: Thing::Network,
        provider: None,
        ..machine("n", 0, None)
    };
    let limits = Limits {
        networks: Some(0),
        ..Limits::default()
    };
    assert_eq!(
        ledger.judge(&network, &limits),
        Err(Excess::Networks { limit: 0 })
    );
}

#[test]
fn a_quota_below_use_lets_what_is_there_be_and_shrink() {
    let limits = Limits {
        machines: Some(1),
        storage: Some(5),
        ..Limits::default()
    };
    let mut ledger = Ledger::default();
    ledger.count(&[existing("a", 4), existing("b", 4)], 0);
    assert_eq!(
        ledger.promise(&machine("a", 4, Some(4)), &limits, 0),
        Ok(())
    );
    assert_eq!(
        ledger.promise(&machine("a", 3, Some(4)), &limits, 0),
        Ok(())
    );
    assert!(
        ledger
            .promise(&machine("a", 5, Some(4)), &limits, 0)
            .is_err()
    );
    assert!(ledger.promise(&machine("c", 0, None), &limits, 0).is_err());
}

#[test]
fn a_promise_that_came_to_nothing_is_given_back() {
    let limits = Limits {
        machines: Some(1),
        ..Limits::default()
    };
    let mut ledger = Ledger::default();
    assert_eq!(ledger.promise(&machine("a", 0, None), &limits, 0), Ok(()));
    ledger.count([], 119);
    assert!(
        ledger
            .promise(&machine("b", 0, None), &limits, 119)
            .is_err()
    );
    ledger.count([], 120);
    assert_eq!(ledger.promise(&machine("b", 0, None), &limits, 120), Ok(()));
}

#[test]
fn a_ledger_is_kept_as_text() {
    let mut ledger = Ledger::default();
    ledger.count(&[existing("a", 4)], 0);
    let grown = machine("a", 6, Some(4));
    ledger
        .promise(&grown, &Limits::default(), 7)
        .expect("no limit");
    assert_eq!(Ledger::read(&ledger.text()), Some(ledger));
    assert_eq!(Ledger::read("what somebody wrote"), None);
}

/// What happens to a world of few names.
#[derive(Debug, Clone)]
enum Event {
    /// A write is asked for; with this size.
    Ask(u8, u64),
    /// A write that was admitted takes effect.
    Land(u8),
    /// It fails.
    Fail(u8),
    /// An object is removed.
    Delete(u8),
    /// A count is begun, or the one that was begun is put in.
    Count,
}

fn events() -> impl Strategy<Value = Event> {
    prop_oneof![
        4 => (0_u8..6, 0_u64..4).prop_map(|(name, size)| Event::Ask(name, size)),
        3 => (0_u8..6).prop_map(Event::Land),
        1 => (0_u8..6).prop_map(Event::Fail),
        1 => (0_u8..6).prop_map(Event::Delete),
        2 => Just(Event::Count),
    ]
}

proptest! {
    #[test]
    fn no_limit_is_ever_exceeded(events in prop::collection::vec(events(), 0..80)) {
        let limits = Limits { machines: Some(3), storage: Some(6), ..Limits::default() };
        let mut ledger = Ledger::default();
        let mut world: BTreeMap<u8, u64> = BTreeMap::new();
        let mut under_way: BTreeMap<u8, u64> = BTreeMap::new();
        let mut counting: Option<Vec<Existing>> = None;
        for event in events {
            match event {
                // One write for one name at a time, as an API server does it for one object.
                Event::Ask(name, size) if !under_way.contains_key(&name) => {
                    let claim = machine(&name.to_string(), size, world.get(&name).copied());
                    if ledger.promise(&claim, &limits, 0).is_ok() {
                        under_way.insert(name, size);
                    }
                }
                Event::Ask(..) => {}
                Event::Land(name) => {
                    if let Some(size) = under_way.remove(&name) {
                        world.insert(name, size);
                    }
                }
                Event::Fail(name) => { under_way.remove(&name); }
                Event::Delete(name) if !under_way.contains_key(&name) => { world.remove(&name); }
                Event::Delete(_) => {}
                Event::Count => match counting.take() {
                    Some(seen) => ledger.count(&seen, 0),
                    None => {
                        let seen = world.iter().map(|(name, size)| existing(&name.to_string(), *size));
                        counting = Some(seen.collect());
                    }
                },
            }
            prop_assert!(world.len() <= 3, "{world:?}");
            prop_assert!(world.values().sum::<u64>() <= 6, "{world:?}");
        }
    }
}
