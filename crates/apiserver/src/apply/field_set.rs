//! The set of fields that an object states: what an apply of it would own.

use std::collections::BTreeSet;

use serde_json::Value;

use super::item::item_element;
use super::path::PathElement;
use super::set::Set;
use super::shape::{ListKind, Shape};

/// Every leaf, every list item, every entry of a map, and every empty object of `value`.
pub(super) fn field_set(shape: Shape<'_>, value: &Value) -> Set {
    let mut walker = Walker {
        set: Set::new(),
        path: Vec::new(),
    };
    walker.visit(shape, value);
    walker.set
}

struct Walker {
    set: Set,
    path: Vec<PathElement>,
}

impl Walker {
    fn insert_here(&mut self) {
        self.set.insert(&self.path);
    }

    fn visit(&mut self, shape: Shape<'_>, value: &Value) {
        let kinds = shape.kinds().narrow(Some(value));
        if kinds.map {
            match value {
                _ if shape.map_is_atomic() => self.insert_here(),
                Value::Object(fields) => {
                    for (name, field) in fields {
                        self.visit_field(shape, name, field);
                    }
                }
                _ => {}
            }
        } else if kinds.scalar.is_some() {
            self.insert_here();
        } else if kinds.list {
            match value {
                _ if shape.list_kind() == ListKind::Atomic => self.insert_here(),
                Value::Array(items) => self.visit_items(shape, items),
                _ => {}
            }
        }
    }

    fn visit_field(&mut self, shape: Shape<'_>, name: &str, field: &Value) {
        let named = shape.named_field(name);
        self.path.push(PathElement::field(name));
        self.visit(named.unwrap_or_else(|| shape.child(name)), field);
        let empty = field.is_null() || field.as_object().is_some_and(|fields| fields.is_empty());
        // An entry of a map is there because someone put it there; a named field is there
        // because of what is in it.
        if empty || named.is_none() {
            self.insert_here();
        }
        self.path.pop();
    }

    fn visit_items(&mut self, shape: Shape<'_>, items: &[Value]) {
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
        for (element, item) in elements.iter().zip(items) {
            let Some(element) = element else { continue };
            self.path.push(element.clone());
            // Repeated items are owned together, as one.
            if !repeated.contains(element) {
                self.visit(shape.item(), item);
            }
            self.insert_here();
            self.path.pop();
        }
    }
}
