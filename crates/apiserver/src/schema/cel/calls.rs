//! The types of operators and functions: what a call gives, and whether its operands fit.

use kube_cel::cel::common::ast::{CallExpr, Expr, LiteralValue};

use super::check::{Fault, fault, field};
use super::types::{Item, Opaque, Type};

/// The type of a call.
pub(super) fn operation<'a>(
    name: &str,
    target: Option<Type<'a>>,
    args: &[Type<'a>],
    call: &CallExpr,
) -> Result<Type<'a>, Fault> {
    let unfit = || {
        let names: Vec<String> = args.iter().map(|t| t.name()).collect();
        let applied = match target {
            None => format!("({})", names.join(", ")),
            Some(target) => format!("{}.({})", target.name(), names.join(", ")),
        };
        fault(
            format!("found no matching overload for '{name}' applied to '{applied}'"),
            symbol(name),
        )
    };
    Ok(match (name, target, args) {
        ("_&&_" | "_||_", None, args) => {
            if let Some(wrong) = args.iter().find(|t| !t.fits(Type::Bool)) {
                let what = format!("expected type 'bool' but found '{}'", wrong.name());
                return Err(fault(what, "."));
            }
            Type::Bool
        }
        ("!_", None, [one]) if one.fits(Type::Bool) => Type::Bool,
        ("@not_strictly_false", ..) => Type::Bool,
        ("_==_" | "_!=_", None, [left, right]) if left.fits(*right) => Type::Bool,
        ("_<_" | "_<=_" | "_>_" | "_>=_", None, [left, right]) => {
            let ordered = !matches!(left, Type::List { .. } | Type::Map { .. } | Type::Null);
            if (left.is_number() && right.is_number()) || (left.fits(*right) && ordered) {
                Type::Bool
            } else {
                return Err(unfit());
            }
        }
        ("_+_" | "_-_" | "_*_" | "_/_" | "_%_", None, [left, right]) => {
            arithmetic(name, *left, *right).ok_or_else(unfit)?
        }
        ("-_", None, [one]) if is_loose(*one) || one.is_number() || *one == Type::Duration => *one,
        ("_?_:_", None, [condition, yes, no]) => {
            if !condition.fits(Type::Bool) || !yes.fits(*no) {
                return Err(unfit());
            }
            either(*yes, *no)
        }
        ("_[_]", None, [container, index]) => match *container {
            Type::List { .. } if index.fits(Type::Int) || index.is_number() => container.element(),
            Type::Map { .. } if index.fits(Type::Text) => container.element(),
            // An object is a map to those who take it for one.
            Type::Dyn | Type::Optional { .. } | Type::Object { .. } | Type::Metadata => Type::Dyn,
            _ => return Err(unfit()),
        },
        ("_[?_]", None, [container, ..]) => {
            let of = Item::from(present(*container).element());
            Type::Optional { of }
        }
        ("_?._", None, [operand, ..]) => match call.args.get(1).map(|a| &a.expr) {
            Some(Expr::Literal(LiteralValue::String(name))) => {
                let of = Item::from(field(present(*operand), name.inner())?);
                Type::Optional { of }
            }
            _ => Type::Optional { of: Item::Unknown },
        },
        ("@in", None, [item, container]) => match *container {
            Type::List { .. } if item.fits(container.element()) => Type::Bool,
            Type::Map { .. } if item.fits(Type::Text) => Type::Bool,
            Type::Dyn | Type::Optional { .. } | Type::Object { .. } => Type::Bool,
            _ => return Err(unfit()),
        },
        ("startsWith" | "endsWith" | "contains" | "matches", Some(target), [arg]) => {
            if !target.fits(Type::Text) || !arg.fits(Type::Text) {
                return Err(unfit());
            }
            Type::Bool
        }
        // Other than the libraries that others have, this one reverses lists alone.
        ("reverse", Some(Type::Text), _) => return Err(unfit()),
        // And it takes the sign of a quantity as `sign(q)`.
        ("sign", Some(_), _) => return Err(unfit()),
        ("@mapInsert", None, [map, ..]) => match (*map, args.get(2)) {
            (Type::Map { values }, Some(value)) => Type::Map {
                values: values.or(Item::from(*value)),
            },
            (map, _) => map,
        },
        ("@mapMerge", None, [map, other]) => either(*map, *other),
        (operator, None, _) if operator.contains('_') && !operator.starts_with('@') => {
            return Err(unfit());
        }
        _ => function(name, target, args),
    })
}

fn is_loose(ty: Type<'_>) -> bool {
    matches!(ty, Type::Dyn | Type::Optional { .. })
}

/// What is there, of what may be absent.
fn present(ty: Type<'_>) -> Type<'_> {
    match ty {
        Type::Optional { .. } => ty.element(),
        ty => ty,
    }
}

fn arithmetic<'a>(name: &str, left: Type<'a>, right: Type<'a>) -> Option<Type<'a>> {
    Some(match (left, right) {
        (a, b) if is_loose(a) || is_loose(b) => {
            let known = if is_loose(a) { b } else { a };
            // A dynamic operand takes the type of the other, where only one is possible.
            let follows = matches!(known, Type::Text | Type::Bytes | Type::List { .. });
            if known.is_number() || follows {
                known
            } else {
                Type::Dyn
            }
        }
        (a, b) if a.is_number() && a.fits(b) => a,
        (Type::Timestamp, Type::Timestamp) if name == "_-_" => Type::Duration,
        (Type::Timestamp, Type::Duration) if name != "_*_" => Type::Timestamp,
        (Type::Duration, ty @ (Type::Duration | Type::Timestamp)) => ty,
        (ty @ (Type::Text | Type::Bytes), other) if name == "_+_" && ty == other => ty,
        (Type::List { items }, Type::List { items: other }) if name == "_+_" => Type::List {
            items: items.or(other),
        },
        _ => return None,
    })
}

/// The type of one of two values, which fit.
fn either<'a>(yes: Type<'a>, no: Type<'a>) -> Type<'a> {
    match (yes, no) {
        (Type::Dyn | Type::Null, other) => other,
        // Of what is still empty and what is not, the second has the better type.
        (Type::List { items }, Type::List { items: other }) => Type::List {
            items: items.or(other),
        },
        (Type::Map { values }, Type::Map { values: other }) => Type::Map {
            values: values.or(other),
        },
        (Type::Optional { of }, Type::Optional { of: other }) => {
            Type::Optional { of: of.or(other) }
        }
        (yes, _) => yes,
    }
}

/// The type that a function gives.
fn function<'a>(name: &str, target: Option<Type<'a>>, args: &[Type<'a>]) -> Type<'a> {
    let own = target.unwrap_or(Type::Dyn);
    match name {
        "size" | "int" | "indexOf" | "lastIndexOf" | "family" | "prefixLength" | "sign"
        | "asInteger" | "compareTo" | "major" | "minor" | "patch" | "getFullYear" | "getMonth"
        | "getDayOfYear" | "getDayOfMonth" | "getDate" | "getDayOfWeek" | "getHours"
        | "getMinutes" | "getSeconds" | "getMilliseconds" => Type::Int,
        "double" | "asApproximateFloat" => Type::Double,
        "uint" => Type::Uint,
        "bool"
        | "hasValue"
        | "isSorted"
        | "isIP"
        | "isCIDR"
        | "isURL"
        | "isQuantity"
        | "isSemver"
        | "isInteger"
        | "isGreaterThan"
        | "isLessThan"
        | "containsIP"
        | "containsCIDR"
        | "isUnspecified"
        | "isLoopback"
        | "isLinkLocalMulticast"
        | "isLinkLocalUnicast"
        | "isGlobalUnicast"
        | "matches" => Type::Bool,
        "string" | "lowerAscii" | "upperAscii" | "trim" | "substring" | "replace" | "join"
        | "charAt" | "format" | "find" | "getScheme" | "getHost" | "getHostname" | "getPort"
        | "getEscapedPath" => Type::Text,
        "bytes" => Type::Bytes,
        "split" | "findAll" => Type::List {
            items: Item::from(Type::Text),
        },
        "getQuery" => Type::Map {
            values: Item::from(Type::LIST),
        },
        "duration" => Type::Duration,
        "timestamp" => Type::Timestamp,
        "quantity" | "add" | "sub" => Type::Opaque(Opaque::Quantity),
        "ip" => Type::Opaque(Opaque::Ip),
        "cidr" | "masked" => Type::Opaque(Opaque::Cidr),
        "url" => Type::Opaque(Opaque::Url),
        "semver" => Type::Opaque(Opaque::Semver),
        "validate" => Type::Optional {
            of: Item::from(Type::LIST),
        },
        "sum" | "min" | "max" | "value" => own.element(),
        "orValue" => match own.element() {
            Type::Dyn => args.first().copied().unwrap_or(Type::Dyn),
            known => known,
        },
        "or" | "sort" | "reverse" | "slice" | "distinct" | "@sortByAssociatedKeys" => own,
        "first" | "last" => Type::Optional {
            of: Item::from(own.element()),
        },
        "flatten" => Type::LIST,
        _ => Type::Dyn,
    }
}

/// The type that a function of a namespace gives.
pub(super) fn of_space<'a>(name: &str, args: &[Type<'a>]) -> Type<'a> {
    let first = args.first().copied().unwrap_or(Type::Dyn);
    match name {
        "optional.of" | "optional.ofNonZeroValue" => Type::Optional {
            of: Item::from(first),
        },
        "optional.none" => Type::Optional { of: Item::Unknown },
        "ip.isCanonical" | "sets.contains" | "sets.equivalent" | "sets.intersects" => Type::Bool,
        "lists.range" => Type::List {
            items: Item::from(Type::Int),
        },
        "strings.quote" => Type::Text,
        "format.named" => Type::Optional {
            of: Item::from(Type::Opaque(Opaque::Format)),
        },
        name if name.starts_with("format.") => Type::Opaque(Opaque::Format),
        _ => Type::Dyn,
    }
}

/// How an operator looks in the text.
fn symbol(name: &str) -> String {
    match name {
        "_?_:_" => "?".into(),
        "_[_]" => "[".into(),
        "@in" => "in".into(),
        name => name.trim_matches('_').to_owned(),
    }
}
