//! How many elements values have, and what that makes of a price for each.

use kube_cel::cel::IdedExpr;
use kube_cel::cel::common::ast::{Expr, LiteralValue};

/// How many elements a value has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) least: u64,
    pub(super) most: u64,
}

impl Size {
    pub(super) const UNKNOWN: Self = Self {
        least: 0,
        most: u64::MAX,
    };

    pub(super) const fn exactly(size: u64) -> Self {
        Self {
            least: size,
            most: size,
        }
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            least: self.least.saturating_add(other.least),
            most: self.most.saturating_add(other.most),
        }
    }

    pub(super) fn times(self, other: Self) -> Self {
        Self {
            least: self.least.saturating_mul(other.least),
            most: self.most.saturating_mul(other.most),
        }
    }

    pub(super) fn or(self, other: Self) -> Self {
        Self {
            least: self.least.min(other.least),
            most: self.most.max(other.most),
        }
    }

    /// The size of what is in something that has nothing in it yet, or that stays so.
    pub(super) fn nothing(stays: bool) -> Self {
        Self {
            least: if stays { 0 } else { u64::MAX },
            most: 0,
        }
    }

    /// What the longest costs by this price for an element.
    pub(super) fn priced(self, price: f64) -> u64 {
        priced(self.most, price)
    }
}

/// A size by a price, rounded up.
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "upstream computes in doubles, and a conversion of too much gives the largest number"
)]
pub(super) fn priced(size: u64, price: f64) -> u64 {
    (size as f64 * price).ceil() as u64
}

/// The sizes of what is in a list or map.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entries {
    pub(super) list: bool,
    pub(super) keys: Size,
    pub(super) values: Size,
}

impl Entries {
    /// What is in either of two, where both are known.
    pub(super) fn or(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        let (one, other) = (one?, other?);
        Some(Self {
            list: one.list,
            keys: one.keys.or(other.keys),
            values: one.values.or(other.values),
        })
    }
}

/// The size of what is written out.
pub(super) fn literal_size(expression: &IdedExpr) -> Option<Size> {
    let size = match &expression.expr {
        Expr::Literal(LiteralValue::String(text)) => text.inner().chars().count() as u64,
        Expr::Literal(LiteralValue::Bytes(bytes)) => bytes.inner().len() as u64,
        Expr::Literal(_) => 1,
        Expr::List(list) => list.elements.len() as u64,
        Expr::Map(map) => map.entries.len() as u64,
        _ => return None,
    };
    Some(Size::exactly(size))
}
