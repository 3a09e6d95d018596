//! Which part of the old object is the same part of the new one, and whether it changed.
//!
//! An update must not be refused for what it leaves as it was, so both the checks of values and
//! the rules ask here. Fields go together by their names, items of `map` lists by their keys;
//! items of other lists do not go together at all.

use serde_json::Value;

use super::{ListKind, Schema};

/// The old value of a field that both objects have.
pub(super) fn field<'a>(old: Option<&'a Value>, name: &str) -> Option<&'a Value> {
    old.and_then(|old| old.get(name))
}

/// The item of the old list that is the same one: only `map` lists can tell.
pub(super) fn item<'a>(list: &Schema, old: Option<&'a Value>, item: &Value) -> Option<&'a Value> {
    let ListKind::Map(keys) = list.list_kind() else {
        return None;
    };
    // Without its keys an item is nobody's.
    if !keys.iter().any(|key| item.get(key).is_some()) {
        return None;
    }
    old?.as_array()?
        .iter()
        .find(|old| keys.iter().all(|key| old.get(key) == item.get(key)))
}

/// Whether a value is what it was; the order of a `map` list does not count.
pub(super) fn is_unchanged(schema: Option<&Schema>, new: &Value, old: &Value) -> bool {
    match (new, old) {
        (Value::Object(new), Value::Object(old)) => {
            new.len() == old.len()
                && new.iter().all(|(key, new)| {
                    old.get(key).is_some_and(|old| {
                        is_unchanged(schema.and_then(|s| s.child(key)), new, old)
                    })
                })
        }
        (Value::Array(new), Value::Array(olds)) => {
            let by_keys = schema.filter(|s| matches!(s.list_kind(), ListKind::Map(_)));
            let Some(list) = by_keys else {
                return new == olds;
            };
            new.len() == olds.len()
                && new.iter().all(|one| {
                    item(list, Some(old), one)
                        .is_some_and(|old| is_unchanged(list.element(), one, old))
                })
        }
        _ => new == old,
    }
}
