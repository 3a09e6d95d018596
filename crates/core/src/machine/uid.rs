//! The UID of an object in sixteen bytes, for whoever keeps something of each of many objects.

/// Stands for the UID of an object. Nearly every UID is the text of a UUID, and is its number here; what
/// else there may be is told apart by a sum of 128 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Uid(u128);

impl Uid {
    /// Reads a UID.
    pub fn of(text: &str) -> Uid {
        Uid(number(text).unwrap_or_else(|| sum(text)))
    }
}

/// The number of a UUID in its usual form: 32 digits, with hyphens after 8, 12, 16 and 20 of them.
fn number(text: &str) -> Option<u128> {
    let bytes = text.as_bytes();
    if bytes.len() != 36 {
        return None;
    }
    let mut number = 0;
    for (at, byte) in bytes.iter().enumerate() {
        let digit = match (at, byte) {
            (8 | 13 | 18 | 23, b'-') => continue,
            (8 | 13 | 18 | 23, _) => return None,
            // Capitals would be another UID, and the same number.
            (_, b'0'..=b'9') => byte - b'0',
            (_, b'a'..=b'f') => byte - b'a' + 10,
            _ => return None,
        };
        number = number << 4 | u128::from(digit);
    }
    Some(number)
}

/// FNV-1a.
fn sum(text: &str) -> u128 {
    const BEGIN: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    let add = |sum: u128, byte: u8| (sum ^ u128::from(byte)).wrapping_mul(PRIME);
    text.bytes().fold(BEGIN, add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_texts_are_different_uids() {
        let texts = [
            "00000000-0000-0000-0000-000000000001",
            "00000000-0000-0000-0000-00000000000a",
            "00000000-0000-0000-0000-00000000000A",
            "10000000-0000-0000-0000-000000000000",
            "0000000000000-0000-0000-000000000001",
            "00000000-0000-0000-0000-0000000000001",
            "",
            "a",
            "b",
            "uid-1",
            "uid-2",
        ];
        for (at, one) in texts.iter().enumerate() {
            assert_eq!(Uid::of(one), Uid::of(one));
            for other in &texts[..at] {
                assert_ne!(Uid::of(one), Uid::of(other), "{one:?} and {other:?}");
            }
        }
        let number = Uid::of("123e4567-e89b-42d3-a456-426614174000");
        assert_eq!(number, Uid(0x123e_4567_e89b_42d3_a456_4266_1417_4000));
    }
}
