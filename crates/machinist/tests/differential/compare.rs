//! Where two answers differ, and which of the differences are meant to be.

use std::{collections::BTreeSet, fmt};

use serde_json::Value;

use crate::{exchange::Answer, scenario::Known};

/// One place where the answers differ.
#[derive(Debug, PartialEq)]
pub struct Difference {
    /// Such as `code`, `header.warning` or `body.items[0].metadata`.
    pub at: String,
    pub real: Option<Value>,
    pub embedded: Option<Value>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show = |value: &Option<Value>| match value {
            Some(value) => value.to_string(),
            None => "(absent)".to_owned(),
        };
        writeln!(f, "    {}", self.at)?;
        writeln!(f, "      real:     {}", show(&self.real))?;
        writeln!(f, "      embedded: {}", show(&self.embedded))
    }
}

/// Every difference of two masked answers.
pub fn differences(real: &Answer, embedded: &Answer) -> Vec<Difference> {
    let mut found = Vec::new();
    compare("code", &real.code.into(), &embedded.code.into(), &mut found);
    if !found.is_empty() {
        // Two outcomes have nothing else in common either.
        return found;
    }
    let names: BTreeSet<&String> = real.headers.keys().chain(embedded.headers.keys()).collect();
    for name in names {
        let values = |answer: &Answer| answer.headers.get(name).cloned().map(Value::from);
        optional(
            &format!("header.{name}"),
            values(real).as_ref(),
            values(embedded).as_ref(),
            &mut found,
        );
    }
    match (real.bodies.as_slice(), embedded.bodies.as_slice()) {
        ([real], [embedded]) => compare("body", real, embedded, &mut found),
        (real, embedded) => list("event", real, embedded, &mut found),
    }
    found
}

fn compare(at: &str, real: &Value, embedded: &Value, found: &mut Vec<Difference>) {
    match (real, embedded) {
        (Value::Object(left), Value::Object(right)) => {
            let names: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
            for name in names {
                let at = format!("{at}.{name}");
                optional(&at, left.get(name), right.get(name), found);
            }
        }
        (Value::Array(left), Value::Array(right)) => list(at, left, right, found),
        (real, embedded) if real == embedded => {}
        (real, embedded) => optional_differs(at, Some(real), Some(embedded), found),
    }
}

fn list(at: &str, real: &[Value], embedded: &[Value], found: &mut Vec<Difference>) {
    for index in 0..real.len().max(embedded.len()) {
        let at = format!("{at}[{index}]");
        optional(&at, real.get(index), embedded.get(index), found);
    }
}

fn optional(at: &str, real: Option<&Value>, embedded: Option<&Value>, found: &mut Vec<Difference>) {
    match (real, embedded) {
        (Some(real), Some(embedded)) => compare(at, real, embedded, found),
        (None, None) => {}
        (real, embedded) => optional_differs(at, real, embedded, found),
    }
}

fn optional_differs(
    at: &str,
    real: Option<&Value>,
    embedded: Option<&Value>,
    found: &mut Vec<Difference>,
) {
    found.push(Difference {
        at: at.to_owned(),
        real: real.cloned(),
        embedded: embedded.cloned(),
    });
}

impl Known {
    /// Whether a difference is this one, or below it.
    pub fn covers(&self, difference: &Difference) -> bool {
        let mut parts = difference.at.split('.');
        self.at.split('.').all(|wanted| match parts.next() {
            Some(_) if wanted == "*" => true,
            Some(part) => part == wanted || part.split('[').next() == Some(wanted),
            None => false,
        })
    }
}
