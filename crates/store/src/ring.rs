//! The recent changes, oldest first, and the point up to which older ones were let go.
//!
//! Leaves to others: when to trim (the writer decides) and who reads (watches hold a revision,
//! not a place, so nothing here knows them).

use std::collections::VecDeque;
use std::time::{Duration, Instant};

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
    /// What the newest revision was at some moments, oldest first.
    marks: VecDeque<(Instant, Revision)>,
}

/// How far apart the moments are; history is kept longer by this at most.
const BETWEEN_MARKS: Duration = Duration::from_secs(5);

/// How many changes are looked at one by one before they are searched.
const FEW: usize = 4;

impl Ring {
    pub(crate) fn new(changes: Vec<Change>, compacted: Revision, now: Instant) -> Self {
        let newest = changes.last().map_or(compacted, |change| change.revision);
        let bytes = changes.iter().map(Change::weight).sum();
        Self {
            changes: changes.into(),
            compacted,
            bytes,
            marks: [(now, newest)].into(),
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
        // Watches that keep up want the last few, which are found from the end.
        let newer = |c: &&Change| c.revision > revision;
        let few = self
            .changes
            .iter()
            .rev()
            .take(FEW)
            .take_while(newer)
            .count();
        let first = match few {
            FEW => self.changes.partition_point(|c| c.revision <= revision),
            few => self.changes.len() - few,
        };
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
        now: Instant,
    ) -> Revision {
        let is_old = |(at, _): &&(Instant, Revision)| now.duration_since(*at) >= limits.keep_for;
        let old = self.marks.iter().take_while(is_old).last();
        let at_least = at_least.max(old.map_or(Revision::ZERO, |(_, revision)| *revision));
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
    pub(crate) fn advance(
        &mut self,
        changes: Vec<Change>,
        compacted: Revision,
        now: Instant,
    ) -> Vec<Change> {
        let last = self.marks.back();
        if let Some(newest) = changes.last()
            && last.is_none_or(|(at, _)| now.duration_since(*at) >= BETWEEN_MARKS)
        {
            self.marks.push_back((now, newest.revision));
        }
        // One is left, so that the next is not made too soon.
        while self.marks.len() > 1 && self.marks[0].1 <= compacted {
            self.marks.pop_front();
        }
        let gone = self.changes.partition_point(|c| c.revision <= compacted);
        let trimmed: Vec<Change> = self.changes.drain(..gone).collect();
        self.compacted = compacted;
        self.bytes -= trimmed.iter().map(Change::weight).sum::<u64>();
        self.bytes += changes.iter().map(Change::weight).sum::<u64>();
        self.changes.extend(changes);
        trimmed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(revision: u64) -> Change {
        Change {
            key: "k".into(),
            value: Some(bytes::Bytes::new()),
            created: Revision(1),
            revision: Revision(revision),
            previous: None,
        }
    }

    #[test]
    fn the_changes_after_a_revision_are_found_wherever_it_is() {
        let changes: Vec<Change> = (1..=20).map(change).collect();
        let ring = Ring::new(changes, Revision::ZERO, Instant::now());
        for revision in 0..=21 {
            let found = ring.after(Revision(revision)).unwrap();
            let found: Vec<u64> = found.map(|c| c.revision.0).collect();
            assert_eq!(found, (revision + 1..=20).collect::<Vec<_>>());
        }
    }

    #[test]
    fn what_is_older_than_wanted_is_trimmed_by_the_next_write() {
        let limits = Options {
            keep_for: Duration::from_secs(60),
            ..Options::default()
        };
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut ring = Ring::new(vec![change(1)], Revision::ZERO, start);
        let mut write = |revision: u64, seconds| {
            let incoming = vec![change(revision)];
            let point = ring.trim_point(&incoming, Revision::ZERO, &limits, at(seconds));
            ring.advance(incoming, point, at(seconds));
            point.0
        };
        assert_eq!(
            write(2, 1),
            0,
            "too soon after the start for a moment of its own"
        );
        assert_eq!(write(3, 30), 0);
        assert_eq!(write(4, 59), 0);
        assert_eq!(write(5, 60), 1, "what was there at the start is old");
        assert_eq!(write(6, 89), 1);
        assert_eq!(
            write(7, 90),
            3,
            "what was there after 30 s is old, also what came before it"
        );
        assert_eq!(write(8, 1000), 6);
        assert_eq!(write(9, 1001), 6);
    }
}
