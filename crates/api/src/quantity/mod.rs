//! Kubernetes quantities as exact numbers.
//!
//! A quantity is kept as a whole count of nano-units, which is the finest step that Kubernetes
//! knows, so that nothing is rounded on the way between `4Gi`, bytes and a platform's own unit.

use std::fmt;
use std::str::FromStr;

mod suffix;
#[cfg(test)]
mod tests;
mod value;

use suffix::{BINARY, DECIMAL, Scale};
pub(crate) use value::MAX_LENGTH;
pub use value::QuantityValue;

/// Nano-units in one unit.
const NANO: i128 = 1_000_000_000;

/// Most decimal places and powers of ten that are worth reading; beyond, the number cannot fit.
const MAX_EXPONENT: i32 = 40;

/// Why a text is not the quantity that was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuantityError {
    /// The text is no quantity at all.
    #[error(
        "{value:?} is not a Kubernetes quantity; write a number with an optional suffix \
         (Ki, Mi, Gi, Ti, Pi, Ei or n, u, m, k, M, G, T, P, E), such as 4Gi"
    )]
    Malformed {
        /// The text as it was given.
        value: String,
    },
    /// The number does not fit.
    #[error("{value:?} is too large for a quantity; it must stay below 8Ei")]
    TooLarge {
        /// The text as it was given.
        value: String,
    },
    /// A whole number of bytes was asked for.
    #[error(
        "{value} is not a whole number of bytes that is zero or more; write it as, for example, 4Gi"
    )]
    NotBytes {
        /// The quantity in its shortest form.
        value: String,
    },
}

/// An exact number of units, such as bytes or CPUs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Quantity {
    nanos: i128,
}

impl Quantity {
    /// The quantity of so many bytes.
    pub const fn from_bytes(bytes: u64) -> Self {
        Self {
            nanos: bytes as i128 * NANO,
        }
    }

    /// The quantity of so many thousandths.
    pub const fn from_milli(milli: i64) -> Self {
        Self {
            nanos: milli as i128 * (NANO / 1000),
        }
    }

    /// The quantity in bytes, if it is a whole number of them.
    pub fn bytes(self) -> Result<u64, QuantityError> {
        let not_bytes = || QuantityError::NotBytes {
            value: self.to_string(),
        };
        if self.nanos % NANO != 0 {
            return Err(not_bytes());
        }
        u64::try_from(self.nanos / NANO).map_err(|_| not_bytes())
    }

    /// The quantity in thousandths, rounded up as Kubernetes does.
    pub const fn milli(self) -> i128 {
        let step = NANO / 1000;
        let whole = self.nanos / step;
        if self.nanos > 0 && self.nanos % step != 0 {
            whole + 1
        } else {
            whole
        }
    }
}

/// Reads a quantity in bytes, such as `4Gi`.
pub fn parse_bytes(value: &str) -> Result<u64, QuantityError> {
    value.parse::<Quantity>()?.bytes()
}

impl FromStr for Quantity {
    type Err = QuantityError;

    fn from_str(value: &str) -> Result<Self, Self::Err> {
        let malformed = || QuantityError::Malformed {
            value: value.to_owned(),
        };
        let (negative, unsigned) = match value.as_bytes().first() {
            Some(b'-') => (true, &value[1..]),
            Some(b'+') => (false, &value[1..]),
            _ => (false, value),
        };
        let number_end = unsigned
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(unsigned.len());
        let (number, suffix) = unsigned.split_at(number_end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if fraction.contains('.') || (whole.is_empty() && fraction.is_empty()) {
            return Err(malformed());
        }
        let scale = suffix::parse(suffix).ok_or_else(malformed)?;
        let nanos = to_nanos(whole, fraction, scale)
            .filter(|nanos| *nanos <= i128::from(i64::MAX) * NANO)
            .ok_or_else(|| QuantityError::TooLarge {
                value: value.to_owned(),
            })?;
        Ok(Self {
            nanos: if negative { -nanos } else { nanos },
        })
    }
}

/// The number in nano-units, rounded up where it is finer than that; `None` when it does not fit.
fn to_nanos(whole: &str, fraction: &str, scale: Scale) -> Option<i128> {
    let fraction = fraction.trim_end_matches('0');
    let digits = format!("{whole}{fraction}");
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() {
        return Some(0);
    }
    let mantissa: i128 = digits.parse().ok()?;
    let exponent = scale.power_of_ten + 9 - i32::try_from(fraction.len()).ok()?;
    let scaled = mantissa.checked_mul(scale.multiplier)?;
    if exponent > MAX_EXPONENT {
        return None;
    }
    if exponent >= 0 {
        return scaled.checked_mul(10_i128.checked_pow(exponent.unsigned_abs())?);
    }
    match 10_i128.checked_pow(exponent.unsigned_abs()) {
        Some(divisor) => Some(scaled / divisor + i128::from(scaled % divisor != 0)),
        // The divisor is larger than any number that fits, so what is left rounds up to one nano.
        None => Some(1),
    }
}

impl fmt::Display for Quantity {
    /// Writes the shortest exact form: a binary suffix where it divides evenly, else a decimal one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.nanos == 0 {
            return f.pad("0");
        }
        let exact = |(_, nanos): &&(&str, i128)| self.nanos % nanos == 0;
        let (suffix, nanos) = BINARY
            .iter()
            .find(exact)
            .or_else(|| DECIMAL.iter().find(exact))
            .copied()
            .unwrap_or(("n", 1));
        f.pad(&format!("{}{suffix}", self.nanos / nanos))
    }
}
