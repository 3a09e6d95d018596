//! Giving an object the shape of its kind: what the schema does not know is dropped, and said; what
//! is absent gets its default.

use serde_json::Value;

use super::admit::unreadable;
use super::{FieldValidation, WriteOptions, embedded, metadata};
use crate::registry::Kind;
use crate::schema;
use crate::status::ApiError;

/// Drops what the schema does not know and fills in its defaults; gives the warnings.
pub(super) fn shape(
    kind: &Kind,
    object: &mut Value,
    options: &WriteOptions,
) -> Result<Vec<String>, ApiError> {
    let mut unknown = metadata::prune(object);
    let is_settled = !kind.builtin && kind.validator().settle(object);
    if !is_settled {
        unknown.extend(prune_spec(kind, object));
    }
    let warnings = heeded(kind, complaints(&unknown, options), options)?;
    metadata::drop_empty(object);
    if !is_settled {
        schema::default(kind.schema(), object);
    }
    Ok(warnings)
}

/// Complaints as the client wants them: as warnings, as the refusal, or not at all.
fn heeded(
    kind: &Kind,
    complaints: Vec<String>,
    options: &WriteOptions,
) -> Result<Vec<String>, ApiError> {
    match options.validation {
        FieldValidation::Ignore => Ok(Vec::new()),
        FieldValidation::Warn => Ok(complaints),
        FieldValidation::Strict if complaints.is_empty() => Ok(complaints),
        FieldValidation::Strict => Err(unreadable(kind, &strict(&complaints))),
    }
}

/// What strict decoding of an object would say.
pub(super) fn strict_complaint(
    kind: &Kind,
    object: &Value,
    options: &WriteOptions,
) -> Option<String> {
    let unknown = prune_all(kind, &mut object.clone());
    let complaints = complaints(&unknown, options);
    (!complaints.is_empty()).then(|| strict(&complaints))
}

fn strict(complaints: &[String]) -> String {
    let complaints: Vec<String> = complaints
        .iter()
        .map(|complaint| match complaint.starts_with("line ") {
            // What the reader of YAML found comes with its own heading.
            true => format!("yaml: unmarshal errors:\n  {complaint}"),
            false => complaint.clone(),
        })
        .collect();
    format!("strict decoding error: {}", complaints.join(", "))
}

/// Drops what is unknown, and gives its paths.
fn prune_all(kind: &Kind, object: &mut Value) -> Vec<String> {
    let mut unknown = metadata::prune(object);
    unknown.extend(prune_spec(kind, object));
    unknown
}

/// The same apart from the metadata of the object itself.
fn prune_spec(kind: &Kind, object: &mut Value) -> Vec<String> {
    let mut unknown = schema::prune(kind.schema(), object);
    unknown.extend(embedded::prune(kind, object));
    unknown.sort();
    unknown
}

/// What is said of unknown fields, after what is there more than once.
fn complaints(unknown: &[String], options: &WriteOptions) -> Vec<String> {
    let unknown = unknown
        .iter()
        .map(|path| format!("unknown field \"{path}\""));
    options.complaints.iter().cloned().chain(unknown).collect()
}
