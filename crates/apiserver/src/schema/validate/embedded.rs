//! Objects inside objects: each must say its version and kind.

use serde_json::Value;

use crate::schema::path::Path;
use crate::schema::{FieldError, Schema};

pub(super) fn check(schema: &Schema, value: &Value, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    match value {
        Value::Object(map) => {
            if schema.embedded_resource {
                for field in ["apiVersion", "kind"] {
                    let path = Path::Field(path, field).to_string();
                    check_type_field(field, map.get(field), &path, errors);
                }
            }
            for (key, value) in map {
                if let Some(child) = schema.properties.get(key) {
                    check(child, value, &Path::Field(path, key), errors);
                } else if let Some(child) = schema.map_value() {
                    check(child, value, &Path::Key(path, key), errors);
                }
            }
        }
        Value::Array(items) => {
            if let Some(element) = schema.element() {
                for (index, item) in items.iter().enumerate() {
                    check(element, item, &Path::Item(path, index), errors);
                }
            }
        }
        _ => {}
    }
}

fn check_type_field(field: &str, value: Option<&Value>, path: &str, errors: &mut Vec<FieldError>) {
    match value {
        None => errors.push(FieldError::required(path, "")),
        Some(Value::String(text)) if text.is_empty() => {
            errors.push(FieldError::invalid(path, "", "must not be empty"));
        }
        Some(Value::String(text)) if field == "apiVersion" => {
            if text.matches('/').count() > 1 {
                errors.push(FieldError::invalid(
                    path,
                    text.as_str(),
                    format!("unexpected GroupVersion string: {text}"),
                ));
            }
        }
        Some(Value::String(text)) => {
            if !is_kind_name(text) {
                errors.push(FieldError::invalid(
                    path,
                    text.as_str(),
                    "may have mixed case, but should otherwise match: a DNS-1035 label must \
                     consist of lower case alphanumeric characters or '-', start with an \
                     alphabetic character, and end with an alphanumeric character (e.g. \
                     'my-name',  or 'abc-123', regex used for validation is \
                     '[a-z]([-a-z0-9]*[a-z0-9])?')",
                ));
            }
        }
        Some(other) => errors.push(FieldError::invalid(path, other.clone(), "must be a string")),
    }
}

fn is_kind_name(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() <= 63
        && bytes.first().is_some_and(u8::is_ascii_alphabetic)
        && bytes.last().is_some_and(u8::is_ascii_alphanumeric)
        && bytes
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-')
}
