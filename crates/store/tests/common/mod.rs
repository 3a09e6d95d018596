//! What the tests of the store share: the two kinds of store, and waiting with a limit.

#![allow(dead_code, reason = "each test program uses a part of this")]

use std::future::Future;
use std::time::Duration;

use bytes::Bytes;
use machinist_store::{Event, EventKind, Options, Revision, Store, Watch};
use tempfile::TempDir;

/// Where the stores of a test live.
pub(crate) enum Home {
    Memory,
    Disk(TempDir),
}

impl Home {
    /// One of each, so that one test speaks about both.
    pub(crate) fn both() -> [Home; 2] {
        [Home::Memory, Home::disk()]
    }

    pub(crate) fn disk() -> Home {
        Home::Disk(tempfile::tempdir().unwrap())
    }

    pub(crate) fn open(&self) -> Store {
        self.open_with(Options::default())
    }

    pub(crate) fn open_with(&self, options: Options) -> Store {
        match self {
            Home::Memory => Store::memory_with(options),
            Home::Disk(dir) => Store::open(dir.path(), options).unwrap(),
        }
    }
}

/// Waits for something that must happen; the limit is far beyond what it takes.
pub(crate) async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), future)
        .await
        .expect("this should have happened long ago")
}

pub(crate) fn value(text: impl Into<String>) -> Bytes {
    Bytes::from(text.into())
}

pub(crate) fn keeping(keep_events: usize) -> Options {
    Options {
        keep_events,
        ..Options::default()
    }
}

/// An event in short: `3 put a=1 (was 0)`.
pub(crate) fn short(event: &Event) -> String {
    let text = |bytes: &Bytes| String::from_utf8_lossy(bytes).into_owned();
    assert_eq!(event.entry.modified, event.revision);
    let kind = match event.kind {
        EventKind::Put => "put",
        EventKind::Delete => "delete",
    };
    let was = match &event.previous {
        Some(previous) => format!(" (was {})", text(previous)),
        None => String::new(),
    };
    format!(
        "{} {kind} {}={}{was}",
        event.revision,
        event.entry.key,
        text(&event.entry.value)
    )
}

/// Everything that a watch has to give now.
pub(crate) fn drain(watch: &mut Watch) -> Vec<Event> {
    std::iter::from_fn(|| watch.try_next().unwrap()).collect()
}

/// The whole history that a store keeps, in short.
pub(crate) fn history(store: &Store, after: Revision) -> Vec<String> {
    let mut watch = store.watch("", after).unwrap();
    drain(&mut watch).iter().map(short).collect()
}
