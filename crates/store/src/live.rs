//! What readers see: the entries as of the newest visible revision, and the recent changes.
//!
//! Leaves to others: locking (the store holds this behind one lock), durability and conditions
//! (the writer).

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use crate::backend::{Batch, Change, Loaded};
use crate::error::WatchError;
use crate::ring::Ring;
use crate::types::{Entry, Page, Revision};

/// The visible state of a store.
#[derive(Debug)]
pub(crate) struct Live {
    entries: BTreeMap<Arc<str>, Entry>,
    pub(crate) ring: Ring,
    pub(crate) revision: Revision,
}

impl Live {
    pub(crate) fn new(loaded: Loaded) -> Self {
        Self {
            entries: loaded.entries,
            ring: Ring::new(loaded.changes, loaded.compacted),
            revision: loaded.revision,
        }
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Entry> {
        self.entries.get(key)
    }

    /// The entries under a prefix, after a key, in order.
    fn range<'a>(
        &'a self,
        prefix: &'a str,
        after: Option<&'a str>,
    ) -> impl Iterator<Item = &'a Entry> {
        let start = match after {
            Some(after) if after >= prefix => Bound::Excluded(after),
            _ => Bound::Included(prefix),
        };
        self.entries
            .range::<str, _>((start, Bound::Unbounded))
            .map(|(_, entry)| entry)
            .take_while(move |entry| entry.key.starts_with(prefix))
    }

    pub(crate) fn list(&self, prefix: &str, after: Option<&str>, limit: Option<usize>) -> Page {
        let mut rest = self.range(prefix, after);
        let entries = rest
            .by_ref()
            .take(limit.unwrap_or(usize::MAX))
            .cloned()
            .collect();
        Page {
            entries,
            revision: self.revision,
            remaining: rest.count(),
        }
    }

    /// The same list as it was at an earlier revision, found by undoing the changes since.
    pub(crate) fn list_at(
        &self,
        prefix: &str,
        after: Option<&str>,
        limit: Option<usize>,
        at: Revision,
    ) -> Result<Page, WatchError> {
        if at > self.revision {
            return Err(WatchError::Future {
                current: self.revision,
            });
        }
        let mut past: BTreeMap<&str, Option<Entry>> = BTreeMap::new();
        for change in self.ring.after(at)? {
            let wanted =
                change.key.starts_with(prefix) && after.is_none_or(|after| &*change.key > after);
            if wanted {
                // The first change after the revision knows what was there at the revision.
                past.entry(&change.key)
                    .or_insert_with(|| change.entry_before());
            }
        }
        let since: Vec<Entry> = past.values().flatten().cloned().collect();
        let untouched = self
            .range(prefix, after)
            .filter(|entry| !past.contains_key(&*entry.key));
        let mut rest = merge(untouched, since.iter());
        let entries = rest
            .by_ref()
            .take(limit.unwrap_or(usize::MAX))
            .cloned()
            .collect();
        Ok(Page {
            entries,
            revision: at,
            remaining: rest.count(),
        })
    }

    /// Makes a durable batch visible; gives back what was trimmed, to be freed by the caller.
    pub(crate) fn apply(&mut self, batch: Batch) -> Vec<Change> {
        for change in &batch.changes {
            match change.entry_after() {
                Some(entry) => {
                    self.entries.insert(change.key.clone(), entry);
                }
                None => {
                    self.entries.remove(&change.key);
                }
            }
        }
        self.revision = batch.revision;
        self.ring.advance(batch.changes, batch.compacted)
    }
}

/// Two runs of entries, each in the order of their keys and without a common key, as one.
fn merge<'a>(
    left: impl Iterator<Item = &'a Entry>,
    right: impl Iterator<Item = &'a Entry>,
) -> impl Iterator<Item = &'a Entry> {
    let (mut left, mut right) = (left.peekable(), right.peekable());
    std::iter::from_fn(move || match (left.peek(), right.peek()) {
        (Some(l), Some(r)) if l.key < r.key => left.next(),
        (_, Some(_)) => right.next(),
        (_, None) => left.next(),
    })
}
