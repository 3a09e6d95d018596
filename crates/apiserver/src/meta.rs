//! Reading and writing the parts that every Kubernetes object has, on plain JSON values.
//! Objects are trusted to be JSON objects; what is absent or of a wrong type reads as absent.

use serde_json::{Map, Value};

/// The string at `metadata.<field>`, or nothing.
pub(crate) fn text<'a>(object: &'a Value, field: &str) -> &'a str {
    object
        .get("metadata")
        .and_then(|m| m.get(field))
        .and_then(Value::as_str)
        .unwrap_or("")
}

/// The object's name.
pub(crate) fn name(object: &Value) -> &str {
    text(object, "name")
}

/// The object's namespace; empty for a cluster-scoped one.
pub(crate) fn namespace(object: &Value) -> &str {
    text(object, "namespace")
}

/// The object's UID.
pub(crate) fn uid(object: &Value) -> &str {
    text(object, "uid")
}

/// `metadata.generation`, 0 when there is none.
pub(crate) fn generation(object: &Value) -> i64 {
    object
        .pointer("/metadata/generation")
        .and_then(Value::as_i64)
        .unwrap_or(0)
}

/// Whether deletion was asked for.
pub(crate) fn is_deleting(object: &Value) -> bool {
    !text(object, "deletionTimestamp").is_empty()
}

/// The finalizers in `metadata.finalizers`.
pub(crate) fn finalizers(object: &Value) -> Vec<&str> {
    strings(object.pointer("/metadata/finalizers"))
}

/// The strings of a JSON list, in order.
pub(crate) fn strings(list: Option<&Value>) -> Vec<&str> {
    list.and_then(Value::as_array)
        .map(|l| l.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default()
}

/// The metadata of an object, made when it is missing or of a wrong type.
pub(crate) fn metadata_mut(object: &mut Value) -> &mut Map<String, Value> {
    child_mut(object, "metadata")
}

/// The object under `field`, made when it is missing or of a wrong type.
pub(crate) fn child_mut<'a>(object: &'a mut Value, field: &str) -> &'a mut Map<String, Value> {
    let map = as_map(object);
    as_map(
        map.entry(field)
            .or_insert_with(|| Value::Object(Map::new())),
    )
}

/// The value as a map, made one when it is not.
pub(crate) fn as_map(value: &mut Value) -> &mut Map<String, Value> {
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    match value {
        Value::Object(map) => map,
        _ => unreachable!("the value was just made an object"),
    }
}

/// Sets or removes `metadata.<field>` so that `object` has there what `from` has.
pub(crate) fn copy(object: &mut Value, from: &Value, field: &str) {
    match from.get("metadata").and_then(|m| m.get(field)) {
        Some(value) => {
            metadata_mut(object).insert(field.into(), value.clone());
        }
        None => {
            metadata_mut(object).remove(field);
        }
    }
}

/// A copy of an object without its managed fields, which are often the larger half.
pub(crate) fn clone_without_managers(object: &Value, kept: impl Fn(&str) -> bool) -> Value {
    let Some(fields) = object.as_object() else {
        return object.clone();
    };
    let copy = |(name, value): (&String, &Value)| match value {
        Value::Object(metadata) if name == "metadata" => {
            let kept = metadata.iter().filter(|(name, _)| *name != "managedFields");
            let kept = kept.map(|(name, value)| (name.clone(), value.clone()));
            (name.clone(), Value::Object(kept.collect()))
        }
        _ => (name.clone(), value.clone()),
    };
    let fields = fields.iter().filter(|(name, _)| kept(name));
    Value::Object(fields.map(copy).collect())
}

/// Sets or removes a top-level field so that `object` has there what `from` has.
pub(crate) fn copy_field(object: &mut Value, from: &Value, field: &str) {
    let map = as_map(object);
    match from.get(field) {
        Some(value) => {
            map.insert(field.into(), value.clone());
        }
        None => {
            map.remove(field);
        }
    }
}

/// Removes one finalizer, and the list with the last one.
pub(crate) fn remove_finalizer(object: &mut Value, finalizer: &str) {
    let metadata = metadata_mut(object);
    if let Some(Value::Array(list)) = metadata.get_mut("finalizers") {
        list.retain(|f| f.as_str() != Some(finalizer));
        if list.is_empty() {
            metadata.remove("finalizers");
        }
    }
}

/// Adds one finalizer unless it is there.
pub(crate) fn add_finalizer(object: &mut Value, finalizer: &str) {
    if finalizers(object).contains(&finalizer) {
        return;
    }
    let list = metadata_mut(object)
        .entry("finalizers")
        .or_insert_with(|| Value::Array(Vec::new()));
    if let Value::Array(list) = list {
        list.push(finalizer.into());
    }
}

/// The value at a dotted path such as `.spec.replicas` or `spec.replicas`.
pub(crate) fn at_path<'a>(object: &'a Value, path: &str) -> Option<&'a Value> {
    path.trim_start_matches('.')
        .split('.')
        .try_fold(object, |value, part| value.get(part))
}

/// The current second in the form that Kubernetes writes times in.
pub(crate) fn now() -> String {
    time(jiff::Timestamp::now())
}

/// A moment in the form that Kubernetes writes times in.
pub(crate) fn time(moment: jiff::Timestamp) -> String {
    moment.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// What Go's reader calls a value of this JSON type.
pub(crate) fn json_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// A field of an object as text; empty when it is not.
pub(crate) fn string<'a>(object: &'a Value, field: &str) -> &'a str {
    object
        .get(field)
        .and_then(Value::as_str)
        .unwrap_or_default()
}
