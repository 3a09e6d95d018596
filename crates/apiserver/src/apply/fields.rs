//! `fieldsV1`: the JSON form of a [`Set`].

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::path::{PathElement, PathError};
use super::set::Set;
use super::value;

/// Why a `fieldsV1` value cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum FieldsError {
    /// A node of the tree is something else than an object.
    #[error("fieldsV1 holds {found} where an object belongs")]
    NotAnObject {
        /// What stands there, shortened to its type.
        found: &'static str,
    },
    /// A key of the tree is no path element.
    #[error("fieldsV1 has a malformed key")]
    Key(#[from] PathError),
}

impl Set {
    /// Reads a `fieldsV1` value.
    pub fn from_fields_v1(fields: &Value) -> Result<Set, FieldsError> {
        Ok(read(fields)?.0)
    }

    /// The `fieldsV1` value of this set.
    pub fn to_fields_v1(&self) -> Value {
        Value::Object(self.write_tree(false))
    }

    /// The `fieldsV1` text of this set, with its keys in canonical order: a [`Value`] sorts its
    /// keys as text, which puts `v:10` before `v:9`.
    pub fn to_fields_v1_text(&self) -> String {
        let mut out = String::new();
        self.write_text(false, &mut out);
        out
    }

    fn elements(&self) -> BTreeSet<&PathElement> {
        self.members.iter().chain(self.children.keys()).collect()
    }

    fn write_tree(&self, include_self: bool) -> Map<String, Value> {
        let mut out = Map::new();
        if include_self {
            out.insert(".".into(), Value::Object(Map::new()));
        }
        for element in self.elements() {
            let member = self.members.contains(element);
            let below = self.children.get(element);
            let node = below
                .map(|child| child.write_tree(member))
                .unwrap_or_default();
            out.insert(element.to_text(), Value::Object(node));
        }
        out
    }

    fn write_text(&self, include_self: bool, out: &mut String) {
        out.push('{');
        if include_self {
            out.push_str("\".\":{}");
        }
        for (i, element) in self.elements().into_iter().enumerate() {
            if i > 0 || include_self {
                out.push(',');
            }
            out.push_str(&value::go_json(&Value::String(element.to_text())));
            out.push(':');
            match self.children.get(element) {
                Some(child) => child.write_text(self.members.contains(element), out),
                None => out.push_str("{}"),
            }
        }
        out.push('}');
    }
}

/// The paths below a node, and whether the node itself is a member.
fn read(node: &Value) -> Result<(Set, bool), FieldsError> {
    let mut set = Set::new();
    let mut is_member = false;
    let empty = Map::new();
    let fields = match node {
        Value::Object(fields) => fields,
        Value::Null => &empty,
        other => {
            return Err(FieldsError::NotAnObject {
                found: type_name(other),
            });
        }
    };
    for (key, below) in fields {
        if key == "." {
            is_member = true;
            continue;
        }
        // An unknown type of element comes from a newer writer and is skipped, not refused.
        let Some(element) = PathElement::parse(key)? else {
            continue;
        };
        let (child, child_is_member) = read(below)?;
        if child_is_member {
            set.members.insert(element.clone());
        }
        if !child.is_empty() {
            set.children.insert(element, child);
        }
    }
    let is_leaf = set.is_empty();
    Ok((set, is_member || is_leaf))
}

/// Whether a `fieldsV1` value can be read, without making anything of it.
pub(super) fn check(node: &Value) -> Result<(), FieldsError> {
    let fields = match node {
        Value::Object(fields) => fields,
        Value::Null => return Ok(()),
        other => {
            return Err(FieldsError::NotAnObject {
                found: type_name(other),
            });
        }
    };
    for (key, below) in fields {
        if key == "." {
            continue;
        }
        // The name of a field can be anything; what else there is has to be read.
        let known = key.starts_with("f:") || PathElement::parse(key)?.is_some();
        if known {
            check(below)?;
        }
    }
    Ok(())
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
