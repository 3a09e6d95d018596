//! One suite for every kind of store: conditions, order, watches, trimming, pages.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed assumption is a failed test, in its helpers too"
)]

mod common;

use std::collections::BTreeMap;

use common::{Home, drain, history, keeping, short, soon, value};
use machinist_store::{Expect, Options, Page, Revision, Store, WatchError, WriteError};

#[tokio::test]
async fn a_put_meets_its_condition_or_says_what_is_there() {
    for home in Home::both() {
        let store = home.open();
        let first = store.put("a", value("1"), Expect::Absent).await.unwrap();
        assert_eq!(first, Revision(1));
        let entry = store.get("a").unwrap();
        assert_eq!((entry.created, entry.modified), (first, first));

        let exists = store.put("a", value("2"), Expect::Absent).await;
        assert!(matches!(exists, Err(WriteError::Exists(found)) if found == entry));

        let second = store.put("a", value("2"), Expect::Revision(first)).await;
        assert_eq!(second.unwrap(), Revision(2));
        let entry = store.get("a").unwrap();
        assert_eq!((entry.created, entry.modified), (first, Revision(2)));

        let stale = store.put("a", value("3"), Expect::Revision(first)).await;
        assert!(matches!(
            stale,
            Err(WriteError::Conflict { expected, found: Some(found), .. })
                if expected == first && found == entry
        ));
        let missing = store.put("b", value("1"), Expect::Revision(first)).await;
        assert!(matches!(
            missing,
            Err(WriteError::Conflict { found: None, .. })
        ));
        let third = store.put("a", value("3"), Expect::Any).await.unwrap();
        assert_eq!((third, store.revision()), (Revision(3), Revision(3)));
    }
}

#[tokio::test]
async fn a_delete_meets_its_condition_and_gives_the_last_value() {
    for home in Home::both() {
        let store = home.open();
        let missing = store.delete("a", Expect::Any).await;
        assert!(matches!(missing, Err(WriteError::NotFound(key)) if &*key == "a"));

        store.put("a", value("1"), Expect::Any).await.unwrap();
        let stale = store.delete("a", Expect::Revision(Revision(7))).await;
        assert!(matches!(stale, Err(WriteError::Conflict { .. })));
        let absurd = store.delete("a", Expect::Absent).await;
        assert!(matches!(absurd, Err(WriteError::Exists(_))));

        let gone = store.delete("a", Expect::Revision(Revision(1))).await;
        let gone = gone.unwrap();
        assert_eq!((gone.created, gone.modified), (Revision(1), Revision(2)));
        assert_eq!(gone.value, value("1"));
        assert_eq!(store.get("a"), None);

        store.put("a", value("2"), Expect::Absent).await.unwrap();
        assert_eq!(store.get("a").unwrap().created, Revision(3));
        assert_eq!(
            history(&store, Revision::ZERO),
            ["1 put a=1", "2 delete a=1 (was 1)", "3 put a=2"]
        );
    }
}

#[tokio::test]
async fn a_watch_tells_the_past_and_then_the_present() {
    for home in Home::both() {
        let store = home.open();
        for key in ["m/a", "n/a", "m/b"] {
            store.put(key, value("1"), Expect::Any).await.unwrap();
        }
        let mut watch = store.watch("m/", Revision(1)).unwrap();
        assert_eq!(watch.progress(), Revision(1));
        assert_eq!(short(&watch.next().await.unwrap()), "3 put m/b=1");
        let waiting = tokio::spawn(async move {
            let event = watch.next().await;
            (event, watch)
        });
        store.put("n/b", value("2"), Expect::Any).await.unwrap();
        store.put("m/a", value("2"), Expect::Any).await.unwrap();
        let (event, mut watch) = soon(waiting).await.unwrap();
        assert_eq!(short(&event.unwrap()), "5 put m/a=2 (was 1)");

        store.put("n/b", value("3"), Expect::Any).await.unwrap();
        assert_eq!(watch.try_next(), Ok(None));
        // Foreign events move a watch on, so that bookmarks can say so.
        assert_eq!(watch.progress(), Revision(6));

        let ahead = store.watch("", Revision(7)).unwrap_err();
        let current = Revision(6);
        assert_eq!(ahead, WatchError::Future { current });

        let waiting = tokio::spawn(async move { watch.next().await });
        store.close().await;
        assert_eq!(soon(waiting).await.unwrap(), Err(WatchError::Closed));
    }
}

#[tokio::test]
async fn old_events_are_let_go_and_a_watch_below_them_fails_at_once() {
    for home in Home::both() {
        let store = home.open_with(keeping(10));
        for n in 1..=25 {
            let key = format!("k{}", n % 7);
            store
                .put(&key, value(n.to_string()), Expect::Any)
                .await
                .unwrap();
        }
        assert_eq!(store.compacted(), Revision(15));
        let oldest = Revision(15);
        let refused = store.watch("", Revision(14)).unwrap_err();
        assert_eq!(refused, WatchError::Compacted { oldest });
        let kept = history(&store, oldest);
        assert_eq!(kept.len(), 10);
        // What an event replaced is known even when the write of it is no longer kept.
        assert_eq!(kept[0], "16 put k2=16 (was 9)");
        assert_eq!(store.list("", None, None).entries.len(), 7);

        assert_eq!(store.compact(Revision(20)).await.unwrap(), Revision(20));
        assert_eq!(store.compact(Revision(3)).await.unwrap(), Revision(20));
        assert!(store.watch("", Revision(19)).is_err());
        assert_eq!(history(&store, Revision(20)).len(), 5);
        assert_eq!(store.compact(Revision(99)).await.unwrap(), Revision(25));
        assert_eq!(store.revision(), Revision(25));
        assert_eq!(
            store.put("k0", value("x"), Expect::Any).await.unwrap(),
            Revision(26)
        );
    }
}

#[tokio::test]
async fn kept_events_are_bounded_in_bytes_too() {
    for home in Home::both() {
        let store = home.open_with(Options {
            keep_bytes: 10_000,
            ..Options::default()
        });
        for n in 0..20 {
            let large = value("x".repeat(2_999));
            store.put("k", large, Expect::Any).await.unwrap();
            assert!(store.watch("", Revision(n)).is_ok(), "the newest is kept");
        }
        assert_eq!(store.compacted(), Revision(17));
        let huge = value("x".repeat(50_000));
        store.put("k", huge, Expect::Any).await.unwrap();
        assert_eq!(history(&store, Revision(20)).len(), 1);
    }
}

#[tokio::test]
async fn a_slow_watch_is_told_and_holds_nobody_up() {
    for home in Home::both() {
        let store = home.open_with(keeping(10));
        let mut slow = store.watch("", Revision::ZERO).unwrap();
        let mut idle = store.watch("", Revision::ZERO).unwrap();
        store.put("a", value("0"), Expect::Any).await.unwrap();
        assert_eq!(slow.next().await.unwrap().revision, Revision(1));
        for n in 0..200 {
            soon(store.put("a", value(n.to_string()), Expect::Any))
                .await
                .unwrap();
        }
        let oldest = store.compacted();
        assert_eq!(slow.next().await, Err(WatchError::Compacted { oldest }));
        assert_eq!(idle.next().await, Err(WatchError::Compacted { oldest }));
        assert_eq!(idle.next().await, Err(WatchError::Compacted { oldest }));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_writers_have_one_order_which_every_watch_tells() {
    const WRITERS: u64 = 64;
    const EACH: u64 = 20;
    for home in Home::both() {
        let store = home.open();
        let mut watches = tokio::task::JoinSet::new();
        for _ in 0..4 {
            let mut watch = store.watch("", Revision::ZERO).unwrap();
            watches.spawn(async move {
                let mut seen = Vec::new();
                let mut last = BTreeMap::new();
                while seen.len() < (WRITERS * EACH) as usize {
                    let event = soon(watch.next()).await.unwrap();
                    // Each write replaced the one before it, so no update was lost.
                    let value = event.entry.value.clone();
                    assert_eq!(event.previous, last.insert(event.entry.key.clone(), value));
                    seen.push((
                        event.revision,
                        String::from_utf8(event.entry.value.to_vec()).unwrap(),
                    ));
                }
                seen
            });
        }
        let mut writers = tokio::task::JoinSet::new();
        for writer in 0..WRITERS {
            let store = store.clone();
            writers.spawn(async move {
                let mut acknowledged = Vec::new();
                let key = format!("shared-by-four/{}", writer % 16);
                for n in 0..EACH {
                    let text = format!("{writer}.{n}");
                    let revision = increment(&store, &key, &text).await;
                    // An answered write can be read, by anyone, at once.
                    assert!(store.revision() >= revision);
                    acknowledged.push((revision, text));
                }
                assert!(acknowledged.is_sorted());
                acknowledged
            });
        }
        let mut all: BTreeMap<Revision, String> = BTreeMap::new();
        while let Some(acknowledged) = writers.join_next().await {
            all.extend(acknowledged.unwrap());
        }
        let all: Vec<_> = all.into_iter().collect();
        let revisions: Vec<u64> = all.iter().map(|(revision, _)| revision.0).collect();
        assert_eq!(revisions, (1..=WRITERS * EACH).collect::<Vec<_>>());
        while let Some(seen) = watches.join_next().await {
            assert_eq!(seen.unwrap(), all);
        }
    }
}

/// Replaces a value under optimistic concurrency, as an API server does, until it succeeds.
async fn increment(store: &Store, key: &str, text: &str) -> Revision {
    loop {
        let expect = match store.get(key) {
            Some(entry) => Expect::Revision(entry.modified),
            None => Expect::Absent,
        };
        match store.put(key, value(text), expect).await {
            Ok(revision) => return revision,
            Err(WriteError::Conflict { found, .. }) => assert!(found.is_some()),
            Err(WriteError::Exists(_)) => assert_eq!(expect, Expect::Absent),
            Err(other) => panic!("{other}"),
        }
    }
}

#[tokio::test]
async fn pages_are_pictures_of_one_revision() {
    for home in Home::both() {
        let store = home.open();
        for n in 0..10 {
            let key = format!("m/{n}");
            store.put(&key, value("old"), Expect::Any).await.unwrap();
        }
        store.put("l", value("x"), Expect::Any).await.unwrap();
        store.put("n", value("x"), Expect::Any).await.unwrap();
        let whole = store.list("m/", None, None);
        assert_eq!((whole.entries.len(), whole.remaining), (10, 0));
        let at = whole.revision;

        let (mut then, mut now) = (Vec::new(), Vec::new());
        let (mut after_then, mut after_now): (Option<String>, Option<String>) = (None, None);
        for turn in 0..4 {
            let page = store.list("m/", after_now.as_deref(), Some(3));
            let past = store
                .list_at("m/", after_then.as_deref(), Some(3), at)
                .unwrap();
            assert_eq!(past.remaining, 10usize.saturating_sub(3 * (turn + 1)));
            assert_eq!((past.revision, page.revision), (at, store.revision()));
            let last = |page: &Page| page.entries.last().map(|entry| entry.key.to_string());
            (after_then, after_now) = (last(&past), last(&page));
            now.extend(page.entries);
            then.extend(past.entries);
            // Writes behind, at and ahead of the page.
            store
                .delete(&format!("m/{}", turn + 6), Expect::Any)
                .await
                .unwrap();
            store.put("m/0", value("new"), Expect::Any).await.unwrap();
            store
                .put(&format!("m/9{turn}"), value("new"), Expect::Any)
                .await
                .unwrap();
        }
        assert_eq!(then, whole.entries, "pages at a revision agree with it");
        let keys: Vec<&str> = now.iter().map(|entry| &*entry.key).collect();
        assert!(keys.is_sorted_by(|a, b| a < b), "no key twice: {keys:?}");
        assert_eq!(store.list("m/", None, Some(0)).remaining, 10);
        assert_eq!(store.list("none/", None, Some(5)).entries, []);

        let current = store.revision();
        let ahead = store.list_at("m/", None, None, Revision(current.0 + 1));
        assert_eq!(ahead.unwrap_err(), WatchError::Future { current });
        store.compact(current).await.unwrap();
        let gone = store.list_at("m/", None, None, at).unwrap_err();
        assert_eq!(gone, WatchError::Compacted { oldest: current });
    }
}

#[tokio::test]
async fn values_are_shared_and_never_held_twice() {
    for home in Home::both() {
        let store = home.open();
        store.put("a", value("one"), Expect::Any).await.unwrap();
        let one = store.get("a").unwrap().value.as_ptr();
        store.put("a", value("two"), Expect::Any).await.unwrap();
        let two = store.list("", None, None).entries[0].value.as_ptr();
        let events = drain(&mut store.watch("", Revision::ZERO).unwrap());
        assert_eq!(events[0].entry.value.as_ptr(), one);
        assert_eq!(events[1].previous.as_ref().unwrap().as_ptr(), one);
        assert_eq!(events[1].entry.value.as_ptr(), two);
    }
}

#[tokio::test]
async fn a_closed_store_reads_but_does_not_write() {
    for home in Home::both() {
        let store = home.open();
        store.put("a", value("1"), Expect::Any).await.unwrap();
        let other = store.clone();
        store.close().await;
        let refused = other.put("a", value("2"), Expect::Any).await;
        assert!(matches!(refused, Err(WriteError::Closed)));
        assert_eq!(other.get("a").unwrap().value, value("1"));
        other.close().await;
    }
}
