//! One batch as bytes in the journal, under one checksum.

use super::super::record::{self, checksum, word};
use crate::backend::Batch;
use crate::types::Revision;

/// Checksum, sequence, length, revision, trim point, and the numbers of changes and obsolete ones.
const HEADER: usize = 8 + 8 + 8 + 8 + 8 + 8 + 8;

/// A batch as the journal holds it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) sequence: u64,
    /// The newest revision once the batch is applied.
    pub(crate) revision: Revision,
    pub(crate) compacted: Revision,
    /// The records of the changes with their revisions.
    pub(crate) records: Vec<(Revision, Vec<u8>)>,
    pub(crate) obsolete: Vec<Revision>,
    /// How many bytes it takes.
    pub(super) length: usize,
}

/// Writes a batch into a buffer that is used again and again.
pub(super) fn encode(batch: &Batch, salt: u64, sequence: u64, buffer: &mut Vec<u8>) {
    buffer.clear();
    buffer.resize(HEADER, 0);
    let mut one = Vec::new();
    for change in &batch.changes {
        record::encode(change, &mut one);
        buffer.extend_from_slice(&(one.len() as u64).to_le_bytes());
        buffer.extend_from_slice(&one);
    }
    for revision in &batch.obsolete {
        buffer.extend_from_slice(&revision.0.to_le_bytes());
    }
    let head = [
        sequence,
        buffer.len() as u64,
        batch.revision.0,
        batch.compacted.0,
        batch.changes.len() as u64,
        batch.obsolete.len() as u64,
    ];
    for (place, number) in (8..).step_by(8).zip(head) {
        buffer[place..place + 8].copy_from_slice(&number.to_le_bytes());
    }
    let sum = checksum(salt, &buffer[8..]);
    buffer[..8].copy_from_slice(&sum.to_le_bytes());
}

/// Reads the frame that these bytes begin with, if they do.
pub(super) fn decode(bytes: &[u8], salt: u64) -> Option<Frame> {
    let number = |index: usize| Some(word(bytes.get(index * 8..index * 8 + 8)?));
    let length = usize::try_from(number(2)?).ok()?;
    if length < HEADER || number(0)? != checksum(salt, bytes.get(8..length)?) {
        return None;
    }
    let (revision, count) = (number(3)?, number(5)?);
    let mut rest = bytes.get(HEADER..length)?;
    let mut take = |size: usize| {
        let (taken, left) = rest.split_at_checked(size)?;
        rest = left;
        Some(taken)
    };
    let mut records = Vec::new();
    for index in 1..=count {
        let size = usize::try_from(word(take(8)?)).ok()?;
        let revision = Revision((revision + index).checked_sub(count)?);
        records.push((revision, take(size)?.to_vec()));
    }
    let mut obsolete = Vec::new();
    for _ in 0..number(6)? {
        obsolete.push(Revision(word(take(8)?)));
    }
    Some(Frame {
        sequence: number(1)?,
        revision: Revision(revision),
        compacted: Revision(number(4)?),
        records,
        obsolete,
        length,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Change;

    fn sample() -> Batch {
        let change = |revision, value: Option<&'static [u8]>| Change {
            key: "/registry/machines/a".into(),
            value: value.map(bytes::Bytes::from_static),
            created: Revision(6),
            revision: Revision(revision),
            previous: None,
        };
        Batch {
            changes: vec![change(6, Some(b"a value")), change(7, None)],
            revision: Revision(7),
            compacted: Revision(3),
            obsolete: vec![Revision(2), Revision(3)],
        }
    }

    #[test]
    fn a_frame_reads_back_what_was_written() {
        let mut buffer = Vec::new();
        encode(&sample(), 5, 9, &mut buffer);
        let length = buffer.len();
        buffer.extend_from_slice(b"what lies behind it");
        let frame = decode(&buffer, 5).unwrap();
        assert_eq!((frame.sequence, frame.length), (9, length));
        assert_eq!(
            (frame.revision, frame.compacted),
            (Revision(7), Revision(3))
        );
        assert_eq!(frame.obsolete, [Revision(2), Revision(3)]);
        let revisions: Vec<u64> = frame.records.iter().map(|(r, _)| r.0).collect();
        assert_eq!(revisions, [6, 7]);
        for (revision, bytes) in &frame.records {
            let record = record::decode(*revision, bytes).unwrap();
            assert_eq!(record.key, "/registry/machines/a");
            assert_eq!(record.value.is_some(), revision.0 == 6);
        }
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_noticed_and_so_is_another_salt() {
        let mut buffer = Vec::new();
        encode(&sample(), 5, 9, &mut buffer);
        for bit in 0..buffer.len() * 8 {
            buffer[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(decode(&buffer, 5), None, "bit {bit}");
            buffer[bit / 8] ^= 1 << (bit % 8);
        }
        for length in 0..buffer.len() {
            assert_eq!(decode(&buffer[..length], 5), None, "cut to {length}");
        }
        assert_eq!(decode(&buffer, 6), None);
        assert_eq!(decode(&[0; 4096], 5), None);
    }
}
