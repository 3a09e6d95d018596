//! Events as they go over the wire to many: lines, several together where they are small, as a chunk.

use std::io::Write as _;

use bytes::Bytes;
use machinist_store::{Event, Revision};

use super::lane::Piece;

/// Events are put together up to what fits into one record of TLS.
const RECORD: usize = 16 << 10;
/// What a chunk has beside its content, at most.
const FRAME: usize = 24;

/// The pieces of some events, whose lines are asked for one by one.
pub(super) fn pieces(events: &[Event], mut line: impl FnMut(&Event) -> Bytes) -> Vec<Piece> {
    let mut all = Vec::new();
    let mut group: Option<Group> = None;
    for event in events {
        let line = line(event);
        let group = match &mut group {
            Some(group) if group.size + line.len() + FRAME <= RECORD => group,
            full => {
                all.extend(full.take().map(Group::framed));
                full.insert(Group::new(event.revision))
            }
        };
        group.last = event.revision;
        group.size += line.len();
        group.lines.push(line);
    }
    all.extend(group.map(Group::framed));
    all
}

struct Group {
    first: Revision,
    last: Revision,
    size: usize,
    lines: Vec<Bytes>,
}

impl Group {
    fn new(first: Revision) -> Self {
        Self {
            first,
            last: first,
            size: 0,
            lines: Vec::new(),
        }
    }

    /// The lines as a chunk of a body that comes in chunks.
    fn framed(self) -> Piece {
        let mut chunk = Vec::with_capacity(self.size + FRAME);
        // Writing to memory does not fail.
        let _ = write!(chunk, "{:X}\r\n", self.size);
        for line in &self.lines {
            chunk.extend_from_slice(line);
        }
        chunk.extend_from_slice(b"\r\n");
        Piece {
            first: self.first,
            last: self.last,
            chunk,
        }
    }
}

#[cfg(test)]
mod tests {
    use machinist_store::{Entry, EventKind};

    use super::*;

    fn event(revision: u64) -> Event {
        let revision = Revision(revision);
        Event {
            revision,
            kind: EventKind::Put,
            entry: Entry {
                key: "/k".into(),
                value: Bytes::new(),
                created: revision,
                modified: revision,
            },
            previous: None,
        }
    }

    #[test]
    fn small_events_share_a_chunk_and_large_ones_have_their_own() {
        let sizes = [10, 20, 16_000, 400, 40_000, 5];
        let events: Vec<Event> = (1..=sizes.len() as u64).map(event).collect();
        let mut left = sizes.iter();
        let all = pieces(&events, |_| vec![b'x'; *left.next().unwrap_or(&0)].into());
        let seen: Vec<_> = all
            .iter()
            .map(|piece| {
                let text = String::from_utf8_lossy(&piece.chunk).into_owned();
                let (size, rest) = text.split_once("\r\n").unwrap();
                let size = usize::from_str_radix(size, 16).unwrap();
                assert_eq!(rest, "x".repeat(size) + "\r\n");
                (piece.first.0, piece.last.0, size)
            })
            .collect();
        assert_eq!(
            seen,
            [(1, 3, 16_030), (4, 4, 400), (5, 5, 40_000), (6, 6, 5)]
        );
    }
}
