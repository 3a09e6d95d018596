//! What Go's typed decoder would not read in an object of a built-in kind, in its words: custom
//! kinds are validated, built-ins are decoded first. Metadata is left to `metadata`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::meta;
use crate::registry::Kind;
use crate::schema::{Schema, SchemaOrBool};

/// The first thing that cannot be read.
pub(super) fn misread(kind: &Kind, object: &Value) -> Option<String> {
    if !kind.builtin {
        return None;
    }
    let mut at = Place {
        structure: kind.kind.clone(),
        path: String::new(),
    };
    let fields = object.as_object()?.iter();
    fields
        .filter(|(name, _)| *name != "metadata")
        .find_map(|(name, value)| {
            let schema = kind.schema().properties.get(name)?;
            at.path.clone_from(name);
            walk(schema, value, &at)
        })
}

/// Where a value is: the Go structure and the path of the field that holds it.
struct Place {
    structure: String,
    path: String,
}

fn walk(schema: &Schema, value: &Value, at: &Place) -> Option<String> {
    if value.is_null() || schema.preserve_unknown_fields || schema.int_or_string {
        return None;
    }
    match (schema.ty.as_deref().unwrap_or_default(), value) {
        ("object", Value::Object(fields)) => {
            if let Some(SchemaOrBool::Schema(each)) = schema.additional_properties.as_deref() {
                return fields.values().find_map(|value| walk(each, value, at));
            }
            let structure = structure_of(&at.path, &at.structure);
            fields.iter().find_map(|(name, value)| {
                let place = Place {
                    structure: structure.clone(),
                    path: format!("{}.{name}", at.path),
                };
                walk(schema.properties.get(name)?, value, &place)
            })
        }
        ("array", Value::Array(items)) => {
            let each = schema.items.as_deref()?;
            items.iter().find_map(|item| walk(each, item, at))
        }
        ("string", Value::String(text)) => misformatted(schema, text),
        ("boolean", Value::Bool(_)) | ("", _) => None,
        ("integer", Value::Number(number)) if number.is_i64() => None,
        ("number", Value::Number(_)) => None,
        (_, found) => {
            let (found, Place { structure, path }) = (meta::json_type(found), at);
            let expected = go_type(schema, path, structure);
            Some(format!(
                "json: cannot unmarshal {found} into Go struct field {structure}.{path} of type {expected}"
            ))
        }
    }
}

fn misformatted(schema: &Schema, text: &str) -> Option<String> {
    match schema.format.as_deref() {
        Some("byte") if STANDARD.decode(text).is_err() => {
            let wrong = |b: u8| !(b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'='));
            let at = text.bytes().position(wrong).unwrap_or(text.len());
            Some(format!("illegal base64 data at input byte {at}"))
        }
        Some("date-time") if text.parse::<jiff::Timestamp>().is_err() => Some(format!(
            "parsing time {text:?} as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse {text:?} as \"2006\""
        )),
        _ => None,
    }
}

/// The name of the Go structure that a field holds; where it is not known, one like it.
fn structure_of(path: &str, outer: &str) -> String {
    let field = path.rsplit('.').next().unwrap_or_default();
    match field {
        "spec" | "status" | "names" | "conversion" | "versions" => {
            let mut name = field.to_owned();
            if let Some(first) = name.get_mut(..1) {
                first.make_ascii_uppercase();
            }
            format!("{outer}{}", name.trim_end_matches('s'))
                .replace("Statu", "Status")
                .replace("Name", "Names")
        }
        "secrets" | "involvedObject" | "regarding" | "related" => "ObjectReference".into(),
        "imagePullSecrets" => "LocalObjectReference".into(),
        "source" | "deprecatedSource" => "EventSource".into(),
        "series" => "EventSeries".into(),
        "rules" => "PolicyRule".into(),
        "subjects" => "Subject".into(),
        "roleRef" => "RoleRef".into(),
        other => other.to_owned(),
    }
}

fn go_type(schema: &Schema, path: &str, outer: &str) -> String {
    match schema.ty.as_deref().unwrap_or_default() {
        "boolean" => "bool".into(),
        "integer" => schema.format.clone().unwrap_or_else(|| "int64".into()),
        "number" => "float64".into(),
        "array" => {
            let each = schema.items.as_deref();
            format!(
                "[]{}",
                each.map_or_else(String::new, |s| go_type(s, path, outer))
            )
        }
        "object" => match schema.additional_properties.as_deref() {
            Some(SchemaOrBool::Schema(each)) => {
                format!("map[string]{}", go_type(each, path, outer))
            }
            _ => format!("v1.{}", structure_of(path, outer)),
        },
        _ if schema.format.as_deref() == Some("byte") => "[]uint8".into(),
        _ => "string".into(),
    }
}
