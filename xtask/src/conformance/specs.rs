//! The list of specs: their full names, and for those that are left out the reason.

use anyhow::{Context, Result};
use serde_json::Value;

use crate::tree;

/// One end-to-end test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Spec {
    /// The texts of its containers and its own, as ginkgo joins them.
    pub(super) name: String,
    /// Why it does not apply here, if it does not.
    pub(super) left_out: Option<String>,
}

/// Reads the committed list.
pub(super) fn load() -> Result<Vec<Spec>> {
    let path = tree::folder("tests")?.join("conformance/specs.json");
    let text = std::fs::read_to_string(&path).context("cannot read the list of specs")?;
    let list: Vec<Value> = serde_json::from_str(&text).context("the list of specs is no list")?;
    list.iter().map(parse).collect()
}

fn parse(entry: &Value) -> Result<Spec> {
    let text = |field: &str| entry.get(field).and_then(Value::as_str).map(str::to_owned);
    Ok(Spec {
        name: text("name").context("a spec has no name")?,
        left_out: text("leftOut"),
    })
}

/// An expression for exactly the specs that apply.
pub(super) fn focus(specs: &[Spec]) -> String {
    let wanted = specs.iter().filter(|spec| spec.left_out.is_none());
    let names: Vec<String> = wanted.map(|spec| escaped(&spec.name)).collect();
    // The name of the suite stands before the spec's, so only the end is anchored.
    format!("(?:{})$", names.join("|"))
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if r"\.+*?()|[]{}^$".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_literally() {
        let spec = |name: &str, left_out: Option<&str>| Spec {
            name: name.into(),
            left_out: left_out.map(str::to_owned),
        };
        let specs = [
            spec("[a] b (c).", None),
            spec("not this", Some("why")),
            spec("d", None),
        ];
        assert_eq!(focus(&specs), r"(?:\[a\] b \(c\)\.|d)$");
    }
}
