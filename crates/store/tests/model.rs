//! Random operations against a plain model of what a store is, with restarts in between.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed assumption is a failed test, in its helpers too"
)]

mod common;

use std::collections::BTreeMap;

use common::{Home, history, value};
use machinist_store::{Expect, Options, Revision, Store, WriteError};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Step {
    Put(u8, u8, Wish),
    Delete(u8, Wish),
    Compact(u8),
    Reopen,
}

/// A condition, relative to what is there when its turn comes.
#[derive(Clone, Copy, Debug)]
enum Wish {
    Any,
    Absent,
    Current,
    Stale,
}

fn step() -> impl Strategy<Value = Step> {
    let wish = || {
        prop_oneof![
            Just(Wish::Any),
            Just(Wish::Absent),
            Just(Wish::Current),
            Just(Wish::Stale)
        ]
    };
    prop_oneof![
        6 => (0..6u8, any::<u8>(), wish()).prop_map(|(key, value, wish)| Step::Put(key, value, wish)),
        3 => (0..6u8, wish()).prop_map(|(key, wish)| Step::Delete(key, wish)),
        1 => any::<u8>().prop_map(Step::Compact),
        1 => Just(Step::Reopen),
    ]
}

/// What a store is, without any of how it is done.
#[derive(Default)]
struct Model {
    /// Value, creation, last change.
    entries: BTreeMap<String, (String, u64, u64)>,
    history: Vec<String>,
    compacted: u64,
}

impl Model {
    fn expect(&self, key: &str, wish: Wish) -> Expect {
        let current = self.entries.get(key).map_or(0, |entry| entry.2);
        match wish {
            Wish::Any => Expect::Any,
            Wish::Absent => Expect::Absent,
            Wish::Current => Expect::Revision(Revision(current)),
            Wish::Stale => Expect::Revision(Revision(current + 1)),
        }
    }

    /// Whether a write may happen.
    fn allows(&self, key: &str, expect: Expect, delete: bool) -> bool {
        match (expect, self.entries.get(key)) {
            (Expect::Any, None) => !delete,
            (Expect::Any, Some(_)) => true,
            (Expect::Absent, found) => found.is_none() && !delete,
            (Expect::Revision(revision), found) => found.is_some_and(|e| e.2 == revision.0),
        }
    }

    fn write(&mut self, key: &str, text: Option<&str>) -> u64 {
        let revision = self.history.len() as u64 + 1;
        let before = self.entries.remove(key);
        let was = before
            .as_ref()
            .map(|(text, ..)| format!(" (was {text})"))
            .unwrap_or_default();
        let line = match (text, &before) {
            (Some(text), _) => format!("{revision} put {key}={text}{was}"),
            (None, Some((last, ..))) => format!("{revision} delete {key}={last}{was}"),
            (None, None) => panic!("the model deletes only what exists"),
        };
        if let Some(text) = text {
            let created = before.map_or(revision, |(_, created, _)| created);
            self.entries
                .insert(key.into(), (text.into(), created, revision));
        }
        self.history.push(line);
        revision
    }

    fn check(&self, store: &Store) {
        let listed: BTreeMap<String, (String, u64, u64)> = store
            .list("", None, None)
            .entries
            .into_iter()
            .map(|entry| {
                let text = String::from_utf8(entry.value.to_vec()).unwrap();
                (
                    entry.key.to_string(),
                    (text, entry.created.0, entry.modified.0),
                )
            })
            .collect();
        assert_eq!(listed, self.entries);
        assert_eq!(store.revision().0, self.history.len() as u64);
        assert_eq!(store.compacted().0, self.compacted);
        let kept = history(store, Revision(self.compacted));
        assert_eq!(kept, self.history[self.compacted as usize..]);
    }
}

async fn run(home: Home, steps: Vec<Step>, keep_events: usize) {
    let options = Options {
        keep_events,
        ..Options::default()
    };
    let mut model = Model::default();
    let mut store = home.open_with(options.clone());
    for step in steps {
        match step {
            Step::Put(key, text, wish) => {
                let (key, text) = (format!("k{key}"), text.to_string());
                let expect = model.expect(&key, wish);
                let answer = store.put(&key, value(text.as_str()), expect).await;
                if model.allows(&key, expect, false) {
                    assert_eq!(answer.unwrap().0, model.write(&key, Some(&text)));
                } else {
                    assert!(matches!(
                        answer,
                        Err(WriteError::Exists(_) | WriteError::Conflict { .. })
                    ));
                }
            }
            Step::Delete(key, wish) => {
                let key = format!("k{key}");
                let expect = model.expect(&key, wish);
                let answer = store.delete(&key, expect).await;
                if model.allows(&key, expect, true) {
                    assert_eq!(answer.unwrap().modified.0, model.write(&key, None));
                } else {
                    assert!(!matches!(answer, Ok(_) | Err(WriteError::Failed(_))));
                }
            }
            Step::Compact(to) => {
                let to = u64::from(to);
                let reached = store.compact(Revision(to)).await.unwrap().0;
                model.compacted = model.compacted.max(to.min(model.history.len() as u64));
                assert_eq!(reached, model.compacted);
            }
            Step::Reopen => {
                if matches!(home, Home::Disk(_)) {
                    store.close().await;
                    store = home.open_with(options.clone());
                }
            }
        }
        let least = (model.history.len() as u64).saturating_sub(keep_events as u64);
        model.compacted = model.compacted.max(least);
        model.check(&store);
    }
}

fn block_on(future: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.unwrap().block_on(future);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn memory_is_like_the_model(steps in prop::collection::vec(step(), 1..200), keep in 1..40usize) {
        block_on(run(Home::Memory, steps, keep));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn disk_is_like_the_model(steps in prop::collection::vec(step(), 1..60), keep in 1..20usize) {
        block_on(run(Home::disk(), steps, keep));
    }
}
