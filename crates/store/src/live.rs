//! What readers see: the entries as of the newest visible revision, and the recent changes.
//!
//! Leaves to others: locking (the store holds this behind one lock), durability and conditions
//! (the writer).

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;
use std::time::Instant;

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
            ring: Ring::new(loaded.changes, loaded.compacted, Instant::now()),
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
        let end = end_of(prefix);
        let end = end.as_deref();
        let start = match (after, end) {
            // Beyond the prefix; the range must be empty rather than the wrong way round.
            (Some(after), Some(end)) if after >= end => Bound::Included(end),
            (Some(after), _) if after >= prefix => Bound::Excluded(after),
            _ => Bound::Included(prefix),
        };
        let end = end.map_or(Bound::Unbounded, Bound::Excluded);
        // Bounds instead of a look at each key: counting what follows a page then touches only
        // the map's own nodes.
        let range = self.entries.range::<str, _>((start, end));
        range.map(|(_, entry)| entry)
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
    pub(crate) fn apply(&mut self, batch: Batch, now: Instant) -> Vec<Change> {
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
        self.ring.advance(batch.changes, batch.compacted, now)
    }
}

/// The least text that comes after every text with a prefix, if there is one.
fn end_of(prefix: &str) -> Option<String> {
    let mut end = prefix.to_owned();
    while let Some(last) = end.pop() {
        if let Some(next) = (last..=char::MAX).nth(1) {
            end.push(next);
            return Some(end);
        }
    }
    None
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_ends_where_the_next_one_begins() {
        let last = char::MAX;
        let cases = [
            ("m/", Some("m0".to_owned())),
            ("", None),
            ("\u{d7ff}", Some("\u{e000}".to_owned())),
            (&format!("a{last}"), Some("b".to_owned())),
            (&format!("{last}{last}"), None),
        ];
        for (prefix, end) in cases {
            assert_eq!(end_of(prefix), end, "{prefix:?}");
        }
    }

    #[test]
    fn a_list_keeps_to_its_prefix_whatever_it_comes_after() {
        let mut loaded = Loaded::empty(None);
        for key in ["a", "m", "m/", "m/a", "m/b", "m/\u{10ffff}", "m0", "z"] {
            let entry = Entry {
                key: key.into(),
                value: bytes::Bytes::new(),
                created: Revision(1),
                modified: Revision(1),
            };
            loaded.entries.insert(key.into(), entry);
        }
        let live = Live::new(loaded);
        let listed = |prefix: &str, after: Option<&str>| {
            let page = live.list(prefix, after, None);
            let keys: Vec<String> = page.entries.iter().map(|e| e.key.to_string()).collect();
            keys.join(" ")
        };
        assert_eq!(listed("m/", None), "m/ m/a m/b m/\u{10ffff}");
        assert_eq!(listed("m/", Some("a")), "m/ m/a m/b m/\u{10ffff}");
        assert_eq!(listed("m/", Some("m/a")), "m/b m/\u{10ffff}");
        assert_eq!(listed("m/", Some("m0")), "");
        assert_eq!(listed("m/", Some("z")), "");
        assert_eq!(listed("", Some("m0")), "z");
        assert_eq!(live.list("m", Some("m/"), Some(1)).remaining, 3);
    }
}
