//! The disk backend on a medium that loses power, or runs full, at any point of a commit.

mod medium;

use medium::{Fault, Tape};
use support::{Dice, block_on};

use super::journal::JournalError;
use super::load::{LoadError, initialize, load};
use crate::backend::{BackendError, Change, Loaded};
use crate::{Entry, Event, Expect, Options, Revision, Store, WriteError};

fn options() -> Options {
    Options {
        keep_events: 20,
        ..Options::default()
    }
}

fn open(tape: &Tape) -> Store {
    let (disk, loaded) = load(tape.clone()).unwrap();
    Store::with_backend(disk, loaded, options())
}

/// What an image holds must be exactly what the reference was at the same revision.
fn agrees(loaded: &Loaded, reference: &Store) {
    let page = reference.list_at("", None, None, loaded.revision).unwrap();
    let entries: Vec<Entry> = loaded.entries.values().cloned().collect();
    assert_eq!(entries, page.entries);
    let mut watch = reference.watch("", loaded.compacted).unwrap();
    let events: Vec<Event> = loaded.changes.iter().map(Change::event).collect();
    for event in &events {
        assert_eq!(watch.try_next().unwrap().as_ref(), Some(event));
    }
}

/// Repeats an event of one store in another, where it must get the same revision.
async fn repeat(event: &Event, reference: &Store) {
    let key = &event.entry.key;
    let revision = match event.kind {
        crate::EventKind::Put => {
            let value = event.entry.value.clone();
            reference.put(key, value, Expect::Any).await.unwrap()
        }
        crate::EventKind::Delete => reference.delete(key, Expect::Any).await.unwrap().modified,
    };
    assert_eq!(revision, event.revision);
}

/// Writes groups of various sizes, and notes on the tape's length when each was acknowledged.
async fn fill(tape: &Tape, reference: &Store, dice: &mut Dice) -> Vec<(usize, Revision)> {
    let store = open(tape);
    let mut watch = store.watch("", store.revision()).unwrap();
    let mut acknowledged = vec![(tape.len(), store.revision())];
    for round in 0..16 {
        let mut group = tokio::task::JoinSet::new();
        for member in 0..=dice.below(5) {
            let store = store.clone();
            let key = format!("k{}", dice.below(12));
            let text = format!("{round}-{member} ").repeat(dice.below(600));
            let delete = dice.below(4) == 0;
            group.spawn(async move {
                if delete {
                    match store.delete(&key, Expect::Any).await {
                        Ok(_) | Err(WriteError::NotFound(_)) => {}
                        Err(other) => panic!("{other}"),
                    }
                } else {
                    store.put(&key, text.into(), Expect::Any).await.unwrap();
                }
            });
        }
        while let Some(done) = group.join_next().await {
            done.unwrap();
        }
        acknowledged.push((tape.len(), store.revision()));
        while let Some(event) = watch.try_next().unwrap() {
            repeat(&event, reference).await;
        }
    }
    store.close().await;
    acknowledged
}

#[test]
fn a_power_cut_at_any_point_keeps_what_was_acknowledged() {
    block_on(async {
        let mut dice = Dice::new(7);
        let tape = Tape::default();
        initialize(&tape, "uid").unwrap();
        let reference = Store::memory();
        let acknowledged = fill(&tape, &reference, &mut dice).await;
        let (start, _) = acknowledged[0];
        let mut lost = 0;
        for cut in start..tape.len() {
            let image = tape.cut_at(cut, &mut dice);
            let (_, loaded) = load(Tape::of(image)).unwrap_or_else(|e| panic!("{cut}: {e:?}"));
            let promised = acknowledged.iter().rev().find(|(at, _)| *at <= cut);
            let (_, promised) = promised.unwrap();
            assert!(loaded.revision >= *promised, "cut at {cut}");
            lost += usize::from(loaded.revision < reference.revision());
            agrees(&loaded, &reference);
        }
        assert!(lost > 10, "the cuts should hurt what is not acknowledged");
    });
}

#[test]
fn a_medium_that_runs_full_fails_the_write_and_recovers() {
    block_on(async {
        let mut recovered = 0;
        for nth in 0.. {
            let tape = Tape::default();
            initialize(&tape, "uid").unwrap();
            let reference = Store::memory();
            let store = open(&tape);
            tape.fail(Fault::NoSpaceAfter(nth));
            // Enough to fill both segments of the journal, so that the database is needed too.
            let mut failed = false;
            for n in 0..12 {
                let value = bytes::Bytes::from(vec![b'a' + n; 7000]);
                match store.put("a", value.clone(), Expect::Any).await {
                    Ok(_) => drop(reference.put("a", value, Expect::Any).await.unwrap()),
                    Err(WriteError::Failed(error)) => {
                        assert!(matches!(*error, BackendError::Failed(_)), "{error:?}");
                        failed = true;
                        break;
                    }
                    Err(other) => panic!("{other}"),
                }
            }
            if !failed {
                assert!(nth > 10, "the fault must have met several places");
                break;
            }
            assert_eq!(
                store.get("a").map(|e| e.value),
                reference.get("a").map(|e| e.value)
            );
            assert_eq!(store.revision(), reference.revision());
            // It stays full for a while.
            let large = bytes::Bytes::from(vec![b'x'; 100_000]);
            assert!(store.put("a", large.clone(), Expect::Any).await.is_err());
            tape.fail(Fault::None);
            let revision = store.put("a", large.clone(), Expect::Any).await.unwrap();
            assert_eq!(revision.0, reference.revision().0 + 1);
            reference.put("a", large, Expect::Any).await.unwrap();
            recovered += 1;
            store.close().await;
            let (_, loaded) = load(tape.clone()).unwrap();
            agrees(&loaded, &reference);
        }
        assert!(recovered > 10, "{recovered}");
    });
}

/// A store that was written to and then lost its power, with nothing in its database.
async fn left_in_the_journal(writes: usize) -> Tape {
    let tape = Tape::default();
    initialize(&tape, "uid").unwrap();
    let store = open(&tape);
    for n in 0..writes {
        let value = n.to_string().into();
        store.put("a", value, Expect::Any).await.unwrap();
    }
    let left = Tape::of(tape.cut_at(tape.len(), &mut Dice::new(1)));
    store.close().await;
    left
}

#[test]
fn what_is_only_in_the_journal_is_there_again_also_the_second_time() {
    block_on(async {
        let tape = left_in_the_journal(5).await;
        for _ in 0..2 {
            let (disk, loaded) = load(tape.clone()).unwrap();
            assert_eq!(loaded.revision, Revision(5));
            assert_eq!(loaded.entries["a"].value, "4");
            drop(disk);
        }
        let store = open(&tape);
        let next = store.put("a", "5".into(), Expect::Any).await;
        assert_eq!(next.unwrap(), Revision(6));
    });
}

#[test]
fn a_journal_that_is_damaged_before_its_end_is_refused() {
    block_on(async {
        for (place, whole) in [(0, false), (4096 + 60, false), (4 * 4096 + 60, true)] {
            let tape = left_in_the_journal(5).await;
            tape.damage(1, place);
            match load(tape) {
                // The last batch cannot be told from one that was never synced.
                Ok((_, loaded)) => assert!(whole && loaded.revision == Revision(4), "{place}"),
                Err(error) => assert!(
                    !whole && matches!(error, LoadError::Journal(JournalError::Gap(_))),
                    "{place}: {error:?}"
                ),
            }
        }
    });
}

#[test]
fn a_database_that_fails_is_caught_up_when_it_no_longer_does() {
    block_on(async {
        let tape = Tape::default();
        initialize(&tape, "uid").unwrap();
        let reference = Store::memory();
        let store = open(&tape);
        let mut refused = 0;
        for n in 0..200 {
            // Room for the journal's frames, which overwrite, but now and then for nothing else.
            tape.fail(match n % 20 {
                10..13 => Fault::NoSpaceIn(0),
                _ => Fault::None,
            });
            let value = format!("{n} ").repeat(700);
            match store.put("a", value.clone().into(), Expect::Any).await {
                Ok(_) => drop(reference.put("a", value.into(), Expect::Any).await.unwrap()),
                Err(WriteError::Failed(error)) => {
                    assert!(matches!(*error, BackendError::Failed(_)), "{error:?}");
                    refused += 1;
                }
                Err(other) => panic!("{other}"),
            }
        }
        assert!(refused > 0, "the fault must have met a checkpoint");
        store.close().await;
        let (_, loaded) = load(tape.clone()).unwrap();
        assert_eq!(loaded.revision, reference.revision());
        agrees(&loaded, &reference);
        let [_, first, second] = tape.sizes();
        assert!(first > 0 && second > 0, "both segments were used");
    });
}

#[test]
fn a_commit_in_doubt_is_not_tried_again() {
    block_on(async {
        let tape = Tape::default();
        initialize(&tape, "uid").unwrap();
        let store = open(&tape);
        store.put("a", "1".into(), Expect::Any).await.unwrap();
        tape.fail(Fault::Sync);
        let failed = store.put("a", "2".into(), Expect::Any).await;
        assert!(matches!(failed, Err(WriteError::Failed(_))));
        tape.fail(Fault::None);
        // The bytes are in the file, and nobody knows whether they would survive.
        let failed = store.put("a", "3".into(), Expect::Any).await.unwrap_err();
        let WriteError::Failed(error) = failed else {
            panic!("{failed}");
        };
        assert!(matches!(*error, BackendError::Poisoned(_)), "{error:?}");
        assert_eq!(store.get("a").unwrap().value, "1");
        store.close().await;
        // Only a restart tells; here it was written after all, once.
        let store = open(&tape);
        assert_eq!(store.revision(), Revision(2));
        assert_eq!(store.get("a").unwrap().value, "2");
    });
}

/// Small helpers of these tests.
mod support {
    /// Repeatable chance.
    pub(super) struct Dice(u64);

    impl Dice {
        pub(super) fn new(seed: u64) -> Self {
            Self(seed)
        }

        pub(super) fn below(&mut self, limit: usize) -> usize {
            self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            ((self.0 >> 33) as usize) % limit
        }
    }

    pub(super) fn block_on(future: impl Future<Output = ()>) {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        runtime.unwrap().block_on(future);
    }
}
