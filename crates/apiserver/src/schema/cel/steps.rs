//! The functions that expanded macros call; see [`super::macros`]. No rule can name them.

use std::collections::HashMap;
use std::sync::Arc;

use kube_cel::cel::extractors::This;
use kube_cel::cel::objects::{Key, Map};
use kube_cel::cel::{Context, ExecutionError, Value};

type Result = std::result::Result<Value, ExecutionError>;

/// Teaches the interpreter these functions.
pub(super) fn register(library: &mut Context<'static>) {
    library.add_function("@pairs", pairs);
    library.add_function("@mapInsert", insert);
    library.add_function("@mapMerge", merge);
    library.add_function("@sortByAssociatedKeys", sort);
}

fn refuse(name: &str, why: &str) -> ExecutionError {
    ExecutionError::function_error(name, why)
}

/// The entries of a list or map, each as a list of key and value.
fn pairs(of: Value) -> Result {
    let pair = |key: Value, value: &Value| Value::List(Arc::new(vec![key, value.clone()]));
    let pairs = match &of {
        Value::List(items) => {
            let index = |at: usize| Value::Int(i64::try_from(at).unwrap_or(i64::MAX));
            let all = items.iter().enumerate();
            all.map(|(at, item)| pair(index(at), item)).collect()
        }
        Value::Map(map) => map
            .map
            .iter()
            .map(|(key, value)| pair(key_value(key), value))
            .collect(),
        _ => return Err(ExecutionError::NoSuchOverload),
    };
    Ok(Value::List(Arc::new(pairs)))
}

fn key_value(key: &Key) -> Value {
    match key {
        Key::Int(number) => Value::Int(*number),
        Key::Uint(number) => Value::UInt(*number),
        Key::Bool(yes) => Value::Bool(*yes),
        Key::String(text) => Value::String(text.clone()),
    }
}

/// A map with one more entry, whose key must be new.
fn insert(map: Value, key: Value, value: Value) -> Result {
    let key = match key {
        Value::Int(number) => Key::Int(number),
        Value::UInt(number) => Key::Uint(number),
        Value::Bool(yes) => Key::Bool(yes),
        Value::String(text) => Key::String(text),
        _ => return Err(ExecutionError::NoSuchOverload),
    };
    with_entries(map, [(key, value)])
}

/// A map with the entries of another, whose keys must be new.
fn merge(map: Value, other: Value) -> Result {
    let Value::Map(other) = other else {
        return Err(ExecutionError::NoSuchOverload);
    };
    let entries = other.map.iter();
    with_entries(
        map,
        entries.map(|(key, value)| (key.clone(), value.clone())),
    )
}

fn with_entries(map: Value, more: impl IntoIterator<Item = (Key, Value)>) -> Result {
    let Value::Map(map) = map else {
        return Err(ExecutionError::NoSuchOverload);
    };
    let mut entries: HashMap<Key, Value> = map.map.as_ref().clone();
    for (key, value) in more {
        if entries.insert(key, value).is_some() {
            return Err(refuse("insert", "insert failed: key already exists"));
        }
    }
    let map = Arc::new(entries);
    Ok(Value::Map(Map { map }))
}

/// A list in the order of the keys that were made of its items.
fn sort(This(list): This<Arc<Vec<Value>>>, keys: Arc<Vec<Value>>) -> Result {
    let mut order: Vec<usize> = (0..list.len().min(keys.len())).collect();
    let comparable = keys
        .windows(2)
        .all(|two| two[0].partial_cmp(&two[1]).is_some());
    if !comparable {
        return Err(refuse("sortBy", "list elements must have the same type"));
    }
    order.sort_by(|one, other| {
        let compared = keys[*one].partial_cmp(&keys[*other]);
        compared.unwrap_or(std::cmp::Ordering::Equal)
    });
    let sorted = order.into_iter().map(|at| list[at].clone()).collect();
    Ok(Value::List(Arc::new(sorted)))
}
