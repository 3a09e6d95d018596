//! From the records of the log to the state of a store, with every step checked.
//!
//! The log holds each value once. Records after the trim point are the kept history, without a
//! gap; a record before it is there only because it is still some key's live version, or the one
//! that a kept change replaced.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::load::Meta;
use super::record::Record;
use crate::backend::{Change, Loaded, Previous};
use crate::types::{Entry, Revision};

/// What does not hold in a log.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(super) enum ReplayError {
    #[error("revision {0} is missing from the log")]
    Gap(Revision),
    #[error("the log goes on after the newest revision {0}")]
    Beyond(Revision),
    #[error("revision {0} does not follow from what came before it")]
    Link(Revision),
    #[error("the index and the log disagree about {0}")]
    Index(String),
}

/// The state that grows as records are read in the order of their revisions.
pub(super) struct Replay {
    meta: Meta,
    reached: Revision,
    entries: BTreeMap<Arc<str>, Entry>,
    changes: Vec<Change>,
}

impl Replay {
    pub(super) fn new(meta: Meta) -> Self {
        Self {
            reached: meta.compacted,
            meta,
            entries: BTreeMap::new(),
            changes: Vec::new(),
        }
    }

    /// Takes the next record.
    pub(super) fn take(&mut self, revision: Revision, record: Record) -> Result<(), ReplayError> {
        if revision > self.meta.revision {
            return Err(ReplayError::Beyond(self.meta.revision));
        }
        let found = self.entries.get(&*record.key);
        if revision <= self.meta.compacted {
            // Of the trimmed past only values are left, at most one for a key.
            if found.is_some() || record.value.is_none() {
                return Err(ReplayError::Link(revision));
            }
        } else {
            if revision != self.reached.next() {
                return Err(ReplayError::Gap(self.reached.next()));
            }
            let created = found.map_or(revision, |entry| entry.created);
            let follows = found.map(|entry| entry.modified) == record.previous;
            let possible = found.is_some() || record.value.is_some();
            if !follows || !possible || record.created != created {
                return Err(ReplayError::Link(revision));
            }
            self.reached = revision;
        }
        let previous = found.map(|entry| Previous {
            value: entry.value.clone(),
            modified: entry.modified,
        });
        let change = Change {
            key: found.map_or_else(|| record.key.into(), |entry| entry.key.clone()),
            value: record.value,
            created: record.created,
            revision,
            previous,
        };
        match change.entry_after() {
            Some(entry) => self.entries.insert(change.key.clone(), entry),
            None => self.entries.remove(&change.key),
        };
        if revision > self.meta.compacted {
            self.changes.push(change);
        }
        Ok(())
    }

    /// Ends the log, and compares the entries with the index: key, creation, last change.
    pub(super) fn finish(
        self,
        mut index: impl Iterator<Item = (String, Revision, Revision)>,
    ) -> Result<Loaded, ReplayError> {
        if self.reached != self.meta.revision {
            return Err(ReplayError::Gap(self.reached.next()));
        }
        for entry in self.entries.values() {
            let row = index.next();
            let agrees = row.as_ref().is_some_and(|(key, created, modified)| {
                *key == *entry.key && *created == entry.created && *modified == entry.modified
            });
            if !agrees {
                return Err(ReplayError::Index(entry.key.to_string()));
            }
        }
        match index.next() {
            Some((key, ..)) => Err(ReplayError::Index(key)),
            None => Ok(Loaded {
                uid: self.meta.uid,
                revision: self.meta.revision,
                compacted: self.meta.compacted,
                entries: self.entries,
                changes: self.changes,
            }),
        }
    }
}
