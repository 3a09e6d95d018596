//! Where a store's writes become durable: the trait, and what passes through it.
//!
//! A backend only ever sees finished decisions: conditions, revisions, visibility and trimming
//! are the writer's. So every backend has the same semantics, and a test backend that fails or
//! waits is a few lines.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;

use bytes::Bytes;

use crate::types::{Entry, Event, EventKind, Revision};

mod disk;
mod memory;

pub(crate) use disk::Disk;
pub use memory::Memory;

/// Something that makes batches durable, one after the other.
pub trait Backend: Send + 'static {
    /// Makes the whole batch durable, or nothing of it.
    ///
    /// # Errors
    /// [`BackendError::Failed`] promises that nothing of the batch is durable, and that a later
    /// commit may be tried; a backend that cannot promise it says [`BackendError::Poisoned`].
    fn commit(&mut self, batch: &Batch) -> Result<(), BackendError>;
}

/// Why a batch did not become durable.
#[derive(Debug, thiserror::Error)]
pub enum BackendError {
    /// This batch is not there; the next one may be tried.
    #[error("the commit failed")]
    Failed(#[source] Box<dyn Error + Send + Sync>),
    /// What is durable is no longer known; only opening the store anew can tell.
    #[error("the state of the file is in doubt: restart to read it again")]
    Poisoned(#[source] Box<dyn Error + Send + Sync>),
}

/// One group of writes, to become durable together.
#[derive(Clone, Debug)]
pub struct Batch {
    /// The changes, in the order of their revisions.
    pub changes: Vec<Change>,
    /// The newest revision once the batch is durable.
    pub revision: Revision,
    /// The revision up to which history is let go.
    pub compacted: Revision,
    /// The changes whose records nothing needs any more after that trim.
    pub obsolete: Vec<Revision>,
}

/// What a backend knew when it was opened.
#[derive(Debug)]
pub struct Loaded {
    /// The identity of the store.
    pub uid: String,
    /// The newest revision.
    pub revision: Revision,
    /// The revision up to which history was let go.
    pub compacted: Revision,
    /// The live entries.
    pub entries: BTreeMap<Arc<str>, Entry>,
    /// Every change after `compacted`, in order.
    pub changes: Vec<Change>,
}

impl Loaded {
    /// The state of a store that was never written.
    pub fn empty(uid: Option<String>) -> Self {
        Self {
            uid: uid.unwrap_or_else(|| uuid::Uuid::new_v4().to_string()),
            revision: Revision::ZERO,
            compacted: Revision::ZERO,
            entries: BTreeMap::new(),
            changes: Vec::new(),
        }
    }
}

/// One write with what it replaced. Values are shared with the live entries, never copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The key.
    pub key: Arc<str>,
    /// The new value; absent for a delete.
    pub value: Option<Bytes>,
    /// The revision that created the key.
    pub created: Revision,
    /// The revision of this write.
    pub revision: Revision,
    /// What the key held before, if it existed.
    pub previous: Option<Previous>,
}

/// The version of a key that a change replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Previous {
    /// Its value.
    pub value: Bytes,
    /// The revision that wrote it.
    pub modified: Revision,
}

impl Change {
    /// The entry before this change, if there was one.
    pub(crate) fn entry_before(&self) -> Option<Entry> {
        self.previous.as_ref().map(|previous| Entry {
            key: self.key.clone(),
            value: previous.value.clone(),
            created: self.created,
            modified: previous.modified,
        })
    }

    /// The entry after this change, unless it was a delete.
    pub(crate) fn entry_after(&self) -> Option<Entry> {
        self.value.as_ref().map(|value| self.entry_of(value))
    }

    /// What a watch tells of this change.
    pub(crate) fn event(&self) -> Event {
        let previous = self.previous.as_ref().map(|p| p.value.clone());
        let (kind, value) = match (&self.value, &previous) {
            (Some(value), _) => (EventKind::Put, value.clone()),
            (None, last) => (EventKind::Delete, last.clone().unwrap_or_default()),
        };
        Event {
            kind,
            entry: self.entry_of(&value),
            previous,
            revision: self.revision,
        }
    }

    /// The bytes that this change names, for the limit on what is kept.
    pub(crate) fn weight(&self) -> u64 {
        let last = || self.previous.as_ref().map(|previous| &previous.value);
        let value = self.value.as_ref().or_else(last).map_or(0, Bytes::len);
        (self.key.len() + value) as u64
    }

    /// The records that nothing needs once this change is trimmed: the version that it replaced,
    /// and, since nothing can point to a delete, a delete itself.
    pub(crate) fn obsolete(&self) -> impl Iterator<Item = Revision> {
        let replaced = self.previous.as_ref().map(|previous| previous.modified);
        let itself = self.value.is_none().then_some(self.revision);
        replaced.into_iter().chain(itself)
    }

    fn entry_of(&self, value: &Bytes) -> Entry {
        Entry {
            key: self.key.clone(),
            value: value.clone(),
            created: self.created,
            modified: self.revision,
        }
    }
}
