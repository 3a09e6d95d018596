//! What one call costs at most, function by function, and how large its result can be.

use kube_cel::cel::common::ast::{Expr, LiteralValue};

use super::estimate::{Estimator, Operand};
use super::size::{Size, priced};
use super::types::{Opaque, Type};

/// What looking at one character costs, and what a character of a regular expression costs.
const CHARACTER: f64 = 0.1;
const PATTERN: f64 = 0.25;

/// The price of a call with its arguments, and the size of what comes out where that is known.
pub(super) struct Price {
    pub(super) cost: u64,
    pub(super) size: Option<Size>,
}

impl Price {
    fn of(cost: u64) -> Self {
        Self { cost, size: None }
    }

    fn giving(cost: u64, size: Size) -> Self {
        Self {
            cost,
            size: Some(size),
        }
    }

    /// Of several ways to read a call, the dearest.
    fn or(self, other: Self) -> Self {
        Self {
            cost: self.cost.max(other.cost),
            size: match (self.size, other.size) {
                (Some(one), Some(other)) => Some(one.or(other)),
                (one, other) => one.or(other),
            },
        }
    }
}

fn size(operand: &Operand<'_, '_>) -> Size {
    operand.size.unwrap_or(Size::UNKNOWN)
}

impl<'a> Estimator<'_, 'a> {
    pub(super) fn price(
        &self,
        name: &str,
        target: Option<&Operand<'_, 'a>>,
        args: &[Operand<'_, 'a>],
        costs: &[u64],
    ) -> Price {
        let together = costs
            .iter()
            .fold(0_u64, |sum, cost| sum.saturating_add(*cost));
        match (name, costs) {
            // One of the sides may never be looked at, but the dearest case counts.
            ("_&&_" | "_||_", _) => return Price::of(together),
            ("_?_:_", [condition, yes, no]) => {
                let cost = condition.saturating_add(*yes.max(no));
                let size = size(&args[1]).or(size(&args[2]));
                return Price::giving(cost, size);
            }
            _ => {}
        }
        let mut price = match target {
            Some(target) => self.member(name, target, args),
            None => function(name, args),
        };
        price.cost = price.cost.saturating_add(together);
        price
    }

    fn member(&self, name: &str, target: &Operand<'_, 'a>, args: &[Operand<'_, 'a>]) -> Price {
        let own = size(target);
        let read = own.priced(CHARACTER);
        let searched = |pattern: &Operand<'_, '_>| {
            let text = own.plus(Size::exactly(1)).priced(CHARACTER);
            text.saturating_mul(size(pattern).priced(PATTERN))
        };
        match (name, args) {
            ("isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf", _) => {
                Price::of(match target.ty {
                    Type::List { .. } => {
                        let each = match target.ty.element() {
                            Type::Text | Type::Bytes => self.item_size(target).priced(CHARACTER),
                            _ => 0,
                        };
                        own.most.saturating_mul(each.saturating_add(1))
                    }
                    _ => read,
                })
            }
            ("lowerAscii" | "upperAscii" | "substring" | "trim", _) => Price::giving(read, own),
            ("replace", [from, to, ..]) => {
                let cost = own.priced(2.0 * CHARACTER);
                Price::giving(cost, replaced(own, size(from), size(to)))
            }
            ("split", _) => {
                let most = args.get(1).and_then(whole_number).unwrap_or(own.most);
                let size = Size { least: 0, most };
                Price::giving(own.priced(2.0 * CHARACTER), size)
            }
            ("join", _) => {
                let joined = self.joined(target, args.first());
                Price::giving(joined.priced(CHARACTER), joined)
            }
            ("find" | "findAll", [pattern, ..]) => {
                let size = Size {
                    least: 0,
                    most: own.most,
                };
                Price::giving(searched(pattern), size)
            }
            ("matches", [pattern]) => Price::of(searched(pattern)),
            ("contains", [part]) => Price::of(read.saturating_mul(size(part).priced(CHARACTER))),
            ("startsWith" | "endsWith", [part]) => Price::of(size(part).priced(CHARACTER)),
            ("format", [_]) => Price::of(read),
            ("containsIP" | "containsCIDR", [other]) => {
                let (addresses, more) = if name == "containsIP" {
                    (32, 0)
                } else {
                    (32, 3)
                };
                let text = match other.ty {
                    Type::Opaque(_) => 0,
                    _ => size(other).priced(CHARACTER),
                };
                let cost = priced(addresses, CHARACTER) + more;
                Price::of(cost.saturating_add(text))
            }
            ("validate", [text]) => {
                Price::of(priced(size(text).priced(CHARACTER), 128.0 * PATTERN))
            }
            ("slice", [from, to]) => {
                let from = whole_number(from).unwrap_or(0);
                let to = whole_number(to).unwrap_or(own.most);
                list(1.0, Size::exactly(to.wrapping_sub(from)))
            }
            ("reverse", []) => list(1.0, own),
            ("flatten", []) => list(1.0, own),
            #[allow(clippy::cast_precision_loss, reason = "upstream computes in doubles")]
            ("flatten", [depth]) => list(whole_number(depth).unwrap_or(u64::MAX) as f64, own),
            ("distinct", []) => list(2.0, own.times(own)),
            ("sort", []) => sorted(own, target.ty.element()),
            ("@sortByAssociatedKeys", [keys]) => sorted(size(keys), keys.ty.element()),
            _ => Price::of(1),
        }
    }

    fn joined(&self, list: &Operand<'_, 'a>, separator: Option<&Operand<'_, 'a>>) -> Size {
        let length = size(list);
        let items = match list.ty {
            Type::List { .. } => length.times(self.item_size(list)),
            _ => Size::exactly(0),
        };
        let Some(separator) = separator else {
            return items;
        };
        let between = Size {
            least: length.least.saturating_sub(1),
            most: length.most.saturating_sub(1),
        };
        items.plus(size(separator).times(between))
    }
}

fn function(name: &str, args: &[Operand<'_, '_>]) -> Price {
    let of_first = |price: f64| Price::of(args.first().map_or(1, |arg| size(arg).priced(price)));
    match (name, args) {
        ("url", [text]) => Price::giving(size(text).priced(CHARACTER), size(text)),
        (
            "cidr" | "ip" | "isIP" | "isCIDR" | "quantity" | "isQuantity" | "semver" | "isSemver",
            [_, ..],
        ) => of_first(CHARACTER),
        ("ip.isCanonical", [_, ..]) => of_first(2.0 * CHARACTER),
        ("strings.quote", [text]) => {
            let size = size(text);
            let quoted = Size {
                least: size.least.wrapping_add(2),
                most: size.most.wrapping_mul(2).wrapping_add(2),
            };
            Price::giving(size.priced(CHARACTER), quoted)
        }
        ("sets.contains" | "sets.intersects" | "sets.equivalent", [one, other]) => {
            let price = if name == "sets.equivalent" { 2.0 } else { 1.0 };
            let cost = size(one).times(size(other)).priced(price);
            Price::of(cost.saturating_add(1))
        }
        ("lists.range", [end]) => list(1.0, Size::exactly(whole_number(end).unwrap_or(u64::MAX))),
        ("bytes", [text]) if text.ty.may_be(Type::Text) => {
            let from = size(text);
            let made = Size {
                least: from.least,
                most: from.most.wrapping_mul(4),
            };
            Price::giving(from.priced(CHARACTER), made)
        }
        ("string", [bytes]) if bytes.ty.may_be(Type::Bytes) => {
            let from = size(bytes);
            let made = Size {
                least: from.least / 4,
                most: from.most,
            };
            Price::giving(from.priced(CHARACTER), made)
        }
        ("@in", [_, container]) => {
            let in_list = Price::of(size(container).most);
            match container.ty {
                Type::List { .. } => in_list,
                Type::Dyn => in_list.or(Price::of(1)),
                _ => Price::of(1),
            }
        }
        ("_+_", [left, right]) => added(left, right),
        ("_<_" | "_<=_" | "_>_" | "_>=_", [left, right]) => {
            let both = |ty| left.ty.may_be(ty) && right.ty.may_be(ty);
            if both(Type::Text) || both(Type::Bytes) {
                compared(left, right)
            } else {
                Price::of(1)
            }
        }
        ("_==_", [left, right]) => match (left.ty, right.ty) {
            (Type::Opaque(Opaque::Url), Type::Opaque(Opaque::Url)) => {
                let most = right.size.map_or(1, |size| size.most);
                Price::of(priced(most, CHARACTER))
            }
            (Type::Opaque(Opaque::Format), Type::Opaque(Opaque::Format)) => {
                Price::of(priced(64, CHARACTER))
            }
            (Type::Opaque(one), Type::Opaque(other)) if one == other => Price::of(1),
            _ => compared(left, right),
        },
        ("_!=_", [left, right]) => compared(left, right),
        _ => Price::of(1),
    }
}

fn compared(left: &Operand<'_, '_>, right: &Operand<'_, '_>) -> Price {
    Price::of(priced(size(left).most.min(size(right).most), CHARACTER))
}

fn added(left: &Operand<'_, '_>, right: &Operand<'_, '_>) -> Price {
    let both = |ty| left.ty.may_be(ty) && right.ty.may_be(ty);
    let sum = size(left).plus(size(right));
    let text =
        (both(Type::Text) || both(Type::Bytes)).then(|| Price::giving(sum.priced(CHARACTER), sum));
    let lists = both(Type::LIST).then(|| Price::giving(1, sum));
    let prices = [text, lists].into_iter().flatten();
    prices.reduce(Price::or).unwrap_or(Price::of(1))
}

/// A call that makes a list.
fn list(price: f64, size: Size) -> Price {
    let cost = size.priced(price).saturating_add(1).saturating_add(10);
    Price::giving(cost, size)
}

fn sorted(size: Size, items: Type<'_>) -> Price {
    let price = match items {
        Type::Text | Type::Bytes => 2.0 + CHARACTER,
        _ => 2.0,
    };
    list(price, size.times(size))
}

#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "upstream computes in doubles"
)]
fn replaced(own: Size, from: Size, to: Size) -> Size {
    let ways = |size: u64, part: u64| (size as f64 / part as f64).ceil() as u64;
    // The longest: the shortest part gives way to the longest.
    let (times, kept) = if from.least == 0 {
        (own.most.saturating_add(1), own.most)
    } else if to.most <= from.least {
        (0, own.most)
    } else {
        (ways(own.most, from.least), 0)
    };
    let most = times.saturating_mul(to.most).saturating_add(kept);
    let (times, kept) = if from.most == 0 {
        (own.least.saturating_add(1), own.least)
    } else if from.most <= to.least {
        (0, own.least)
    } else {
        (ways(own.least, from.most), 0)
    };
    let least = times.saturating_mul(to.least).saturating_add(kept);
    Size { least, most }
}

/// The value of an argument that is a plain number.
fn whole_number(operand: &Operand<'_, '_>) -> Option<u64> {
    match &operand.expression.expr {
        Expr::Literal(LiteralValue::Int(number)) => u64::try_from(*number.inner()).ok(),
        _ => None,
    }
}
