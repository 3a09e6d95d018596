//! Which path element stands for an item of a list that merges item by item.

use serde_json::Value;

use super::path::PathElement;
use super::shape::{ListKind, Shape};

/// Why an item has no path element.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum ItemError {
    #[error("a list that merges by value holds a map, a list or null")]
    NotAScalar,
    #[error("a list that merges by key holds something else than an object")]
    NotAnObject,
    #[error("associative list with keys has an element that omits all key fields {} (and doesn't have default values for any key fields)", .0.join(", "))]
    NoKey(Vec<String>),
    #[error("the list is atomic")]
    Atomic,
}

/// The element that selects `item` in a list of this shape.
pub(super) fn item_element(list: Shape<'_>, item: &Value) -> Result<PathElement, ItemError> {
    let keys = match list.list_kind() {
        ListKind::Atomic => return Err(ItemError::Atomic),
        ListKind::Set => {
            return match item {
                Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                    Ok(PathElement::Value(item.clone()))
                }
                Value::Null | Value::Array(_) | Value::Object(_) => Err(ItemError::NotAScalar),
            };
        }
        ListKind::Map(keys) => keys,
    };
    let Value::Object(fields) = item else {
        return Err(ItemError::NotAnObject);
    };
    let shape = list.item();
    // A key that is neither given nor defaulted is left out: the item then differs from one
    // where it is given.
    let known = keys.iter().filter_map(|key| {
        let value = fields.get(key).or_else(|| shape.key_default(key))?;
        Some((key.clone(), value.clone()))
    });
    let known: Vec<_> = known.collect();
    if known.is_empty() {
        return Err(ItemError::NoKey(keys.to_vec()));
    }
    Ok(PathElement::key(known))
}
