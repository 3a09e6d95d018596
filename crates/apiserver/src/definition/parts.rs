//! The parts of a version beside its schema: printer columns, the scale subresource, selectable
//! fields.

use std::collections::HashSet;

use serde_json::Value;

use crate::schema::{Schema, json_text};
use crate::status::Cause;

const TYPES: [&str; 5] = ["boolean", "date", "integer", "number", "string"];
const FORMATS: [&str; 8] = [
    "byte",
    "date",
    "date-time",
    "double",
    "float",
    "int32",
    "int64",
    "password",
];

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

fn quoted(text: &str) -> String {
    json_text(&Value::String(text.to_owned()))
}

/// Printer columns.
pub(super) fn columns(columns: &Value, path: &str) -> Vec<Cause> {
    let mut causes = Vec::new();
    for (at, column) in columns.as_array().into_iter().flatten().enumerate() {
        let path = format!("{path}[{at}]");
        if text(column, "name").is_empty() {
            causes.push(Cause::required(&format!("{path}.name"), ""));
        }
        let one_of = |allowed: &[&str]| format!("must be one of {}", allowed.join(","));
        match text(column, "type") {
            "" => causes.push(Cause::required(&format!("{path}.type"), &one_of(&TYPES))),
            ty if TYPES.contains(&ty) => {}
            ty => {
                let at = format!("{path}.type");
                causes.push(Cause::invalid(&at, &quoted(ty), &one_of(&TYPES)));
            }
        }
        let format = text(column, "format");
        if !format.is_empty() && !FORMATS.contains(&format) {
            let at = format!("{path}.format");
            causes.push(Cause::invalid(&at, &quoted(format), &one_of(&FORMATS)));
        }
        let place = format!("{path}.JSONPath");
        match text(column, "jsonPath") {
            "" => causes.push(Cause::required(&place, "")),
            found => causes.extend(simple_path(&place, found)),
        }
    }
    causes
}

fn simple_path(place: &str, path: &str) -> Option<Cause> {
    let why = "must be a simple json path starting with .";
    (!path.starts_with('.')).then(|| Cause::invalid(place, &quoted(path), why))
}

/// The scale subresource.
pub(super) fn scale(subresources: &Value, path: &str) -> Vec<Cause> {
    let mut causes = Vec::new();
    let Some(scale) = subresources.get("scale").filter(|s| s.is_object()) else {
        return causes;
    };
    let below = |path: &str, roots: &[&str]| {
        roots
            .iter()
            .any(|root| path.starts_with(&format!(".{root}.")))
    };
    for (field, roots, why, needed) in [
        (
            "specReplicasPath",
            &["spec"][..],
            "should be a json path under .spec",
            true,
        ),
        (
            "statusReplicasPath",
            &["status"],
            "should be a json path under .status",
            true,
        ),
        (
            "labelSelectorPath",
            &["spec", "status"],
            "should be a json path under either .spec or .status",
            false,
        ),
    ] {
        let place = format!("{path}.scale.{field}");
        let found = text(scale, field);
        if found.is_empty() {
            if needed {
                causes.push(Cause::required(&place, ""));
            }
        } else if let Some(cause) = simple_path(&place, found) {
            causes.push(cause);
        } else if !below(found, roots) {
            causes.push(Cause::invalid(&place, &quoted(found), why));
        }
    }
    causes
}

/// The fields that a selector may name.
pub(super) fn selectable(fields: &Value, schema: Option<&Value>, path: &str) -> Vec<Cause> {
    let mut causes = Vec::new();
    let schema = schema
        .and_then(|s| Schema::from_value(s).ok())
        .unwrap_or_default();
    let mut seen = HashSet::new();
    for (at, field) in fields.as_array().into_iter().flatten().enumerate() {
        let place = format!("{path}[{at}].jsonPath");
        let found = text(field, "jsonPath");
        if found.is_empty() {
            causes.push(Cause::required(&place, ""));
            continue;
        }
        let invalid = |why: &str| Cause::invalid(&place, &quoted(found), why);
        if !seen.insert(found) {
            let message = format!("Duplicate value: {}", quoted(found));
            causes.push(Cause::new("FieldValueDuplicate", &place, message));
            continue;
        }
        if found.contains('[') {
            causes.push(invalid("is an invalid path: array notation is not allowed"));
            continue;
        }
        let Some(names) = found.strip_prefix('.') else {
            let first = found.split('.').next().unwrap_or_default();
            let why = format!("is an invalid path: expected [ or . but got: {first}");
            causes.push(invalid(&why));
            continue;
        };
        let mut node = Some(&schema);
        for name in names.split('.') {
            node = node.and_then(|node| node.properties.get(name));
        }
        match node.map(|node| node.ty.as_deref()) {
            None => causes.push(invalid("is an invalid path: does not refer to a valid field")),
            Some(Some("string" | "boolean" | "integer")) => {}
            Some(_) => causes.push(invalid("must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.")),
        }
    }
    causes
}
