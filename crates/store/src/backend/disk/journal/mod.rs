//! The journal: where a batch becomes durable, by overwriting and one sync.
//!
//! It is two files, the segments. Their blocks are written once with zeros and then used again
//! and again, because a sync of bytes that lie where bytes lay before needs no work of the file
//! system. Batches go into one segment until it is full, then into the other, whose batches must
//! be in the database by then: the owner sees to that.
//!
//! A frame (`frame`) is valid only under the journal's salt, and its sequence number says where
//! it belongs, so that what a segment held before is never taken for new. Frames begin at
//! multiples of [`ALIGN`]: no write touches a block of an earlier frame, and after damage it can be
//! seen that frames follow which were synced later.

use std::io;

use redb::StorageBackend;

use super::{Medium, SEGMENTS};
use crate::backend::{BackendError, Batch};

mod frame;

pub(super) use frame::Frame;

/// Where frames may begin.
const ALIGN: usize = 4096;
/// By how much a segment grows.
const STEP: usize = 1 << 20;

/// Why a journal cannot be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum JournalError {
    #[error("the journal cannot be read")]
    Io(#[from] io::Error),
    #[error("batch {0} of the journal is not whole, but later ones are")]
    Gap(u64),
}

/// One of the two files.
struct Segment<S> {
    /// Absent until it is first written.
    storage: Option<S>,
    /// How far the file reaches.
    length: usize,
    /// Where the next frame goes.
    position: usize,
}

/// The writing end of a journal.
pub(super) struct Journal<S> {
    segments: [Segment<S>; SEGMENTS],
    active: usize,
    salt: u64,
    sequence: u64,
    buffer: Vec<u8>,
    /// How many bytes of a segment are used.
    size: usize,
}

impl<S: StorageBackend> Journal<S> {
    /// A journal that begins anew, over whatever its files hold.
    pub(super) fn new(
        storages: [Option<S>; SEGMENTS],
        size: usize,
        salt: u64,
        sequence: u64,
    ) -> io::Result<Self> {
        let mut lengths = [0; SEGMENTS];
        for (length, storage) in lengths.iter_mut().zip(&storages) {
            if let Some(storage) = storage {
                *length = storage.len()? as usize;
            }
        }
        let mut lengths = lengths.into_iter();
        Ok(Self {
            segments: storages.map(|storage| Segment {
                storage,
                length: lengths.next().unwrap_or_default(),
                position: 0,
            }),
            active: 0,
            salt,
            sequence,
            buffer: Vec::new(),
            size,
        })
    }

    /// The sequence number of the next frame.
    pub(super) fn sequence(&self) -> u64 {
        self.sequence
    }

    /// Prepares a batch; says whether the active segment has room for it.
    pub(super) fn prepare(&mut self, batch: &Batch) -> bool {
        frame::encode(batch, self.salt, self.sequence, &mut self.buffer);
        // Padded, so that what lay there before does not end up behind the frame's own end.
        self.buffer
            .resize(self.buffer.len().next_multiple_of(ALIGN), 0);
        let position = self.segments[self.active].position;
        position == 0 || position + self.buffer.len() <= self.size
    }

    /// Goes on in the other segment, from its beginning.
    pub(super) fn switch(&mut self) {
        self.active = (self.active + 1) % SEGMENTS;
        self.segments[self.active].position = 0;
    }

    /// Makes the prepared batch durable.
    pub(super) fn append(&mut self, medium: &impl Medium<Storage = S>) -> Result<(), BackendError> {
        let failed = |error: io::Error| BackendError::Failed(Box::new(error));
        let segment = &mut self.segments[self.active];
        let end = segment.position + self.buffer.len();
        let storage = match segment.storage.take() {
            Some(storage) => storage,
            None => medium.journal(self.active).map_err(failed)?,
        };
        let storage = segment.storage.insert(storage);
        if segment.length < end {
            let length = end.next_multiple_of(STEP.min(self.size));
            grow(storage, segment.length, length).map_err(failed)?;
            segment.length = length;
        }
        // A write that fails has not written all, and a part of a frame is none.
        storage
            .write(segment.position as u64, &self.buffer)
            .map_err(failed)?;
        // After a failed sync nobody knows what of it would survive, also if the next succeeds.
        storage
            .sync_data()
            .map_err(|error| BackendError::Poisoned(Box::new(error)))?;
        segment.position = end;
        self.sequence += 1;
        Ok(())
    }
}

/// Lengthens a segment by zeros that are really written, so that later writes only overwrite.
fn grow(storage: &impl StorageBackend, from: usize, to: usize) -> io::Result<()> {
    let zeros = vec![0; STEP];
    let mut place = from;
    while place < to {
        let size = STEP.min(to - place);
        storage.write(place as u64, &zeros[..size])?;
        place += size;
    }
    storage.sync_data()
}

/// The frames that are not in the database yet: those from `next` on, in order.
pub(super) fn read<S: StorageBackend>(
    storages: &[Option<S>; SEGMENTS],
    salt: u64,
    next: u64,
) -> Result<Vec<Frame>, JournalError> {
    let mut frames: Vec<Frame> = Vec::new();
    for storage in storages.iter().flatten() {
        let mut bytes = vec![0; storage.len()? as usize];
        storage.read(0, &mut bytes)?;
        let mut place = 0;
        while place < bytes.len() {
            let Some(found) = frame::decode(&bytes[place..], salt) else {
                place += ALIGN;
                continue;
            };
            place += found.length.next_multiple_of(ALIGN);
            if found.sequence >= next {
                frames.push(found);
            }
        }
    }
    frames.sort_by_key(|frame| frame.sequence);
    // A frame is written when the one before it is synced, so a later one proves an earlier.
    for (expected, frame) in (next..).zip(&frames) {
        if frame.sequence != expected {
            return Err(JournalError::Gap(expected));
        }
    }
    Ok(frames)
}

/// A salt that nobody knows who only knows values.
pub(super) fn new_salt() -> u64 {
    uuid::Uuid::new_v4().as_u64_pair().1 ^ uuid::Uuid::new_v4().as_u64_pair().0
}
