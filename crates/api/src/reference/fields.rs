//! The fields of a kind, one after the other, as a schema has them.
//!
//! What a field means beyond its schema is left to the sentence that its author wrote.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};

use super::cell;

/// The longest pattern that is shown as it is.
const LONGEST_PATTERN: usize = 100;

/// One field, as a row of the reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Path from the root of the object, with `[]` for the items of a list and `{}` for those of a map.
    pub path: String,
    /// Type of the value, such as `[]string`.
    pub type_: String,
    /// Whether the field must be given where its parent is.
    pub required: bool,
    /// Value that the server puts in when there is none, as JSON.
    pub default: Option<String>,
    /// What the schema allows, in words.
    pub allowed: String,
    /// The sentence that the author wrote.
    pub description: String,
}

impl Field {
    /// The part of the object that the field is in: `spec`, `status` or another.
    pub fn part(&self) -> &str {
        self.path
            .split(['.', '[', '{'])
            .next()
            .unwrap_or(&self.path)
    }

    pub(super) fn row(&self) -> String {
        let default = self.default.as_deref().map_or(String::new(), code);
        format!(
            "| `{}` | {} | {} | {default} | {} | {} |\n",
            self.path,
            self.type_,
            if self.required { "yes" } else { "" },
            self.allowed,
            cell(Some(&self.description)),
        )
    }
}

/// Every field of a schema, in the order of their paths; type and metadata of the object are left out.
pub fn fields(root: &JSONSchemaProps) -> Vec<Field> {
    let mut found = Vec::new();
    for (name, schema) in root.properties.iter().flatten() {
        if !["apiVersion", "kind", "metadata"].contains(&name.as_str()) {
            field(root, name, name.clone(), schema, &mut found);
        }
    }
    found
}

fn field(
    parent: &JSONSchemaProps,
    name: &str,
    path: String,
    schema: &JSONSchemaProps,
    found: &mut Vec<Field>,
) {
    let required = parent.required.iter().flatten().any(|field| field == name);
    found.push(Field {
        path: path.clone(),
        type_: type_of(schema),
        required,
        default: schema.default.as_ref().map(|default| default.0.to_string()),
        allowed: allowed(schema),
        description: schema.description.clone().unwrap_or_default(),
    });
    inside(schema, &path, found);
}

fn inside(schema: &JSONSchemaProps, path: &str, found: &mut Vec<Field>) {
    for (name, property) in schema.properties.iter().flatten() {
        field(schema, name, format!("{path}.{name}"), property, found);
    }
    if let Some(items) = items(schema) {
        inside(items, &format!("{path}[]"), found);
    }
    if let Some(values) = values(schema) {
        inside(values, &format!("{path}{{}}"), found);
    }
}

pub(super) fn items(schema: &JSONSchemaProps) -> Option<&JSONSchemaProps> {
    match &schema.items {
        Some(JSONSchemaPropsOrArray::Schema(items)) => Some(items),
        _ => None,
    }
}

pub(super) fn values(schema: &JSONSchemaProps) -> Option<&JSONSchemaProps> {
    match &schema.additional_properties {
        Some(JSONSchemaPropsOrBool::Schema(values)) => Some(values),
        _ => None,
    }
}

fn type_of(schema: &JSONSchemaProps) -> String {
    if schema.x_kubernetes_int_or_string == Some(true) {
        return "integer or string".to_owned();
    }
    if let Some(items) = items(schema) {
        return format!("[]{}", type_of(items));
    }
    if let Some(values) = values(schema) {
        return format!("map of {}", type_of(values));
    }
    match (schema.type_.as_deref(), schema.format.as_deref()) {
        (Some("string"), Some("date-time")) => "time".to_owned(),
        (type_, _) => type_.unwrap_or("any").to_owned(),
    }
}

/// What a schema allows, in words; of a list also what it allows of each item.
fn allowed(schema: &JSONSchemaProps) -> String {
    let mut said = Vec::new();
    if let Some(values) = &schema.enum_ {
        let word = |value: &serde_json::Value| match value {
            serde_json::Value::String(word) => code(word),
            other => code(&other.to_string()),
        };
        let words: Vec<_> = values.iter().map(|value| word(&value.0)).collect();
        said.push(words.join(", "));
    }
    range(&mut said, schema.minimum, schema.maximum, "");
    let count = |bound: Option<i64>| bound.map(|bound| bound as f64);
    for (least, most, what) in [
        (schema.min_length, schema.max_length, " characters"),
        (schema.min_items, schema.max_items, " items"),
        (schema.min_properties, schema.max_properties, " entries"),
    ] {
        range(&mut said, count(least), count(most), what);
    }
    // A long pattern says nothing to a reader; its field's sentence does.
    match schema.pattern.as_deref() {
        Some(pattern) if pattern.len() <= LONGEST_PATTERN => said.push(code(pattern)),
        Some(_) => said.push("by a pattern".to_owned()),
        None => {}
    }
    if let Some(keys) = &schema.x_kubernetes_list_map_keys {
        said.push(format!("unique by {}", keys.join(", ")));
    } else if schema.x_kubernetes_list_type.as_deref() == Some("set") {
        said.push("no item twice".to_owned());
    }
    if schema.x_kubernetes_preserve_unknown_fields == Some(true) {
        said.push("anything".to_owned());
    }
    let each = items(schema)
        .or_else(|| values(schema))
        .map(allowed)
        .unwrap_or_default();
    if !each.is_empty() {
        said.push(format!("each: {each}"));
    }
    said.join("; ")
}

fn range(said: &mut Vec<String>, least: Option<f64>, most: Option<f64>, what: &str) {
    match (least, most) {
        (Some(least), Some(most)) => said.push(format!("{least} to {most}{what}")),
        (Some(least), None) => said.push(format!("at least {least}{what}")),
        (None, Some(most)) => said.push(format!("at most {most}{what}")),
        (None, None) => {}
    }
}

/// A word in code's type, fit for a cell of a table.
fn code(word: &str) -> String {
    format!("`{}`", cell(Some(word)))
}
