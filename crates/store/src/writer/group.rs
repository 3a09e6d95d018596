//! The decisions about one group of writes: conditions, revisions, what to trim. No input or
//! output happens here, and nothing is answered: an answer may rest on an earlier write of the
//! same group, which does not exist until the group is durable.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;

use super::{Op, Reply};
use crate::backend::{BackendError, Batch, Change, Previous};
use crate::error::WriteError;
use crate::options::Options;
use crate::store::Shared;
use crate::types::{Entry, Expect, Revision};

/// A group in the making.
pub(super) struct Group<'a> {
    shared: &'a Shared,
    /// The keys as the earlier members of this group leave them.
    pending: HashMap<Arc<str>, Option<Entry>>,
    changes: Vec<Change>,
    revision: Revision,
    compact_to: Revision,
    answers: Vec<Answer>,
}

impl<'a> Group<'a> {
    pub(super) fn new(shared: &'a Shared) -> Self {
        let revision = shared.live().revision;
        Self {
            shared,
            pending: HashMap::new(),
            changes: Vec::new(),
            revision,
            compact_to: Revision::ZERO,
            answers: Vec::new(),
        }
    }

    /// Decides one operation after those before it; a wish to close is given back.
    pub(super) fn add(&mut self, op: Op) -> Option<Reply<()>> {
        let answer = match op {
            Op::Put {
                key,
                value,
                expect,
                reply,
            } => Answer::Put(reply, self.put(key, value, expect)),
            Op::Delete { key, expect, reply } => Answer::Delete(reply, self.delete(key, expect)),
            Op::Compact { up_to, reply } => {
                self.compact_to = self.compact_to.max(up_to);
                Answer::Compact(reply, Revision::ZERO)
            }
            Op::Close { reply } => return Some(reply),
        };
        self.answers.push(answer);
        None
    }

    /// What to make durable, if anything, and the answers to give when it is.
    pub(super) fn finish(
        mut self,
        options: &Options,
        now: Instant,
    ) -> (Option<Batch>, Vec<Answer>) {
        let live = self.shared.live();
        let compacted = live
            .ring
            .trim_point(&self.changes, self.compact_to, options, now);
        for answer in &mut self.answers {
            if let Answer::Compact(_, reached) = answer {
                *reached = compacted;
            }
        }
        if self.changes.is_empty() && compacted == live.ring.compacted() {
            return (None, self.answers);
        }
        let obsolete = live.ring.up_to(compacted).flat_map(Change::obsolete);
        let batch = Batch {
            obsolete: obsolete.collect(),
            changes: self.changes,
            revision: self.revision,
            compacted,
        };
        (Some(batch), self.answers)
    }

    fn put(&mut self, key: Arc<str>, value: Bytes, expect: Expect) -> Result<Revision, WriteError> {
        let found = self.current(&key);
        match (expect, found) {
            (Expect::Absent, Some(entry)) => Err(WriteError::Exists(entry)),
            (Expect::Revision(expected), found)
                if found.as_ref().map(|entry| entry.modified) != Some(expected) =>
            {
                Err(WriteError::Conflict {
                    key,
                    expected,
                    found,
                })
            }
            (_, found) => Ok(self.change(key, Some(value), found).revision),
        }
    }

    fn delete(&mut self, key: Arc<str>, expect: Expect) -> Result<Entry, WriteError> {
        let Some(found) = self.current(&key) else {
            return Err(WriteError::NotFound(key));
        };
        match expect {
            Expect::Absent => Err(WriteError::Exists(found)),
            Expect::Revision(expected) if found.modified != expected => Err(WriteError::Conflict {
                key,
                expected,
                found: Some(found),
            }),
            Expect::Any | Expect::Revision(_) => {
                Ok(self.change(key, None, Some(found)).event().entry)
            }
        }
    }

    /// The key as this group leaves it so far.
    fn current(&self, key: &str) -> Option<Entry> {
        match self.pending.get(key) {
            Some(pending) => pending.clone(),
            None => self.shared.live().get(key).cloned(),
        }
    }

    fn change(&mut self, key: Arc<str>, value: Option<Bytes>, found: Option<Entry>) -> &Change {
        self.revision = self.revision.next();
        let change = Change {
            // The key that is there already is shared rather than held twice.
            key: found.as_ref().map_or(key, |entry| entry.key.clone()),
            value,
            created: found.as_ref().map_or(self.revision, |entry| entry.created),
            revision: self.revision,
            previous: found.map(|entry| Previous {
                value: entry.value,
                modified: entry.modified,
            }),
        };
        self.pending
            .insert(change.key.clone(), change.entry_after());
        self.changes.push_mut(change)
    }
}

/// A decided answer with its way back, held until the group is durable.
pub(super) enum Answer {
    Put(Reply<Revision>, Result<Revision, WriteError>),
    Delete(Reply<Entry>, Result<Entry, WriteError>),
    Compact(Reply<Revision>, Revision),
}

impl Answer {
    /// Gives the answer; a caller that has gone away does not mind.
    pub(super) fn give(self) {
        match self {
            Answer::Put(reply, result) => drop(reply.send(result)),
            Answer::Delete(reply, result) => drop(reply.send(result)),
            Answer::Compact(reply, reached) => drop(reply.send(Ok(reached))),
        }
    }

    /// Says that the group failed, whatever was decided.
    pub(super) fn fail(self, error: &Arc<BackendError>) {
        let error = WriteError::Failed(error.clone());
        match self {
            Answer::Put(reply, _) => drop(reply.send(Err(error))),
            Answer::Delete(reply, _) => drop(reply.send(Err(error))),
            Answer::Compact(reply, _) => drop(reply.send(Err(error))),
        }
    }
}
