//! JSON as CEL values, typed by the schema: a `number` is always a double, a `date-time` a
//! timestamp, and the fields of an object go by their escaped names.

use std::collections::HashMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kube_cel::cel;
use kube_cel::cel::objects::{Key, Map};
use serde_json::Value;

use super::escape::escape;
use crate::schema::{Schema, format};

/// A value as rules at its node see it; `whole_object` adds type and object metadata.
pub(super) fn to_cel(value: &Value, schema: &Schema, whole_object: bool) -> cel::Value {
    match value {
        Value::Array(items) => {
            let element = schema.element();
            list(items.iter().map(|item| match element {
                Some(element) => to_cel(item, element, element.embedded_resource),
                None => untyped(item),
            }))
        }
        Value::Object(fields) => {
            let mut map = HashMap::with_capacity(fields.len());
            for (name, value) in fields {
                if let Some(child) = schema.properties.get(name) {
                    // Root metadata is what every rule may see of it, whatever the schema says.
                    if !(whole_object && name == "metadata") {
                        insert(
                            &mut map,
                            escape(name),
                            to_cel(value, child, child.embedded_resource),
                        );
                    }
                } else if let Some(child) = schema.map_value() {
                    // The keys of a map are data, so they are not escaped.
                    let value = to_cel(value, child, child.embedded_resource);
                    insert(&mut map, Some(name.clone()), value);
                } else if schema.preserve_unknown_fields && !whole_object {
                    insert(&mut map, escape(name), untyped(value));
                }
            }
            if whole_object {
                for name in ["apiVersion", "kind"] {
                    if let Some(value) = fields.get(name) {
                        insert(&mut map, Some(name.into()), untyped(value));
                    }
                }
                if let Some(metadata) = fields.get("metadata") {
                    insert(
                        &mut map,
                        Some("metadata".into()),
                        visible_metadata(metadata),
                    );
                }
            }
            map_of(map)
        }
        Value::String(text) => typed_string(text, schema),
        Value::Number(number) if schema.ty.as_deref() == Some("number") => {
            cel::Value::Float(number.as_f64().unwrap_or(f64::NAN))
        }
        other => untyped(other),
    }
}

/// Rules may see the names of an object and nothing else of its metadata.
fn visible_metadata(metadata: &Value) -> cel::Value {
    let mut map = HashMap::new();
    for name in ["name", "generateName"] {
        if let Some(value) = metadata.get(name) {
            insert(&mut map, Some(name.into()), untyped(value));
        }
    }
    map_of(map)
}

fn typed_string(text: &str, schema: &Schema) -> cel::Value {
    let plain = || cel::Value::String(Arc::new(text.to_string()));
    let Some(format) = format::effective(schema).filter(|_| !schema.int_or_string) else {
        return plain();
    };
    // A text that does not parse stays a text: the rule then fails on its type.
    match &*format::without_dashes(format) {
        "datetime" => cel::functions::timestamp(Arc::new(text.to_uppercase())).ok(),
        "date" => cel::functions::timestamp(Arc::new(format!("{text}T00:00:00Z"))).ok(),
        "duration" => cel::functions::duration(Arc::new(text.to_string())).ok(),
        "byte" => STANDARD
            .decode(text)
            .ok()
            .map(|bytes| cel::Value::Bytes(Arc::new(bytes))),
        _ => None,
    }
    .unwrap_or_else(plain)
}

/// A value whose fields go by their own names, as expressions without a schema see it.
pub(super) fn dynamic(value: &Value) -> cel::Value {
    match value {
        Value::Array(items) => list(items.iter().map(dynamic)),
        Value::Object(fields) => {
            let mut map = HashMap::with_capacity(fields.len());
            for (name, value) in fields {
                insert(&mut map, Some(name.clone()), dynamic(value));
            }
            map_of(map)
        }
        scalar => untyped(scalar),
    }
}

/// A value without a schema.
fn untyped(value: &Value) -> cel::Value {
    match value {
        Value::Null => cel::Value::Null,
        Value::Bool(flag) => cel::Value::Bool(*flag),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => cel::Value::Int(whole),
            #[allow(
                clippy::cast_possible_truncation,
                reason = "the guard leaves only floats that are integers within 2^53"
            )]
            (None, Some(float)) if float.fract() == 0.0 && float.abs() < 9.0e15 => {
                cel::Value::Int(float as i64)
            }
            (None, float) => cel::Value::Float(float.unwrap_or(f64::NAN)),
        },
        Value::String(text) => cel::Value::String(Arc::new(text.clone())),
        Value::Array(items) => list(items.iter().map(untyped)),
        Value::Object(fields) => {
            let mut map = HashMap::with_capacity(fields.len());
            for (name, value) in fields {
                insert(&mut map, escape(name), untyped(value));
            }
            map_of(map)
        }
    }
}

fn insert(map: &mut HashMap<Key, cel::Value>, name: Option<String>, value: cel::Value) {
    if let Some(name) = name {
        map.insert(Key::String(Arc::new(name)), value);
    }
}

fn list(items: impl Iterator<Item = cel::Value>) -> cel::Value {
    cel::Value::List(Arc::new(items.collect()))
}

fn map_of(map: HashMap<Key, cel::Value>) -> cel::Value {
    cel::Value::Map(Map { map: Arc::new(map) })
}
