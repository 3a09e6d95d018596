//! The set of fields that an object states: what an apply of it would own.

use std::collections::BTreeSet;

use serde_json::Value;

use super::item::item_element;
use super::path::PathElement;
use super::set::Set;
use super::shape::{ListKind, Shape};

/// Every leaf, every list item, every entry of a map, and every empty object of `value`.
pub(super) fn field_set(shape: Shape<'_>, value: &Value) -> Set {
    below(shape, value).0
}

/// The fields below a node, and whether the node itself is one of them.
fn below(shape: Shape<'_>, value: &Value) -> (Set, bool) {
    let kinds = shape.kinds().narrow(Some(value));
    let itself = (Set::new(), true);
    if kinds.map {
        match value {
            _ if shape.map_is_atomic() => itself,
            Value::Object(fields) => {
                let mut set = Set::new();
                for (name, field) in fields {
                    add_field(&mut set, shape, name, field);
                }
                (set, false)
            }
            _ => (Set::new(), false),
        }
    } else if kinds.scalar.is_some() {
        itself
    } else if kinds.list {
        match value {
            _ if shape.list_kind() == ListKind::Atomic => itself,
            Value::Array(items) => (of_items(shape, items), false),
            _ => (Set::new(), false),
        }
    } else {
        (Set::new(), false)
    }
}

fn add_field(set: &mut Set, shape: Shape<'_>, name: &str, field: &Value) {
    let named = shape.named_field(name);
    let (children, is_field) = below(named.unwrap_or_else(|| shape.child(name)), field);
    let empty = field.is_null() || field.as_object().is_some_and(|fields| fields.is_empty());
    // An entry of a map is there because someone put it there; a named field is there because of
    // what is in it.
    let is_member = is_field || empty || named.is_none();
    set.add_below(PathElement::field(name), children, is_member);
}

fn of_items(shape: Shape<'_>, items: &[Value]) -> Set {
    let elements: Vec<_> = items
        .iter()
        .map(|item| item_element(shape, item).ok())
        .collect();
    let mut seen = BTreeSet::new();
    let mut repeated = BTreeSet::new();
    for element in elements.iter().flatten() {
        if !seen.insert(element) {
            repeated.insert(element);
        }
    }
    let mut set = Set::new();
    for (element, item) in elements.iter().zip(items) {
        let Some(element) = element else { continue };
        // Repeated items are owned together, as one.
        let children = match repeated.contains(element) {
            true => Set::new(),
            false => below(shape.item(), item).0,
        };
        set.add_below(element.clone(), children, true);
    }
    set
}
