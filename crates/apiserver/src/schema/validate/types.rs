//! Types and formats.

use serde_json::Value;

use super::number;
use super::outcome::Outcome;
use super::value::fault;
use crate::schema::path::Path;
use crate::schema::text::go_quote;
use crate::schema::{FieldError, FieldErrorKind, Schema, format};

/// The fault of a text that has not the format of its node.
pub(super) fn format_error(schema: &Schema, text: &str, path: &Path<'_>) -> Option<FieldError> {
    let format = format::effective(schema)?;
    (!format::matches(format, text)).then(|| wrong_type(path, format, text))
}

fn wrong_type(path: &Path<'_>, wanted: &str, got: &str) -> FieldError {
    fault(
        path,
        FieldErrorKind::TypeInvalid,
        Some(got.into()),
        format!("{path} in body must be of type {wanted}: {}", go_quote(got)),
    )
}

/// Whether a value has the type of its node, with the checks that passed.
pub(super) fn type_check(schema: &Schema, value: &Value, path: &Path<'_>) -> Outcome {
    let own = schema.ty.as_deref();
    let types: &[&str] = if schema.int_or_string {
        &["integer", "string"]
    } else {
        own.as_slice()
    };
    let format = format::effective(schema);
    let mut outcome = Outcome::default();
    if types.is_empty() && format.is_none() {
        return outcome;
    }
    outcome.count();
    match type_error(types, format, schema.nullable, value, path) {
        Some(error) => outcome.errors.push(error),
        None => outcome.count(),
    }
    outcome
}

fn type_error(
    types: &[&str],
    format: Option<&str>,
    nullable: bool,
    value: &Value,
    path: &Path<'_>,
) -> Option<FieldError> {
    let has = |name: &str| types.contains(&name);
    let (got, go_format) = match value {
        Value::Null => {
            let is_allowed = types.is_empty() || nullable || has("null");
            return (!is_allowed).then(|| wrong_type(path, &types.join(","), "null"));
        }
        Value::Bool(_) => ("boolean", ""),
        Value::String(_) => ("string", ""),
        Value::Array(_) => ("array", ""),
        Value::Object(_) => ("object", ""),
        Value::Number(number) if number.is_i64() => ("integer", "int64"),
        Value::Number(_) => ("number", "float64"),
    };
    let is_whole = value.as_f64().is_some_and(number::is_json_integer);
    let fits = has(got)
        || (got == "number" && is_whole && has("integer"))
        || (got == "integer" && has("number"));
    if fits {
        return None;
    }
    match format {
        // Upstream names the format here, and Go's own name of what it found.
        Some(format) if !matches!(got, "string" | "array") => {
            Some(wrong_type(path, format, go_format))
        }
        // A node with a format and no type is held to the format alone.
        _ if types.is_empty() => None,
        _ => Some(wrong_type(path, &types.join(","), got)),
    }
}
