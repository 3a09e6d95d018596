//! `meta.k8s.io/v1` Tables: objects as rows, by the printer columns of their kind.
//!
//! Cells follow upstream's converter for custom resources exactly: a path that finds nothing
//! gives null, only the first find counts, and dates become ages here, on the server. Which
//! `includeObject` a request asks for, and when headers may be left out, is the caller's part.

mod age;
mod jsonpath;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::schema::{go_number, json_text};
pub use age::human_duration;
pub use jsonpath::{JsonPath, JsonPathError};

/// One printer column, named as in `additionalPrinterColumns`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Column {
    /// The header.
    pub name: String,
    /// `string`, `integer`, `number`, `boolean` or `date`.
    #[serde(rename = "type")]
    pub ty: String,
    /// A hint for clients; empty where there is none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub format: String,
    /// What the column shows; the path stands in where this is empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Columns above 0 are shown in wide output alone.
    pub priority: i32,
    /// Where the cell comes from, as `.status.phase`.
    pub json_path: String,
}

/// The columns of a kind with their paths parsed.
#[derive(Debug, Clone)]
pub struct Columns {
    headers: Vec<Value>,
    cells: Vec<(String, JsonPath)>,
    /// Whether one of the columns is the name.
    named: bool,
}

/// What a row carries of its object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IncludeObject {
    /// Nothing.
    None,
    /// Its metadata, as PartialObjectMetadata.
    #[default]
    Metadata,
    /// All of it.
    Object,
}

/// Why columns cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// A path does not parse.
    #[error("unrecognized column definition {path:?}")]
    Path {
        /// The path.
        path: String,
        /// What is wrong with it.
        source: JsonPathError,
    },
}

impl Columns {
    /// Parses the columns of a kind; a kind without any shows its age.
    ///
    /// # Errors
    /// When a path does not parse.
    pub fn new(columns: &[Column]) -> Result<Self, TableError> {
        Self::of_kind(columns, false)
    }

    /// The same for a built-in kind: its headers call everything a string, and it may say itself
    /// where the name is.
    ///
    /// # Errors
    /// When a path does not parse.
    pub fn builtin(columns: &[Column]) -> Result<Self, TableError> {
        Self::of_kind(columns, true)
    }

    fn of_kind(columns: &[Column], builtin: bool) -> Result<Self, TableError> {
        let age = [Column {
            name: "Age".into(),
            ty: "date".into(),
            description: "When the server created the object, in UTC. Set by the server; \
                          read-only."
                .into(),
            json_path: ".metadata.creationTimestamp".into(),
            ..Column::default()
        }];
        let columns = if columns.is_empty() { &age } else { columns };
        let named = builtin
            && columns
                .iter()
                .any(|column| column.json_path == ".metadata.name");
        let mut headers = Vec::with_capacity(columns.len() + 1);
        if !named {
            headers.push(header(
                "Name",
                "string",
                "name",
                "The name of the object, unique among its kind in a namespace.",
                0,
            ));
        }
        let mut cells = Vec::with_capacity(columns.len());
        for column in columns {
            let path = JsonPath::parse(&column.json_path).map_err(|source| TableError::Path {
                path: column.json_path.clone(),
                source,
            })?;
            let fallback = format!(
                "Custom resource definition column (in JSONPath format): {}",
                column.json_path
            );
            let description = match column.description.as_str() {
                "" => fallback.as_str(),
                text => text,
            };
            headers.push(header(
                &column.name,
                if builtin { "string" } else { &column.ty },
                &column.format,
                description,
                column.priority,
            ));
            cells.push((column.ty.clone(), path));
        }
        Ok(Self {
            headers,
            cells,
            named,
        })
    }

    fn row(&self, object: &Value, now: Timestamp) -> Vec<Value> {
        let mut row = Vec::with_capacity(self.cells.len() + 1);
        if !self.named {
            let name = object.pointer("/metadata/name").cloned();
            row.push(name.unwrap_or_else(|| json!("")));
        }
        row.extend(self.cells.iter().map(|(ty, path)| {
            match path
                .find(object)
                .ok()
                .and_then(|found| found.first().copied().cloned())
            {
                Some(value) => cell(ty, &value, now),
                None => Value::Null,
            }
        }));
        row
    }
}

fn header(name: &str, ty: &str, format: &str, description: &str, priority: i32) -> Value {
    json!({
        "name": name,
        "type": ty,
        "format": format,
        "description": description,
        "priority": priority,
    })
}

/// Objects as a Table; `list_meta` is the metadata of the list, or of the one object.
pub fn render(
    columns: &Columns,
    objects: &[Value],
    include: IncludeObject,
    now: Timestamp,
    list_meta: &Value,
) -> Value {
    let rows: Vec<Value> = objects
        .iter()
        .map(|object| {
            let carried = match include {
                IncludeObject::None => Value::Null,
                IncludeObject::Metadata => partial_metadata(object),
                IncludeObject::Object => object.clone(),
            };
            json!({ "cells": columns.row(object, now), "object": carried })
        })
        .collect();
    let mut metadata = Map::new();
    for key in ["resourceVersion", "continue", "remainingItemCount"] {
        if let Some(value) = list_meta.get(key) {
            metadata.insert(key.into(), value.clone());
        }
    }
    json!({
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": metadata,
        "columnDefinitions": columns.headers,
        "rows": rows,
    })
}

/// Leaves the headers out, as in every event of a watch but the first.
pub fn without_headers(table: &mut Value) {
    if let Some(map) = table.as_object_mut() {
        map.insert("columnDefinitions".into(), Value::Null);
    }
}

/// An object with nothing but its metadata.
pub fn partial_metadata(object: &Value) -> Value {
    json!({
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": object.get("metadata").cloned().unwrap_or_else(|| json!({})),
    })
}

/// A value as its column's type wants it; one of another type gives an empty cell.
fn cell(ty: &str, value: &Value, now: Timestamp) -> Value {
    match (ty, value) {
        ("string", value) => Value::String(text(value)),
        #[allow(
            clippy::cast_possible_truncation,
            reason = "a float in an integer column loses its fraction, as upstream has it"
        )]
        ("integer", Value::Number(number)) => match number.as_i64() {
            Some(whole) => whole.into(),
            None => number
                .as_f64()
                .map_or(Value::Null, |float| (float as i64).into()),
        },
        ("number", Value::Number(_)) | ("boolean", Value::Bool(_)) => value.clone(),
        ("date", Value::String(text)) => Value::String(age::age_of(text, now)),
        _ => Value::Null,
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => "<no value>".into(),
        Value::String(text) => text.clone(),
        Value::Number(number) => go_number(number),
        other => json_text(other),
    }
}

#[cfg(test)]
mod tests;
