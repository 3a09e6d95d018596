//! A reader of events that goes at its own pace.
//!
//! A watch holds a revision and a small batch; the events themselves stay in the shared ring. A
//! slow one costs nothing and holds nobody up: it falls off the ring and is told so.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::watch;

use crate::error::WatchError;
use crate::store::Shared;
use crate::types::{Event, Revision};

/// How many events a watch takes at once, which bounds what it holds beside the ring.
const BATCH: usize = 64;
/// How many changes a watch looks at before it lets a waiting writer in.
const SCAN: usize = 4096;

/// Every event under a prefix after a revision, in order, each once.
#[derive(Debug)]
pub struct Watch {
    shared: Arc<Shared>,
    prefix: Box<str>,
    scanned: Revision,
    batch: VecDeque<Event>,
    newest: watch::Receiver<Revision>,
}

impl Watch {
    pub(crate) fn new(
        shared: Arc<Shared>,
        prefix: &str,
        after: Revision,
        newest: watch::Receiver<Revision>,
    ) -> Self {
        Self {
            shared,
            prefix: prefix.into(),
            scanned: after,
            batch: VecDeque::new(),
            newest,
        }
    }

    /// The next event; waits for one. Dropping the future loses no event.
    ///
    /// # Errors
    /// [`WatchError::Compacted`] when this watch fell behind what is kept, and
    /// [`WatchError::Closed`] when the store was closed. Both are final.
    pub async fn next(&mut self) -> Result<Event, WatchError> {
        loop {
            // What is marked as seen before the look cannot be missed by the wait after it.
            self.newest.borrow_and_update();
            if let Some(event) = self.try_next()? {
                return Ok(event);
            }
            self.stirred().await?;
        }
    }

    /// Waits until something was written since the last look, of interest to this watch or not.
    ///
    /// # Errors
    /// [`WatchError::Closed`] when the store was closed.
    pub async fn stirred(&mut self) -> Result<(), WatchError> {
        let changed = self.newest.changed().await;
        changed.map_err(|_| WatchError::Closed)
    }

    /// Whether everything that was written has been looked at and given out.
    pub fn is_current(&self) -> bool {
        self.batch.is_empty() && self.scanned >= self.shared.newest()
    }

    /// Goes on after a revision up to which somebody else gave out the events of this watch.
    pub fn resume_after(&mut self, revision: Revision) {
        self.batch.retain(|event| event.revision > revision);
        self.scanned = self.scanned.max(revision);
    }

    /// Where the keys begin that are watched.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The next event if there is one now.
    ///
    /// # Errors
    /// [`WatchError::Compacted`] when this watch fell behind what is kept.
    pub fn try_next(&mut self) -> Result<Option<Event>, WatchError> {
        while self.batch.is_empty() && self.fill()? {}
        Ok(self.batch.pop_front())
    }

    /// The revision up to which every event of this watch was given out; for bookmarks.
    pub fn progress(&self) -> Revision {
        match self.batch.front() {
            Some(event) => Revision(event.revision.0 - 1),
            None => self.scanned,
        }
    }

    /// Looks at the next stretch of the ring; false when there is nothing left to look at.
    fn fill(&mut self) -> Result<bool, WatchError> {
        if self.scanned >= self.shared.newest() {
            return Ok(false);
        }
        let live = self.shared.live();
        for change in live.ring.after(self.scanned)?.take(SCAN) {
            self.scanned = change.revision;
            if change.key.starts_with(&*self.prefix) {
                self.batch.push_back(change.event());
                if self.batch.len() == BATCH {
                    break;
                }
            }
        }
        Ok(self.scanned < live.revision)
    }
}
