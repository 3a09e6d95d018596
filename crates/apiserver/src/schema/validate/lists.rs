//! Uniqueness in lists of type `set` (items) and `map` (keys).

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::schema::path::Path;
use crate::schema::text::json_text;
use crate::schema::{FieldError, ListKind, Schema};

/// The duplicates anywhere below `value`.
pub(super) fn check(schema: &Schema, value: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    walk(schema, value, &Path::Root, &mut errors);
    errors
}

fn walk(schema: &Schema, value: &Value, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                if let Some(child) = schema.properties.get(key) {
                    walk(child, value, &Path::Field(path, key), errors);
                } else if let Some(child) = schema.map_value() {
                    walk(child, value, &Path::Key(path, key), errors);
                }
            }
        }
        Value::Array(items) => {
            match schema.list_kind() {
                ListKind::Atomic => {}
                ListKind::Set => duplicates(items, |index| items[index].clone(), path, errors),
                ListKind::Map(keys) => check_map(keys, items, path, errors),
            }
            if let Some(element) = schema.element() {
                for (index, item) in items.iter().enumerate() {
                    walk(element, item, &Path::Item(path, index), errors);
                }
            }
        }
        _ => {}
    }
}

fn check_map(keys: &[String], items: &[Value], path: &Path<'_>, errors: &mut Vec<FieldError>) {
    if let Some((index, item)) = items
        .iter()
        .enumerate()
        .find(|(_, item)| !item.is_null() && !item.is_object())
    {
        errors.push(FieldError::invalid(
            format!("{path}[{index}]"),
            item.clone(),
            "must be an object for an array of list-type map",
        ));
        return;
    }
    // An absent key is told apart from a null one by being absent here too.
    let identities: Vec<Value> = items
        .iter()
        .map(|item| {
            let identity: Map<String, Value> = keys
                .iter()
                .filter_map(|key| Some((key.clone(), item.get(key)?.clone())))
                .collect();
            Value::Object(identity)
        })
        .collect();
    duplicates(&identities, |index| identities[index].clone(), path, errors);
}

/// Reports each repeated value once, at its second appearance.
fn duplicates(
    items: &[Value],
    shown: impl Fn(usize) -> Value,
    path: &Path<'_>,
    errors: &mut Vec<FieldError>,
) {
    if items.len() < 2 {
        return;
    }
    let mut seen: HashMap<String, u32> = HashMap::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let times = seen.entry(json_text(item)).or_default();
        *times += 1;
        if *times == 2 {
            errors.push(FieldError::duplicate(
                format!("{path}[{index}]"),
                Some(shown(index)),
            ));
        }
    }
}
