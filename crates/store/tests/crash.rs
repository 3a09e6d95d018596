//! A process that is killed at an arbitrary moment, again and again, over one store.
//!
//! The child is this test program itself: with the variable set, it writes without end and
//! prints a line for each acknowledged write.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed assumption is a failed test, in its helpers too"
)]

mod common;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use common::{drain, keeping, value};
use machinist_store::{EventKind, Expect, Options, Revision, Store};

const DIRECTORY: &str = "STORE_CRASH_TEST_DIRECTORY";
const ROUNDS: usize = 8;
const TASKS: usize = 16;

/// In the child: many tasks that put and delete keys of their own until the process is killed.
#[test]
fn child() {
    let Some(dir) = std::env::var_os(DIRECTORY) else {
        return;
    };
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.unwrap().block_on(async {
        let store = Store::open(Path::new(&dir), keeping(200)).unwrap();
        let round = store.revision().0;
        let mut tasks = tokio::task::JoinSet::new();
        for task in 0..TASKS {
            let store = store.clone();
            tasks.spawn(async move {
                for n in 0.. {
                    let key = format!("{task}/{}", n % 5);
                    let text = format!("{round}-{task}-{n}");
                    let line = if n % 7 == 6 && store.get(&key).is_some() {
                        let gone = store.delete(&key, Expect::Any).await.unwrap();
                        format!("ack {} {key} -", gone.modified)
                    } else {
                        let put = store.put(&key, value(text.as_str()), Expect::Any).await;
                        format!("ack {} {key} {text}", put.unwrap())
                    };
                    // One write call for a line, so that a kill cannot mix two lines.
                    std::io::stdout()
                        .write_all(format!("\n{line}\n").as_bytes())
                        .unwrap();
                }
            });
        }
        tasks.join_next().await.unwrap().unwrap();
    });
}

/// Runs the child until it has acknowledged so many writes, kills it, and gives all that it said.
fn run_and_kill(dir: &Path, acknowledgements: usize) -> Vec<String> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--nocapture", "--test-threads=1"])
        .env(DIRECTORY, dir)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut said = Vec::new();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let is_ack = |line: &String| line.starts_with("ack ");
    while said.len() < acknowledgements {
        let line = lines.next().expect("the child writes until it is killed");
        said.extend(line.ok().filter(is_ack));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // What it said between the count and the kill was acknowledged as well.
    said.extend(lines.map_while(Result::ok).filter(is_ack));
    said
}

#[test]
fn no_acknowledged_write_is_lost_and_none_happens_twice() {
    let dir = tempfile::tempdir().unwrap();
    // Every write ever acknowledged: revision → key and text, where `-` is a delete.
    let mut acknowledged: BTreeMap<u64, (String, String)> = BTreeMap::new();
    // Every write ever seen after a restart, which must not change any more.
    let mut known: BTreeMap<u64, (String, String)> = BTreeMap::new();
    for round in 0..ROUNDS {
        let said = run_and_kill(dir.path(), 40 + 61 * round);
        for line in said {
            let words: Vec<&str> = line.split(' ').collect();
            let [_, revision, key, text] = words[..] else {
                continue; // The kill cut the last line short.
            };
            let write = (key.to_owned(), text.to_owned());
            let before = acknowledged.insert(revision.parse().unwrap(), write);
            assert_eq!(before, None, "revision {revision} was given out twice");
        }
        let store = Store::open(dir.path(), Options::default()).unwrap();
        let newest = acknowledged.last_key_value().map(|(revision, _)| *revision);
        assert!(store.revision().0 >= newest.unwrap());

        let mut watch = store.watch("", store.compacted()).unwrap();
        for event in drain(&mut watch) {
            let text = match event.kind {
                EventKind::Put => String::from_utf8(event.entry.value.to_vec()).unwrap(),
                EventKind::Delete => "-".into(),
            };
            let write = (event.entry.key.to_string(), text);
            let before = known.insert(event.revision.0, write.clone());
            assert!(
                before.is_none_or(|before| before == write),
                "history changed"
            );
        }
        for (revision, write) in acknowledged.range(store.compacted().0 + 1..) {
            assert_eq!(known.get(revision), Some(write), "revision {revision}");
        }
        let mut texts: Vec<_> = known.values().filter(|(_, text)| text != "-").collect();
        texts.sort();
        let all = texts.len();
        texts.dedup();
        assert_eq!(texts.len(), all, "no write happened twice");

        // The live entries are what the last write to each key left, trimmed or not.
        let mut last: BTreeMap<&str, (Revision, &str)> = BTreeMap::new();
        for (revision, (key, text)) in acknowledged.iter().chain(&known) {
            let newest = last.entry(key).or_default();
            *newest = (*newest).max((Revision(*revision), text));
        }
        for (key, (revision, text)) in last {
            let found = store.get(key);
            let found = found
                .as_ref()
                .map(|entry| (entry.modified, &entry.value[..]));
            let expected = (text != "-").then_some((revision, text.as_bytes()));
            assert_eq!(found, expected, "{key}");
        }
    }
}
