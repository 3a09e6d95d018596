//! The suffixes of a quantity.

use super::{MAX_EXPONENT, NANO};

/// What a suffix multiplies a number by: a whole factor, and a power of ten that may be negative.
#[derive(Clone, Copy)]
pub(super) struct Scale {
    pub(super) multiplier: i128,
    pub(super) power_of_ten: i32,
}

/// Binary suffixes with their size in nano-units, the largest first.
pub(super) const BINARY: &[(&str, i128)] = &[
    ("Ei", (1 << 60) * NANO),
    ("Pi", (1 << 50) * NANO),
    ("Ti", (1 << 40) * NANO),
    ("Gi", (1 << 30) * NANO),
    ("Mi", (1 << 20) * NANO),
    ("Ki", (1 << 10) * NANO),
];

/// Decimal suffixes with their size in nano-units, the largest first.
pub(super) const DECIMAL: &[(&str, i128)] = &[
    ("E", 1_000_000_000_000_000_000 * NANO),
    ("P", 1_000_000_000_000_000 * NANO),
    ("T", 1_000_000_000_000 * NANO),
    ("G", 1_000_000_000 * NANO),
    ("M", 1_000_000 * NANO),
    ("k", 1_000 * NANO),
    ("", NANO),
    ("m", 1_000_000),
    ("u", 1_000),
    ("n", 1),
];

/// The scale that a suffix stands for, or `None` when it is no suffix.
pub(super) fn parse(suffix: &str) -> Option<Scale> {
    if let Some((_, nanos)) = BINARY.iter().find(|(name, _)| *name == suffix) {
        return Some(Scale {
            multiplier: nanos / NANO,
            power_of_ten: 0,
        });
    }
    let power_of_ten = match suffix {
        "n" => -9,
        "u" => -6,
        "m" => -3,
        "" => 0,
        "k" => 3,
        "M" => 6,
        "G" => 9,
        "T" => 12,
        "P" => 15,
        "E" => 18,
        _ => exponent(suffix)?,
    };
    Some(Scale {
        multiplier: 1,
        power_of_ten,
    })
}

/// A decimal exponent such as `e3` or `E-2`.
fn exponent(suffix: &str) -> Option<i32> {
    let digits = suffix.strip_prefix(['e', 'E'])?;
    let unsigned = digits.strip_prefix(['+', '-']).unwrap_or(digits);
    if unsigned.is_empty() || !unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // An exponent that is out of any sensible range saturates, and the caller reports it as too large.
    let limit = 2 * MAX_EXPONENT;
    Some(digits.parse::<i32>().map_or(
        if digits.starts_with('-') {
            -limit
        } else {
            limit
        },
        |power| power.clamp(-limit, limit),
    ))
}
