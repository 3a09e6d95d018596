//! Taking a set of fields out of an object, or everything but them.

use serde_json::{Map, Value};

use super::item::item_element;
use super::path::PathElement;
use super::set::Set;
use super::shape::{ListKind, Shape};

/// The value without these fields and items; null when nothing is left of it.
pub(super) fn remove_items(shape: Shape<'_>, value: &Value, items: &Set) -> Value {
    let kinds = shape.kinds().narrow(Some(value));
    if kinds.map {
        let Value::Object(fields) = value else { return Value::Null };
        if shape.map_is_atomic() {
            return Value::Null;
        }
        let kept = fields.iter().filter_map(|(name, field)| {
            let element = PathElement::field(name);
            let left = keep(items, &element, shape.child(name), field)?;
            Some((name.clone(), left))
        });
        let kept: Map<_, _> = kept.collect();
        if kept.is_empty() { Value::Null } else { Value::Object(kept) }
    } else if kinds.scalar.is_some() {
        value.clone()
    } else {
        let Value::Array(list) = value else { return Value::Null };
        if shape.list_kind() == ListKind::Atomic {
            return Value::Null;
        }
        let kept = list.iter().filter_map(|item| match item_element(shape, item) {
            Ok(element) => keep(items, &element, shape.item(), item),
            Err(_) => Some(item.clone()),
        });
        let kept: Vec<_> = kept.collect();
        if kept.is_empty() { Value::Null } else { Value::Array(kept) }
    }
}

fn keep(items: &Set, element: &PathElement, shape: Shape<'_>, value: &Value) -> Option<Value> {
    if items.has(std::slice::from_ref(element)) {
        return None;
    }
    Some(match items.with_prefix(element) {
        Some(below) => remove_items(shape, value, below),
        None => value.clone(),
    })
}

/// The value with these fields and items alone; null when there are none.
///
/// Of a path and a longer one below it only the longer one counts.
pub(super) fn extract_items(shape: Shape<'_>, value: &Value, items: &Set) -> Value {
    let take = |element: &PathElement, shape: Shape<'_>, value: &Value| match items.with_prefix(element) {
        Some(below) => Some(extract_items(shape, value, below)),
        None => items.has(std::slice::from_ref(element)).then(|| value.clone()),
    };
    match value {
        Value::Object(fields) if !shape.map_is_atomic() => {
            let taken = fields.iter().filter_map(|(name, field)| {
                Some((name.clone(), take(&PathElement::field(name), shape.child(name), field)?))
            });
            let taken: Map<_, _> = taken.collect();
            if taken.is_empty() { Value::Null } else { Value::Object(taken) }
        }
        Value::Array(list) if shape.list_kind() != ListKind::Atomic => {
            let taken = list.iter().filter_map(|item| {
                let element = item_element(shape, item).ok()?;
                let mut taken = take(&element, shape.item(), item)?;
                // Without its key an item could not be told from its neighbours.
                if let (PathElement::Key(key), Value::Object(fields)) = (element, &mut taken) {
                    for (name, value) in key {
                        fields.entry(name).or_insert(value);
                    }
                }
                Some(taken)
            });
            let taken: Vec<_> = taken.collect();
            if taken.is_empty() { Value::Null } else { Value::Array(taken) }
        }
        other => other.clone(),
    }
}
