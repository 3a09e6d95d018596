//! Snapshots: one revision, whole or refused, and a store again.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed assumption is a failed test, in its helpers too"
)]

mod common;

use std::path::Path;

use common::{Home, value};
use machinist_store::{
    Entry, Expect, Options, RestoreError, Revision, SnapshotError, SnapshotReader, Store,
    WatchError,
};

fn bytes_of(store: &Store) -> Vec<u8> {
    store.snapshot().flatten().collect()
}

fn read(bytes: &[u8]) -> Result<Vec<Entry>, SnapshotError> {
    let mut reader = SnapshotReader::new(bytes)?;
    let mut entries = Vec::new();
    while let Some(entry) = reader.entry()? {
        entries.push(entry);
    }
    Ok(entries)
}

fn restore(dir: &Path, bytes: &[u8]) -> Result<Store, RestoreError> {
    let snapshot = SnapshotReader::new(bytes)?;
    Store::restore(dir, snapshot, |head| Revision(head.revision.0 + 1000))?;
    Ok(Store::open(dir, Options::default()).unwrap())
}

async fn with_a_past(home: &Home) -> Store {
    let store = home.open();
    for n in 0..60 {
        let key = format!("k{:02}", n % 25);
        store
            .put(&key, value(n.to_string()), Expect::Any)
            .await
            .unwrap();
    }
    store.delete("k07", Expect::Any).await.unwrap();
    store.put("empty", value(""), Expect::Any).await.unwrap();
    store
}

#[tokio::test]
async fn a_restored_store_has_the_same_entries_and_goes_on_later() {
    for home in Home::both() {
        let store = with_a_past(&home).await;
        let dir = tempfile::tempdir().unwrap();
        let restored = restore(dir.path(), &bytes_of(&store)).unwrap();
        assert_eq!(restored.uid(), store.uid());
        assert_eq!(
            restored.list("", None, None).entries,
            store.list("", None, None).entries
        );
        // Whoever watched the old store, however far it went on, is told to list again.
        assert_eq!(restored.revision(), Revision(1062));
        for seen in [1, 62, 63, 1061] {
            let watch = restored.watch("", Revision(seen)).unwrap_err();
            assert_eq!(
                watch,
                WatchError::Compacted {
                    oldest: Revision(1062)
                }
            );
        }
        let next = restored.put("k07", value("again"), Expect::Absent).await;
        assert_eq!(next.unwrap(), Revision(1063));
        // A condition on an old revision holds where nothing changed, and only there.
        let old = restored.get("k01").unwrap().modified;
        restored
            .put("k01", value("new"), Expect::Revision(old))
            .await
            .unwrap();
        restored
            .put("k01", value("new"), Expect::Revision(old))
            .await
            .unwrap_err();
        restored.close().await;
        let again = Store::open(dir.path(), Options::default()).unwrap();
        assert_eq!(again.revision(), Revision(1064));
    }
}

#[tokio::test]
async fn an_empty_store_can_be_restored() {
    let dir = tempfile::tempdir().unwrap();
    let store = restore(dir.path(), &bytes_of(&Store::memory())).unwrap();
    assert_eq!(store.list("", None, None).entries, []);
}

#[tokio::test]
async fn every_changed_byte_and_every_cut_is_refused_and_makes_no_store() {
    let store = Store::memory();
    for n in 0..5 {
        store
            .put(&format!("key-{n}"), value("a value"), Expect::Any)
            .await
            .unwrap();
    }
    let sound = bytes_of(&store);
    assert_eq!(read(&sound).unwrap().len(), 5);
    for place in 0..sound.len() {
        for flip in [0x01, 0x40, 0xff] {
            let mut damaged = sound.clone();
            damaged[place] ^= flip;
            assert!(read(&damaged).is_err(), "byte {place} with {flip:#x}");
        }
    }
    for length in 0..sound.len() {
        assert!(read(&sound[..length]).is_err(), "cut to {length}");
    }
    // The last entry is damaged, when all others are already written.
    let mut damaged = sound.clone();
    damaged[sound.len() - 40] ^= 1;
    let dir = tempfile::tempdir().unwrap();
    let error = restore(dir.path(), &damaged).unwrap_err();
    assert!(matches!(
        error,
        RestoreError::Snapshot(SnapshotError::Damaged(_))
    ));
    assert_eq!(
        std::fs::read_dir(dir.path()).unwrap().count(),
        0,
        "nothing is left"
    );
}

#[tokio::test]
async fn a_later_format_is_told_from_damage() {
    let text = "machinist-snapshot 2\nwhatever follows";
    let error = read(text.as_bytes()).unwrap_err();
    assert!(matches!(error, SnapshotError::Newer { found: 2 }));
    assert!(error.to_string().contains("use a newer version"));
    assert!(matches!(
        read(b"something else\n"),
        Err(SnapshotError::Foreign)
    ));
}

/// While writers go on, a snapshot is the state of one revision: everything up to it, nothing
/// after it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_snapshot_under_writes_is_cut_at_one_revision() {
    let store = Home::disk().open();
    let mut writers = tokio::task::JoinSet::new();
    for writer in 0..4 {
        let store = store.clone();
        writers.spawn(async move {
            for n in 0..400 {
                let key = format!("{writer}/{}", n % 17);
                if n % 5 == 4 && store.get(&key).is_some() {
                    store.delete(&key, Expect::Any).await.unwrap();
                } else {
                    store
                        .put(&key, value(n.to_string()), Expect::Any)
                        .await
                        .unwrap();
                }
            }
        });
    }
    let mut taken = Vec::new();
    while store.revision().0 < 1500 && !writers.is_empty() {
        taken.push(bytes_of(&store));
        tokio::task::yield_now().await;
        while writers.try_join_next().is_some() {}
    }
    while let Some(done) = writers.join_next().await {
        done.unwrap();
    }
    for bytes in &taken {
        let revision = SnapshotReader::new(&bytes[..]).unwrap().head().revision;
        let then = store.list_at("", None, None, revision).unwrap();
        assert_eq!(read(bytes).unwrap(), then.entries, "at revision {revision}");
    }
    assert!(taken.len() > 1, "{} snapshots", taken.len());
}
