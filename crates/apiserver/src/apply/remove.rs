//! Taking a set of fields out of an object, or everything but them.

use serde_json::{Map, Value};

use super::item::item_element;
use super::path::PathElement;
use super::set::Set;
use super::shape::{ListKind, Shape};

/// The value without these fields and items; what stays but loses all that is in it is null,
/// which a field set counts as a field.
pub(super) fn remove_items(shape: Shape<'_>, value: &Value, items: &Set) -> Value {
    remove(shape, value, items, Emptied::Null)
}

/// As [`remove_items`], but what loses all that is in it is an empty object or list, unless it is
/// nullable, or null is what was stated for it.
///
/// The reference implementation leaves null everywhere, which its server later drops with the
/// whole field unless that is nullable: an apply of `spec: {}` would then lose a required `spec`,
/// and never come to rest.
pub(super) fn remove_items_but_keep(
    shape: Shape<'_>,
    value: &Value,
    items: &Set,
    stated: &Value,
) -> Value {
    remove(shape, value, items, Emptied::Unless(Some(stated)))
}

/// What becomes of an object or list that loses all that is in it.
#[derive(Clone, Copy)]
enum Emptied<'v> {
    /// Null.
    Null,
    /// Empty, unless it is nullable or this value is null.
    Unless(Option<&'v Value>),
}

impl<'v> Emptied<'v> {
    fn below(self, list: Shape<'_>, element: &PathElement) -> Emptied<'v> {
        let Self::Unless(stated) = self else {
            return self;
        };
        let child = match (stated, element) {
            (Some(Value::Object(fields)), PathElement::Field(name)) => fields.get(&**name),
            (Some(Value::Array(items)), _) => items
                .iter()
                .find(|item| item_element(list, item).as_ref() == Ok(element)),
            _ => None,
        };
        Self::Unless(child)
    }

    fn or_null(self, shape: Shape<'_>, empty: Value) -> Value {
        match self {
            Self::Null | Self::Unless(Some(Value::Null)) => Value::Null,
            Self::Unless(_) if shape.is_nullable() => Value::Null,
            Self::Unless(_) => empty,
        }
    }
}

fn remove(shape: Shape<'_>, value: &Value, items: &Set, emptied: Emptied<'_>) -> Value {
    let keep = |element: &PathElement, child: Shape<'_>, value: &Value| {
        if items.has(std::slice::from_ref(element)) {
            return None;
        }
        Some(match items.with_prefix(element) {
            Some(below) => remove(child, value, below, emptied.below(shape, element)),
            None => value.clone(),
        })
    };
    let kinds = shape.kinds().narrow(Some(value));
    if kinds.map {
        let Value::Object(fields) = value else {
            return Value::Null;
        };
        if shape.map_is_atomic() {
            return Value::Null;
        }
        let kept = fields.iter().filter_map(|(name, field)| {
            let left = keep(&PathElement::field(name.as_str()), shape.child(name), field)?;
            Some((name.clone(), left))
        });
        let kept: Map<_, _> = kept.collect();
        if kept.is_empty() {
            emptied.or_null(shape, Value::Object(kept))
        } else {
            Value::Object(kept)
        }
    } else if kinds.scalar.is_some() {
        value.clone()
    } else {
        let Value::Array(list) = value else {
            return Value::Null;
        };
        if shape.list_kind() == ListKind::Atomic {
            return Value::Null;
        }
        let kept = list
            .iter()
            .filter_map(|item| match item_element(shape, item) {
                Ok(element) => keep(&element, shape.item(), item),
                Err(_) => Some(item.clone()),
            });
        let kept: Vec<_> = kept.collect();
        if kept.is_empty() {
            emptied.or_null(shape, Value::Array(kept))
        } else {
            Value::Array(kept)
        }
    }
}

/// The value with these fields and items alone; null when there are none.
///
/// Of a path and a longer one below it only the longer one counts.
pub(super) fn extract_items(shape: Shape<'_>, value: &Value, items: &Set) -> Value {
    let take =
        |element: &PathElement, shape: Shape<'_>, value: &Value| match items.with_prefix(element) {
            Some(below) => Some(extract_items(shape, value, below)),
            None => items
                .has(std::slice::from_ref(element))
                .then(|| value.clone()),
        };
    match value {
        Value::Object(fields) if !shape.map_is_atomic() => {
            let taken = fields.iter().filter_map(|(name, field)| {
                Some((
                    name.clone(),
                    take(&PathElement::field(name.as_str()), shape.child(name), field)?,
                ))
            });
            let taken: Map<_, _> = taken.collect();
            if taken.is_empty() {
                Value::Null
            } else {
                Value::Object(taken)
            }
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
            if taken.is_empty() {
                Value::Null
            } else {
                Value::Array(taken)
            }
        }
        other => other.clone(),
    }
}
