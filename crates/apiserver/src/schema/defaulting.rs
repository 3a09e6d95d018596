//! Structural defaulting: absent fields take the schema's default, and nulls that the schema
//! does not allow are dropped or replaced by it.

use serde_json::Value;

use super::Schema;

/// Fills in defaults, also inside defaulted objects, list items and map values.
///
/// A null where null is no value of its own counts as absent: it takes the default if there
/// is one and is dropped otherwise. Null items of lists stay, for validation to refuse.
pub fn default(schema: &Schema, object: &mut Value) {
    drop_nulls(Some(schema), object);
    fill(schema, object);
}

/// Whether null is here only a way of saying nothing.
fn is_meaningless_null(schema: &Schema, value: &Value) -> bool {
    value.is_null() && !schema.nullable
}

fn drop_nulls(schema: Option<&Schema>, value: &mut Value) {
    match value {
        Value::Object(map) => map.retain(|field, value| {
            let child = schema.and_then(|schema| schema.child(field));
            let drop = child
                .is_some_and(|child| is_meaningless_null(child, value) && child.default.is_none());
            if !drop {
                drop_nulls(child, value);
            }
            !drop
        }),
        Value::Array(items) => {
            let element = schema.and_then(Schema::element);
            for item in items {
                drop_nulls(element, item);
            }
        }
        _ => {}
    }
}

fn fill(schema: &Schema, value: &mut Value) {
    match value {
        Value::Object(map) => {
            for (field, child) in &schema.properties {
                let Some(default) = &child.default else {
                    continue;
                };
                if map
                    .get(field)
                    .is_none_or(|value| is_meaningless_null(child, value))
                {
                    map.insert(field.clone(), clean(child, default));
                }
            }
            for (field, value) in map.iter_mut() {
                if let Some(child) = schema.child(field) {
                    fill_null(child, value);
                    fill(child, value);
                }
            }
        }
        Value::Array(items) => {
            if let Some(element) = schema.element() {
                for item in items {
                    fill_null(element, item);
                    fill(element, item);
                }
            }
        }
        _ => {}
    }
}

fn fill_null(schema: &Schema, value: &mut Value) {
    if let Some(default) = schema
        .default
        .as_ref()
        .filter(|_| is_meaningless_null(schema, value))
    {
        *value = clean(schema, default);
    }
}

/// The default of a node as it is stored where the field is absent, with the defaults inside it.
pub(super) fn filled(schema: &Schema) -> Option<Value> {
    let mut value = clean(schema, schema.default.as_ref()?);
    fill_null(schema, &mut value);
    fill(schema, &mut value);
    Some(value)
}

/// A default as it may be stored: without the nulls that a stored object would not have.
fn clean(schema: &Schema, default: &Value) -> Value {
    let mut value = default.clone();
    drop_nulls(Some(schema), &mut value);
    value
}
