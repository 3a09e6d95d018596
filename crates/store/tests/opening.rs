//! Files that a store must not open, and how it says so.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed assumption is a failed test, in its helpers too"
)]

mod common;

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use common::value;
use machinist_store::{Expect, OpenError, Options, Revision, Store};
use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition};

const META: TableDefinition<&str, &[u8]> = TableDefinition::new("meta");
const KV: TableDefinition<&str, (u64, u64)> = TableDefinition::new("kv");
const LOG: TableDefinition<u64, &[u8]> = TableDefinition::new("log");

async fn filled(dir: &Path) {
    let store = Store::open(dir, Options::default()).unwrap();
    for n in 0..20 {
        let key = format!("key-{n}");
        let text = value(format!("value-{n}-").repeat(50));
        store.put(&key, text, Expect::Any).await.unwrap();
    }
    store.close().await;
}

fn refusal(dir: &Path) -> OpenError {
    Store::open(dir, Options::default()).expect_err("the file should be refused")
}

/// Changes the tables of a store behind its back.
fn tamper(dir: &Path, change: impl FnOnce(&redb::WriteTransaction)) {
    let database = Database::open(dir.join("store.redb")).unwrap();
    let transaction = database.begin_write().unwrap();
    change(&transaction);
    transaction.commit().unwrap();
}

#[tokio::test]
async fn what_is_made_is_private() {
    let dir = tempfile::tempdir().unwrap();
    let inner = dir.path().join("a/b");
    filled(&inner).await;
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&inner), 0o700);
    assert_eq!(mode(&inner.join("store.redb")), 0o600);
    let mut names: Vec<_> = std::fs::read_dir(&inner)
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    names.sort();
    let expected = ["journal.0", "store.redb"];
    assert_eq!(names, expected, "nothing else is left behind");
    assert_eq!(mode(&inner.join("journal.0")), 0o600);
}

#[tokio::test]
async fn a_store_in_use_is_refused_until_it_is_closed() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path(), Options::default()).unwrap();
    let error = refusal(dir.path());
    assert!(matches!(error, OpenError::Locked { .. }));
    let text = error.to_string();
    assert!(text.contains("store.redb is in use") && text.contains("stop the process"));
    store.close().await;
    Store::open(dir.path(), Options::default()).unwrap();
}

#[tokio::test]
async fn a_newer_format_is_refused_and_left_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    filled(dir.path()).await;
    tamper(dir.path(), |transaction| {
        let mut meta = transaction.open_table(META).unwrap();
        meta.insert("format", &7u32.to_le_bytes()[..]).unwrap();
    });
    let error = refusal(dir.path());
    assert!(matches!(
        error,
        OpenError::Newer {
            found: 7,
            supported: 2,
            ..
        }
    ));
    let database = Database::open(dir.path().join("store.redb")).unwrap();
    assert_eq!(
        database
            .begin_read()
            .unwrap()
            .list_tables()
            .unwrap()
            .count(),
        3
    );
}

#[tokio::test]
async fn a_file_that_is_no_store_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.redb");
    for content in [&b""[..], b"x", &[0; 5000], &[b'x'; 100_000]] {
        std::fs::write(&path, content).unwrap();
        assert!(matches!(refusal(dir.path()), OpenError::Damaged { .. }));
        assert_eq!(
            std::fs::read(&path).unwrap(),
            content,
            "it is left as it is"
        );
    }
    std::fs::remove_file(&path).unwrap();
    Database::create(&path).unwrap();
    assert!(matches!(refusal(dir.path()), OpenError::Damaged { .. }));
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    assert!(matches!(refusal(dir.path()), OpenError::Io { .. }));
}

#[tokio::test]
async fn tables_that_disagree_are_refused() {
    type Tamper = fn(&redb::WriteTransaction);
    let cases: [(&str, Tamper); 8] = [
        ("a value changed", |t| {
            let mut log = t.open_table(LOG).unwrap();
            let mut bytes = log.get(5).unwrap().unwrap().value().to_vec();
            *bytes.last_mut().unwrap() ^= 1;
            log.insert(5, bytes.as_slice()).unwrap();
        }),
        ("a record missing", |t| {
            t.open_table(LOG).unwrap().remove(5).unwrap();
        }),
        ("the newest record missing", |t| {
            t.open_table(LOG).unwrap().remove(20).unwrap();
        }),
        ("a record moved", |t| {
            let mut log = t.open_table(LOG).unwrap();
            let bytes = log.get(5).unwrap().unwrap().value().to_vec();
            log.insert(6, bytes.as_slice()).unwrap();
        }),
        ("a key missing from the index", |t| {
            t.open_table(KV).unwrap().remove("key-3").unwrap();
        }),
        ("a key too many in the index", |t| {
            t.open_table(KV).unwrap().insert("zzz", (1, 1)).unwrap();
        }),
        ("a key at another revision", |t| {
            t.open_table(KV).unwrap().insert("key-3", (1, 1)).unwrap();
        }),
        ("a newest revision in the past", |t| {
            let mut meta = t.open_table(META).unwrap();
            meta.insert("revision", &19u64.to_le_bytes()[..]).unwrap();
        }),
    ];
    for (what, change) in cases {
        let dir = tempfile::tempdir().unwrap();
        filled(dir.path()).await;
        tamper(dir.path(), change);
        assert!(
            matches!(refusal(dir.path()), OpenError::Damaged { .. }),
            "{what}"
        );
    }
}

#[tokio::test]
async fn damage_anywhere_is_refused_or_harmless_but_never_believed() {
    let dir = tempfile::tempdir().unwrap();
    filled(dir.path()).await;
    let whole = Store::open(dir.path(), Options::default())
        .unwrap()
        .list("", None, None);
    let path = dir.path().join("store.redb");
    let sound = std::fs::read(&path).unwrap();
    let mut refused = 0;
    let mut check = |damaged: &[u8], what: String| {
        std::fs::write(&path, damaged).unwrap();
        match Store::open(dir.path(), Options::default()) {
            Ok(store) => assert_eq!(store.list("", None, None), whole, "{what}"),
            Err(OpenError::Damaged { .. }) => refused += 1,
            Err(other) => panic!("{what}: {other}"),
        }
    };
    // Every page is hit somewhere; the step is odd so that the place within it varies.
    for place in (0..sound.len()).step_by((sound.len() / 150) | 1) {
        let mut damaged = sound.clone();
        damaged[place] ^= 0x40;
        check(&damaged, format!("bit at {place}"));
    }
    for length in (1..sound.len()).step_by(sound.len() / 40) {
        check(&sound[..length], format!("cut to {length}"));
    }
    assert!(refused > 40, "every cut is noticed: {refused}");
    std::fs::write(&path, &sound).unwrap();
    let store = Store::open(dir.path(), Options::default()).unwrap();
    assert_eq!(store.revision(), Revision(20));
}
