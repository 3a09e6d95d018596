//! A revisioned key-value store with watches, in memory or on disk.
//!
//! **Flow.** Every write goes through one writer thread. It takes what has queued up, checks each
//! condition in order, hands the whole group to a [`Backend`] in one durable commit, and only then
//! shows it to readers and watchers and answers the callers. Reads and watches are served from
//! memory and never wait for the disk.
//!
//! **Guarantees.**
//! - Each write has a revision of its own; revisions rise by one, and go on rising after a restart.
//! - A write that was answered is durable, visible, and keeps its revision.
//! - A write that failed, or whose group failed, is visible to nobody, in this process.
//! - A watch gives every event after its start, in order, once; or it says that it cannot.
//!
//! **Caveats.** A write whose caller went away, or whose process died before the answer, may or
//! may not have happened. One process at a time owns a store on disk.
//!
//! **Left to others**: what keys and values mean, schemas, selectors, access.

mod error;
mod live;
mod options;
mod ring;
mod snapshot;
mod store;
mod types;
mod watch;
mod writer;

pub mod backend;

pub use backend::{Backend, BackendError};
pub use error::{OpenError, WatchError, WriteError};
pub use options::Options;
pub use snapshot::{RestoreError, Snapshot, SnapshotError, SnapshotHead, SnapshotReader};
pub use store::Store;
pub use types::{Entry, Event, EventKind, Expect, Page, Revision};
pub use watch::Watch;
