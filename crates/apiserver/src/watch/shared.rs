//! The lines of recent events, so that a line is written once for all watches that want the same:
//! the same version of a kind in the same form, without a selector.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use machinist_store::Revision;

use crate::http::Shape;
use crate::registry::Kind;
use crate::table::IncludeObject;

/// Watches that keep up want one of the newest events; the others write their lines themselves.
const KEPT: usize = 64;

/// What decides how a line reads.
#[derive(Clone)]
pub(super) struct Wanted {
    /// The event.
    pub(super) revision: Revision,
    pub(super) kind: Arc<Kind>,
    pub(super) shape: Shape,
    pub(super) include: IncludeObject,
    /// Whether the columns of a table are already known to the client.
    pub(super) headers_sent: bool,
}

impl PartialEq for Wanted {
    fn eq(&self, other: &Self) -> bool {
        let Self {
            revision,
            kind,
            shape,
            include,
            headers_sent,
        } = self;
        *revision == other.revision
            // A definition that changes is a new kind.
            && Arc::ptr_eq(kind, &other.kind)
            && *shape == other.shape
            && *include == other.include
            && *headers_sent == other.headers_sent
    }
}

/// Lines that were written.
#[derive(Default)]
pub(crate) struct Lines(Mutex<VecDeque<(Wanted, Bytes)>>);

impl Lines {
    /// The line, written now if nobody has yet. Two may write the same at once, which does no
    /// harm; nobody waits while another writes.
    pub(super) fn get(&self, wanted: Wanted, write: impl FnOnce() -> Bytes) -> Bytes {
        let lines = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = lines()
            .iter()
            .rev()
            .find(|(known, _)| *known == wanted)
            .map(|(_, line)| line.clone());
        found.unwrap_or_else(|| {
            let line = write();
            let mut lines = lines();
            if lines.len() == KEPT {
                lines.pop_front();
            }
            lines.push_back((wanted, line.clone()));
            line
        })
    }
}
