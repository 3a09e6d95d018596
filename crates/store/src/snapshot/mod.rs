//! Everything that a store holds at one revision, as a stream of bytes and back.
//!
//! The stream is a head of lines that a person can read, the entries, and a SHA-256 of all that
//! came before it. It holds no history: whoever restores it goes on at a later revision, where a
//! watch from before is told to list again. Leaves to others: where the bytes go, and who may
//! have them.

use std::collections::VecDeque;

use bytes::Bytes;
use sha2::{Digest, Sha256};

use crate::store::Store;
use crate::types::{Entry, Revision};

mod read;
mod restore;

pub use read::{SnapshotError, SnapshotReader};
pub use restore::RestoreError;

/// The first line, and the format that this program writes; a reader knows all up to it.
const MAGIC: &str = "machinist-snapshot";
const FORMAT: u32 = 1;
/// Key length, value length, revision of the creation, revision of the last change.
const ENTRY: usize = 4 + 4 + 8 + 8;
/// The size of a SHA-256.
const SUM: usize = 32;
/// How large the pieces of the stream are, about.
const PIECE: usize = 128 << 10;

/// What a snapshot says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotHead {
    /// The identity of the store.
    pub uid: String,
    /// The newest revision that is in it.
    pub revision: Revision,
    /// How many entries follow.
    pub entries: u64,
}

/// A snapshot on its way out: an iterator over the pieces of the stream.
#[derive(Debug)]
pub struct Snapshot {
    head: SnapshotHead,
    entries: VecDeque<Entry>,
    sum: Sha256,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    Head,
    Entries,
    Done,
}

impl Store {
    /// Everything that the store holds now. Values are shared, not copied, and writes go on.
    pub fn snapshot(&self) -> Snapshot {
        let page = self.list("", None, None);
        Snapshot {
            head: SnapshotHead {
                uid: self.uid().to_owned(),
                revision: page.revision,
                entries: page.entries.len() as u64,
            },
            entries: page.entries.into(),
            sum: Sha256::new(),
            stage: Stage::Head,
        }
    }
}

impl Snapshot {
    /// What it says about itself.
    pub fn head(&self) -> &SnapshotHead {
        &self.head
    }

    fn piece(&mut self) -> Vec<u8> {
        let mut out = Vec::with_capacity(PIECE);
        while out.len() < PIECE
            && let Some(entry) = self.entries.pop_front()
        {
            let Entry {
                key,
                value,
                created,
                modified,
            } = &entry;
            out.extend_from_slice(&(key.len() as u32).to_le_bytes());
            out.extend_from_slice(&(value.len() as u32).to_le_bytes());
            out.extend_from_slice(&created.0.to_le_bytes());
            out.extend_from_slice(&modified.0.to_le_bytes());
            out.extend_from_slice(key.as_bytes());
            out.extend_from_slice(value);
        }
        out
    }
}

impl Iterator for Snapshot {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        let piece = match self.stage {
            Stage::Head => {
                self.stage = Stage::Entries;
                let SnapshotHead {
                    uid,
                    revision,
                    entries,
                } = &self.head;
                format!("{MAGIC} {FORMAT}\nuid {uid}\nrevision {revision}\nentries {entries}\n\n")
                    .into_bytes()
            }
            Stage::Entries => match self.piece() {
                empty if empty.is_empty() => {
                    self.stage = Stage::Done;
                    return Some(Bytes::copy_from_slice(&self.sum.clone().finalize()));
                }
                piece => piece,
            },
            Stage::Done => return None,
        };
        self.sum.update(&piece);
        Some(piece.into())
    }
}
