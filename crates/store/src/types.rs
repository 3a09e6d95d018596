//! The words of the store's interface: revisions, entries, conditions, events, pages.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

/// A point in the store's history; the first write has revision 1, the empty store revision 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Revision(pub u64);

impl Revision {
    /// The revision of a store that was never written.
    pub const ZERO: Self = Self(0);

    pub(crate) fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A key with its value and the revisions that made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The key.
    pub key: Arc<str>,
    /// The value, shared with everyone who looks at this entry.
    pub value: Bytes,
    /// The revision that created the key, which updates keep.
    pub created: Revision,
    /// The revision of the last change.
    pub modified: Revision,
}

/// What a write requires of the key before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// Nothing, for a put; that the key exists, for a delete.
    Any,
    /// That the key does not exist.
    Absent,
    /// That the key exists and was last changed at this revision.
    Revision(Revision),
}

/// Whether an event set a key or removed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// The key was created or changed.
    Put,
    /// The key was removed.
    Delete,
}

/// One write, as a watch tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Whether the key was set or removed.
    pub kind: EventKind,
    /// The entry after the write; after a delete, the last value with the deletion's revision.
    pub entry: Entry,
    /// The value before the write, if the key existed.
    pub previous: Option<Bytes>,
    /// The revision of the write.
    pub revision: Revision,
}

/// A part of the entries under a prefix, all as they were at one revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The entries, in the order of their keys.
    pub entries: Vec<Entry>,
    /// The revision of which this page is a picture.
    pub revision: Revision,
    /// How many more entries follow the last one of this page.
    pub remaining: usize,
}
