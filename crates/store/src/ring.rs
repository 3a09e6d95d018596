//! The recent changes, oldest first, and the point up to which older ones were let go.
//!
//! Leaves to others: when to trim (the writer decides) and who reads (watches hold a revision,
//! not a place, so nothing here knows them).

use std::collections::VecDeque;

use crate::backend::Change;
use crate::error::WatchError;
use crate::options::Options;
use crate::types::Revision;

/// A bounded run of consecutive changes.
#[derive(Debug)]
pub(crate) struct Ring {
    changes: VecDeque<Change>,
    compacted: Revision,
    bytes: u64,
}

impl Ring {
    pub(crate) fn new(changes: Vec<Change>, compacted: Revision) -> Self {
        let bytes = changes.iter().map(Change::weight).sum();
        Self {
            changes: changes.into(),
            compacted,
            bytes,
        }
    }

    /// The revision up to which changes are gone; the oldest place where a watch can start.
    pub(crate) fn compacted(&self) -> Revision {
        self.compacted
    }

    /// Whether every change after a revision is still here.
    pub(crate) fn reaches(&self, revision: Revision) -> Result<(), WatchError> {
        let oldest = self.compacted;
        if revision < oldest {
            return Err(WatchError::Compacted { oldest });
        }
        Ok(())
    }

    /// The changes after a revision, oldest first.
    pub(crate) fn after(
        &self,
        revision: Revision,
    ) -> Result<impl Iterator<Item = &Change>, WatchError> {
        self.reaches(revision)?;
        let first = self.changes.partition_point(|c| c.revision <= revision);
        Ok(self.changes.range(first..))
    }

    /// How far to trim so that `incoming` changes fit, and at least up to `at_least`.
    ///
    /// Only changes that are already here are ever trimmed, so a watcher that keeps up always has
    /// the newest group to read, however small the limits are.
    pub(crate) fn trim_point(
        &self,
        incoming: &[Change],
        at_least: Revision,
        limits: &Options,
    ) -> Revision {
        let mut count = self.changes.len() + incoming.len();
        let mut bytes = self.bytes + incoming.iter().map(Change::weight).sum::<u64>();
        let mut point = self.compacted;
        for change in &self.changes {
            let fits = count <= limits.keep_events && bytes <= limits.keep_bytes;
            if fits && change.revision > at_least {
                break;
            }
            count -= 1;
            bytes -= change.weight();
            point = change.revision;
        }
        point
    }

    /// The kept changes up to and including a revision: those that a trim would let go.
    pub(crate) fn up_to(&self, revision: Revision) -> impl Iterator<Item = &Change> {
        self.changes
            .iter()
            .take_while(move |c| c.revision <= revision)
    }

    /// Appends changes and trims; the trimmed are given back so that they are freed outside of
    /// any lock.
    pub(crate) fn advance(&mut self, changes: Vec<Change>, compacted: Revision) -> Vec<Change> {
        let gone = self.changes.partition_point(|c| c.revision <= compacted);
        let trimmed: Vec<Change> = self.changes.drain(..gone).collect();
        self.compacted = compacted;
        self.bytes -= trimmed.iter().map(Change::weight).sum::<u64>();
        self.bytes += changes.iter().map(Change::weight).sum::<u64>();
        self.changes.extend(changes);
        trimmed
    }
}
