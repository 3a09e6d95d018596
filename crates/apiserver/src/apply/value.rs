//! How field paths order, compare and print the JSON values inside them.
//!
//! Two numbers are equal when their values are (`1` and `1.0`), unlike in `serde_json`, and the
//! text forms follow the reference implementation to the letter, since clients compare them.

use std::cmp::Ordering;
use std::fmt::Write as _;

use serde_json::{Number, Value};

/// A total order over JSON values: numbers, strings, booleans, lists, maps, null.
pub(crate) fn compare(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::Number(l), Value::Number(r)) => compare_numbers(l, r),
        (Value::String(l), Value::String(r)) => l.cmp(r),
        (Value::Bool(l), Value::Bool(r)) => l.cmp(r),
        (Value::Array(l), Value::Array(r)) => {
            let unequal = l.iter().zip(r).map(|(a, b)| compare(a, b));
            first_difference(unequal).unwrap_or_else(|| l.len().cmp(&r.len()))
        }
        (Value::Object(l), Value::Object(r)) => {
            let pairs = l.iter().zip(r);
            let unequal =
                pairs.map(|((lk, lv), (rk, rv))| lk.cmp(rk).then_with(|| compare(lv, rv)));
            first_difference(unequal).unwrap_or_else(|| l.len().cmp(&r.len()))
        }
        _ => rank(left).cmp(&rank(right)),
    }
}

/// Whether two values are the same to a field manager.
pub(crate) fn same(left: &Value, right: &Value) -> bool {
    compare(left, right) == Ordering::Equal
}

fn first_difference(mut orders: impl Iterator<Item = Ordering>) -> Option<Ordering> {
    orders.find(|order| order.is_ne())
}

fn rank(value: &Value) -> u8 {
    match value {
        Value::Number(_) => 0,
        Value::String(_) => 1,
        Value::Bool(_) => 2,
        Value::Array(_) => 3,
        Value::Object(_) => 4,
        Value::Null => 5,
    }
}

fn compare_numbers(left: &Number, right: &Number) -> Ordering {
    match (left.as_i64(), right.as_i64()) {
        (Some(l), Some(r)) => l.cmp(&r),
        _ => as_float(left).total_cmp(&as_float(right)),
    }
}

fn as_float(number: &Number) -> f64 {
    // Adding zero folds the negative zero into the positive one, which `total_cmp` tells apart.
    number.as_f64().unwrap_or_default() + 0.0
}

/// The form used in paths shown to people: strings quoted, everything else bare.
pub(crate) fn display(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(b) => b.to_string(),
        Value::Number(n) => number_text(n),
        Value::String(s) => quote(s),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(display).collect();
            format!("[{}]", items.join(","))
        }
        Value::Object(fields) => {
            let fields = fields.iter().map(|(k, v)| format!("{k}={}", display(v)));
            fields.collect()
        }
    }
}

/// A string in double quotes, with the escapes that Go's `%q` uses.
pub(crate) fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\u{b}' => out.push_str("\\v"),
            c if c.is_ascii_control() => push(&mut out, format_args!("\\x{:02x}", u32::from(c))),
            c if c.is_control() => push(&mut out, format_args!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Compact JSON with sorted keys, as Go's encoder writes it.
pub(crate) fn go_json(value: &Value) -> String {
    crate::schema::json_text(value)
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a `String` cannot fail.
    let _ = out.write_fmt(text);
}

fn number_text(number: &Number) -> String {
    match (number.as_i64(), number.as_f64()) {
        (None, Some(f)) if (1e-6..1e21).contains(&f.abs()) || f == 0.0 => format!("{f}"),
        _ => number.to_string(),
    }
}
