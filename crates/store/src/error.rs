//! What can go wrong when a store is opened, written or watched.

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;

use crate::backend::BackendError;
use crate::types::{Entry, Revision};

/// Why a store on disk could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The directory or the file could not be made or read.
    #[error("cannot {action} {path}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// Another process, or another store of this one, has the file open.
    #[error("{path} is in use: stop the process that has it open, or choose another directory")]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// A later version of this program wrote the file.
    #[error(
        "{path} has format {found}, and this program knows formats up to {supported}: use a newer version of the program"
    )]
    Newer {
        /// The format of the file.
        found: u32,
        /// The newest format that this program reads.
        supported: u32,
        /// The file.
        path: PathBuf,
    },
    /// The file is not a store, or is no longer whole. It was not changed to mend it.
    #[error("{path} is damaged: restore it from a backup")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What does not hold.
        source: Box<dyn Error + Send + Sync>,
    },
}

/// Why a write was not made.
#[derive(Clone, Debug, thiserror::Error)]
pub enum WriteError {
    /// The key is not at the expected revision.
    #[error("{key} is not at revision {expected}")]
    Conflict {
        /// The key.
        key: Arc<str>,
        /// The revision that the caller expected.
        expected: Revision,
        /// What is there instead.
        found: Option<Entry>,
    },
    /// There is nothing to delete.
    #[error("{0} does not exist")]
    NotFound(Arc<str>),
    /// The key exists already.
    #[error("{} exists already", .0.key)]
    Exists(Entry),
    /// The store was closed.
    #[error("the store is closed")]
    Closed,
    /// The group of this write did not become durable, and nothing of it is visible.
    #[error("the write did not become durable")]
    Failed(#[source] Arc<BackendError>),
}

/// Why a watch, or a list of the past, cannot give what was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WatchError {
    /// The events asked for are no longer kept; a watcher that reads too slowly gets this too.
    #[error("the history up to revision {oldest} is no longer kept: list again")]
    Compacted {
        /// The oldest revision from which a watch can start now.
        oldest: Revision,
    },
    /// The revision has not happened yet.
    #[error("the revision lies ahead of the newest one, {current}")]
    Future {
        /// The newest revision.
        current: Revision,
    },
    /// The store was closed and every event up to then was given.
    #[error("the store is closed")]
    Closed,
}
