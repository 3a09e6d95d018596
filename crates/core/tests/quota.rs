//! The ledger's laws: whatever fails, vanishes or comes late, no limit is exceeded, and no place is
//! lost for good.
#![allow(clippy::expect_used, reason = "a failed assumption is a failed test")]

use std::collections::{BTreeMap, HashSet};

use machinist_core::quota::{Census, Claim, Excess, Existing, Ledger, Limits, Thing};
use proptest::prelude::*;

fn machine(name: &str, storage: u64, before: Option<u64>) -> Claim {
    Claim {
        thing: Thing::Machine,
        name: name.into(),
        uid: None,
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
        uid: None,
        storage,
        provider: Some("infra/p".into()),
    }
}

/// Counts at one moment.
fn count(ledger: &mut Ledger, existing: &[Existing], seen: &[&str], now: i64) {
    let mut census = ledger.begin(|uid| seen.contains(&uid));
    census.existing = existing.to_vec();
    assert!(ledger.count(&census, now), "no other was put in");
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
    count(&mut ledger, &[existing("a", 4), existing("b", 4)], &[], 0);
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
    count(&mut ledger, &[], &[], 119);
    assert!(
        ledger
            .promise(&machine("b", 0, None), &limits, 119)
            .is_err()
    );
    count(&mut ledger, &[], &[], 120);
    assert_eq!(ledger.promise(&machine("b", 0, None), &limits, 120), Ok(()));
}

#[test]
fn what_was_made_and_removed_between_two_counts_gives_its_place_back() {
    let limits = Limits {
        machines: Some(1),
        ..Limits::default()
    };
    let with = |name: &str, uid: &str| Claim {
        uid: Some(uid.into()),
        ..machine(name, 1, None)
    };
    let mut ledger = Ledger::default();
    assert_eq!(ledger.promise(&with("a", "u1"), &limits, 0), Ok(()));
    count(&mut ledger, &[], &[], 0);
    assert!(ledger.promise(&with("b", "u2"), &limits, 0).is_err());
    count(&mut ledger, &[], &["u1"], 0);
    assert_eq!(ledger.promise(&with("b", "u2"), &limits, 0), Ok(()));

    // Of two that would make the same object, the other may come when the first has gone.
    let mut ledger = Ledger::default();
    assert_eq!(ledger.promise(&with("a", "u1"), &limits, 0), Ok(()));
    assert_eq!(ledger.promise(&with("a", "u2"), &limits, 0), Ok(()));
    count(&mut ledger, &[], &["u1"], 0);
    assert!(ledger.promise(&with("b", "u3"), &limits, 0).is_err());

    // What is there has not gone: it may still grow.
    let limits = Limits {
        storage: Some(4),
        ..Limits::default()
    };
    let mut ledger = Ledger::default();
    let grown = Claim {
        new: false,
        storage: 3,
        before: 1,
        ..with("a", "u1")
    };
    count(&mut ledger, &[existing("a", 1)], &[], 0);
    assert_eq!(ledger.promise(&grown, &limits, 0), Ok(()));
    count(&mut ledger, &[existing("a", 1)], &["u1"], 0);
    assert!(ledger.judge(&machine("b", 2, None), &limits).is_err());
    assert_eq!(ledger.judge(&machine("b", 1, None), &limits), Ok(()));
}

#[test]
fn a_ledger_is_kept_as_text() {
    let mut ledger = Ledger::default();
    count(&mut ledger, &[existing("a", 4)], &[], 0);
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
    /// The watch catches up.
    Watch,
    /// The watch shows this one while nothing is counted.
    Settle(u8),
    /// A count is begun, or the one that was begun is put in.
    Count,
}

fn events() -> impl Strategy<Value = Event> {
    prop_oneof![
        4 => (0_u8..6, 0_u64..4).prop_map(|(name, size)| Event::Ask(name, size)),
        3 => (0_u8..6).prop_map(Event::Land),
        1 => (0_u8..6).prop_map(Event::Fail),
        1 => (0_u8..6).prop_map(Event::Delete),
        1 => Just(Event::Watch),
        2 => (0_u8..6).prop_map(Event::Settle),
        2 => Just(Event::Count),
    ]
}

/// An API server with a ledger before it.
#[derive(Default)]
struct World {
    ledger: Ledger,
    objects: BTreeMap<u8, (String, u64)>,
    under_way: BTreeMap<u8, (String, u64)>,
    /// All that ever was there, and what of it the watch has shown.
    made: HashSet<String>,
    watched: HashSet<String>,
    counting: Option<Census>,
    failed: bool,
    asked: usize,
}

impl World {
    fn list(&self) -> Vec<Existing> {
        let one = |(name, (uid, size)): (&u8, &(String, u64))| Existing {
            uid: Some(uid.clone()),
            ..existing(&name.to_string(), *size)
        };
        self.objects.iter().map(one).collect()
    }

    fn happen(&mut self, event: Event, limits: &Limits) {
        match event {
            // One write for one name at a time, as an API server does it for one object.
            Event::Ask(name, size) if !self.under_way.contains_key(&name) => {
                let there = self.objects.get(&name).cloned();
                self.asked += 1;
                let asked = self.asked;
                let uid = there
                    .as_ref()
                    .map_or_else(|| format!("u{asked}"), |(uid, _)| uid.clone());
                let claim = Claim {
                    uid: Some(uid.clone()),
                    ..machine(&name.to_string(), size, there.map(|(_, size)| size))
                };
                if self.ledger.promise(&claim, limits, 0).is_ok() {
                    self.under_way.insert(name, (uid, size));
                }
            }
            Event::Ask(..) => {}
            Event::Land(name) => {
                if let Some((uid, size)) = self.under_way.remove(&name) {
                    self.made.insert(uid.clone());
                    self.objects.insert(name, (uid, size));
                }
            }
            Event::Fail(name) => self.failed |= self.under_way.remove(&name).is_some(),
            Event::Delete(name) if !self.under_way.contains_key(&name) => {
                self.objects.remove(&name);
            }
            Event::Delete(_) => {}
            Event::Watch => self.watched.clone_from(&self.made),
            Event::Settle(name) => {
                let there = self.objects.get(&name);
                if let Some((uid, _)) = there.filter(|_| self.counting.is_none()) {
                    self.ledger.settle(Thing::Machine, &name.to_string(), uid);
                }
            }
            Event::Count => match self.counting.take() {
                Some(census) => assert!(self.ledger.count(&census, 0), "no other was put in"),
                None => {
                    let mut census = self.ledger.begin(|uid| self.watched.contains(uid));
                    census.existing = self.list();
                    self.counting = Some(census);
                }
            },
        }
    }
}

proptest! {
    #[test]
    fn no_limit_is_ever_exceeded(events in prop::collection::vec(events(), 0..80)) {
        let limits = Limits { machines: Some(3), storage: Some(6), ..Limits::default() };
        let mut world = World::default();
        for event in events {
            world.happen(event, &limits);
            let objects = &world.objects;
            prop_assert!(objects.len() <= 3, "{objects:?}");
            prop_assert!(objects.values().map(|(_, size)| size).sum::<u64>() <= 6, "{objects:?}");
        }
        if world.failed {
            return Ok(());
        }
        // Where no write failed, what is free can be had once all has landed and was seen.
        for name in 0..6 {
            world.happen(Event::Land(name), &limits);
        }
        world.counting = None;
        for event in [Event::Watch, Event::Count, Event::Count] {
            world.happen(event, &limits);
        }
        let one_more = machine("more", 0, None);
        let is_free = world.objects.len() < 3;
        prop_assert_eq!(world.ledger.judge(&one_more, &limits).is_ok(), is_free);
    }
}
