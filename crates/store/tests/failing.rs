//! A medium that fails or waits: what becomes of the group, of readers, and of later writes.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed assumption is a failed test, in its helpers too"
)]

mod common;

use std::sync::mpsc;
use std::sync::{Arc, Mutex};

use common::{history, soon, value};
use machinist_store::backend::{Backend, BackendError, Batch, Loaded};
use machinist_store::{Expect, Options, Revision, Store, WriteError};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;

/// What the next commit shall do.
enum Verdict {
    Succeed,
    Fail,
    Poison,
}

/// A backend whose every commit waits for a verdict; it records what it was given.
struct Judged {
    verdicts: mpsc::Receiver<Verdict>,
    asked: UnboundedSender<usize>,
    committed: Arc<Mutex<Vec<Revision>>>,
}

impl Backend for Judged {
    fn commit(&mut self, batch: &Batch) -> Result<(), BackendError> {
        // Nobody may be counting any more when the store is dropped.
        let _ = self.asked.send(batch.changes.len());
        let full = || Box::new(std::io::Error::from(std::io::ErrorKind::StorageFull));
        match self.verdicts.recv() {
            Ok(Verdict::Fail) => Err(BackendError::Failed(full())),
            Ok(Verdict::Poison) => Err(BackendError::Poisoned(full())),
            Ok(Verdict::Succeed) | Err(_) => {
                let revisions = batch.changes.iter().map(|change| change.revision);
                self.committed.lock().unwrap().extend(revisions);
                Ok(())
            }
        }
    }
}

struct Bench {
    store: Store,
    verdict: mpsc::Sender<Verdict>,
    asked: UnboundedReceiver<usize>,
    committed: Arc<Mutex<Vec<Revision>>>,
}

fn bench() -> Bench {
    let (verdict, verdicts) = mpsc::channel();
    let (asking, asked) = unbounded_channel();
    let committed = Arc::default();
    let backend = Judged {
        verdicts,
        asked: asking,
        committed: Arc::clone(&committed),
    };
    let store = Store::with_backend(backend, Loaded::empty(None), Options::default());
    Bench {
        store,
        verdict,
        asked,
        committed,
    }
}

impl Bench {
    fn say(&self, verdict: Verdict) {
        self.verdict.send(verdict).unwrap();
    }

    /// Starts a write and gives it time to be queued.
    async fn begin(&self, writes: &mut JoinSet<Result<Revision, WriteError>>, expect: Expect) {
        let store = self.store.clone();
        writes.spawn(async move { store.put("k", value("new"), expect).await });
        // On one thread, this runs the new task up to where it waits for its answer.
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_write_is_invisible_until_it_is_durable_and_reads_do_not_wait() {
    let bench = bench();
    let mut watch = bench.store.watch("", Revision::ZERO).unwrap();
    let mut writes = JoinSet::new();
    bench.begin(&mut writes, Expect::Any).await;
    bench.begin(&mut writes, Expect::Any).await;
    assert_eq!(bench.store.get("k"), None);
    assert_eq!(bench.store.revision(), Revision::ZERO);
    assert_eq!(watch.try_next(), Ok(None));
    assert!(writes.try_join_next().is_none());

    bench.say(Verdict::Succeed);
    bench.say(Verdict::Succeed);
    let mut revisions = Vec::new();
    while let Some(answer) = soon(writes.join_next()).await {
        revisions.push(answer.unwrap().unwrap());
    }
    revisions.sort();
    assert_eq!(revisions, [Revision(1), Revision(2)]);
    assert_eq!(*bench.committed.lock().unwrap(), revisions);
    assert_eq!(soon(watch.next()).await.unwrap().revision, Revision(1));
    assert_eq!(bench.store.revision(), Revision(2));
}

#[tokio::test]
async fn a_failed_group_fails_for_all_of_it_and_a_later_write_succeeds() {
    let mut bench = bench();
    bench.say(Verdict::Succeed);
    bench
        .store
        .put("before", value("1"), Expect::Any)
        .await
        .unwrap();
    let mut watch = bench.store.watch("", Revision(1)).unwrap();

    // The first write keeps the writer busy; the others become one group behind it. Two of them
    // are refused only because of the first of their group, which will never have existed.
    bench.asked.recv().await.unwrap();
    let mut writes = JoinSet::new();
    bench.begin(&mut writes, Expect::Any).await;
    assert_eq!(soon(bench.asked.recv()).await, Some(1));
    for _ in 0..3 {
        bench.begin(&mut writes, Expect::Absent).await;
    }
    bench.say(Verdict::Fail);
    bench.say(Verdict::Fail);
    while let Some(answer) = soon(writes.join_next()).await {
        let error = answer.unwrap().unwrap_err();
        assert!(matches!(error, WriteError::Failed(_)), "{error}");
        let cause = std::error::Error::source(&error).unwrap();
        assert_eq!(cause.to_string(), "the commit failed");
    }
    assert_eq!(bench.store.get("k"), None);
    assert_eq!(bench.store.revision(), Revision(1));
    assert_eq!(watch.try_next(), Ok(None));

    bench.say(Verdict::Succeed);
    let again = soon(bench.store.put("k", value("2"), Expect::Absent)).await;
    let revision = again.unwrap();
    assert_eq!(revision, Revision(2));
    assert_eq!(soon(watch.next()).await.unwrap().revision, revision);
    assert_eq!(
        history(&bench.store, Revision::ZERO),
        ["1 put before=1", "2 put k=2"]
    );
}

#[tokio::test]
async fn a_poisoned_medium_is_not_tried_again_but_the_store_reads() {
    let bench = bench();
    bench.say(Verdict::Succeed);
    bench.store.put("k", value("1"), Expect::Any).await.unwrap();
    bench.say(Verdict::Poison);
    for _ in 0..3 {
        // No verdict waits for the later ones: asking the medium would never return.
        let answer = soon(bench.store.put("k", value("2"), Expect::Any)).await;
        let Err(WriteError::Failed(error)) = answer else {
            panic!("{answer:?}");
        };
        assert!(matches!(*error, BackendError::Poisoned(_)));
    }
    assert_eq!(bench.store.get("k").unwrap().value, value("1"));
    // A condition that fails by what is durable needs no medium.
    let refused = bench.store.put("k", value("2"), Expect::Absent).await;
    assert!(matches!(refused, Err(WriteError::Exists(_))));
}

#[tokio::test]
async fn what_queued_up_behind_a_commit_is_one_group() {
    let mut bench = bench();
    let mut writes = JoinSet::new();
    bench.begin(&mut writes, Expect::Any).await;
    assert_eq!(soon(bench.asked.recv()).await, Some(1));
    for _ in 0..100 {
        bench.begin(&mut writes, Expect::Any).await;
    }
    bench.say(Verdict::Succeed);
    assert_eq!(soon(bench.asked.recv()).await, Some(100));
    bench.say(Verdict::Succeed);
    while let Some(answer) = soon(writes.join_next()).await {
        answer.unwrap().unwrap();
    }
    assert_eq!(bench.store.revision(), Revision(101));
}

#[tokio::test]
async fn conditions_see_the_earlier_writes_of_their_group() {
    let mut bench = bench();
    let mut writes = JoinSet::new();
    bench.begin(&mut writes, Expect::Any).await;
    assert_eq!(soon(bench.asked.recv()).await, Some(1));
    // One group of three: only one of them can replace revision 1.
    for _ in 0..3 {
        bench
            .begin(&mut writes, Expect::Revision(Revision(1)))
            .await;
    }
    // The condition refers to a write that is itself not durable yet.
    bench.say(Verdict::Succeed);
    assert_eq!(soon(bench.asked.recv()).await, Some(1));
    bench.say(Verdict::Succeed);
    let (mut written, mut refused) = (Vec::new(), 0);
    while let Some(answer) = soon(writes.join_next()).await {
        match answer.unwrap() {
            Ok(revision) => written.push(revision),
            Err(WriteError::Conflict { found, .. }) => {
                assert_eq!(found.map(|entry| entry.modified), Some(Revision(2)));
                refused += 1;
            }
            Err(other) => panic!("{other}"),
        }
    }
    written.sort();
    assert_eq!((written, refused), (vec![Revision(1), Revision(2)], 2));
}
