//! One change as bytes: its form in the log table, with a checksum of its own.
//!
//! The database underneath checks its pages only after a crash. Every record is read at start
//! anyway, so checking each one then makes the open a full check of what the store holds.

use bytes::Bytes;

use crate::backend::Change;
use crate::types::Revision;

const PUT: u8 = 1;
const DELETE: u8 = 2;
/// Checksum, kind, creation, previous revision, length of the key.
const HEADER: usize = 8 + 1 + 8 + 8 + 4;

/// A change as the log holds it: the replaced version is named, not repeated.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) key: String,
    pub(super) value: Option<Bytes>,
    pub(super) created: Revision,
    pub(super) previous: Option<Revision>,
}

/// Why bytes are not a record.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(super) enum RecordError {
    #[error("the record is cut short")]
    Short,
    #[error("the checksum of the record does not match")]
    Checksum,
    #[error("the record is of unknown kind {0}")]
    Kind(u8),
    #[error("the key of the record is not text")]
    Key,
}

/// Writes a change into a buffer that is used again and again.
pub(super) fn encode(change: &Change, buffer: &mut Vec<u8>) {
    let previous = change.previous.as_ref().map_or(0, |p| p.modified.0);
    buffer.clear();
    buffer.extend_from_slice(&[0; 8]);
    buffer.push(if change.value.is_some() { PUT } else { DELETE });
    buffer.extend_from_slice(&change.created.0.to_le_bytes());
    buffer.extend_from_slice(&previous.to_le_bytes());
    buffer.extend_from_slice(&(change.key.len() as u32).to_le_bytes());
    buffer.extend_from_slice(change.key.as_bytes());
    buffer.extend_from_slice(change.value.as_deref().unwrap_or_default());
    let sum = checksum(change.revision.0, &buffer[8..]);
    buffer[..8].copy_from_slice(&sum.to_le_bytes());
}

/// Reads the record of a revision.
pub(super) fn decode(revision: Revision, bytes: &[u8]) -> Result<Record, RecordError> {
    let (header, body) = bytes.split_at_checked(HEADER).ok_or(RecordError::Short)?;
    if word(&header[..8]) != checksum(revision.0, &bytes[8..]) {
        return Err(RecordError::Checksum);
    }
    let length = word(&header[25..29]) as usize;
    let (key, value) = body.split_at_checked(length).ok_or(RecordError::Short)?;
    let previous = word(&header[17..25]);
    Ok(Record {
        key: String::from_utf8(key.to_vec()).map_err(|_| RecordError::Key)?,
        value: match header[8] {
            PUT => Some(Bytes::copy_from_slice(value)),
            DELETE => None,
            other => return Err(RecordError::Kind(other)),
        },
        created: Revision(word(&header[9..17])),
        previous: (previous != 0).then_some(Revision(previous)),
    })
}

/// Up to eight bytes as a number, lowest first.
pub(super) fn word(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// A fast sum against accidents, not against forgery. Each step can be undone, so that a change
/// within one word always changes the result. The seed says where the bytes belong (for a record,
/// its revision), so that what lies in the wrong place does not pass either.
pub(super) fn checksum(seed: u64, bytes: &[u8]) -> u64 {
    let mix = |sum: u64, word: u64| {
        (sum ^ word)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(29)
    };
    let start = mix(seed, bytes.len() as u64);
    let (words, rest) = bytes.as_chunks::<8>();
    let sum = words
        .iter()
        .fold(start, |sum, chunk| mix(sum, u64::from_le_bytes(*chunk)));
    mix(mix(sum, word(rest)), 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Previous;

    fn sample(value: Option<&'static [u8]>) -> Change {
        Change {
            key: "/registry/machines/a".into(),
            value: value.map(Bytes::from_static),
            created: Revision(3),
            revision: Revision(9),
            previous: Some(Previous {
                value: Bytes::from_static(b"before"),
                modified: Revision(7),
            }),
        }
    }

    #[test]
    fn a_record_reads_back_what_was_written() {
        let mut buffer = Vec::new();
        for value in [None, Some(&b""[..]), Some(&b"a value of some length"[..])] {
            encode(&sample(value), &mut buffer);
            let expected = Record {
                key: "/registry/machines/a".into(),
                value: value.map(Bytes::from_static),
                created: Revision(3),
                previous: Some(Revision(7)),
            };
            assert_eq!(decode(Revision(9), &buffer), Ok(expected));
        }
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        let mut buffer = Vec::new();
        encode(&sample(Some(b"a value of some length")), &mut buffer);
        for bit in 0..buffer.len() * 8 {
            buffer[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(decode(Revision(9), &buffer), Err(RecordError::Checksum));
            buffer[bit / 8] ^= 1 << (bit % 8);
        }
    }

    #[test]
    fn a_record_cut_short_or_in_the_wrong_place_is_noticed() {
        let mut buffer = Vec::new();
        encode(&sample(Some(b"value")), &mut buffer);
        for length in 0..buffer.len() {
            assert!(decode(Revision(9), &buffer[..length]).is_err(), "{length}");
        }
        assert_eq!(decode(Revision(10), &buffer), Err(RecordError::Checksum));
    }
}
