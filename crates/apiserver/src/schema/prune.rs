//! Structural pruning: fields that the schema does not know are dropped and named.
//!
//! `apiVersion`, `kind` and `metadata` are known at the root and in embedded resources;
//! what is inside `metadata` is checked by whoever owns object metadata, not here.

use serde_json::Value;

use super::Schema;
use super::path::Path;

/// Whether `field` belongs to every Kubernetes object.
pub(super) fn is_meta_field(field: &str) -> bool {
    matches!(field, "apiVersion" | "kind" | "metadata")
}

/// Drops the fields of a whole object that the schema does not know.
///
/// Returns their paths in order, as `spec.disks[0].bar`, ready for `unknown field "…"`.
pub fn prune(schema: &Schema, object: &mut Value) -> Vec<String> {
    let mut dropped = Vec::new();
    Pruner {
        dropped: &mut dropped,
    }
    .node(Some(schema), object, &Path::Root, true);
    dropped.sort();
    dropped
}

struct Pruner<'a> {
    dropped: &'a mut Vec<String>,
}

impl Pruner<'_> {
    /// `whole_object` says that the node carries type and object metadata.
    fn node(
        &mut self,
        schema: Option<&Schema>,
        value: &mut Value,
        path: &Path<'_>,
        whole_object: bool,
    ) {
        if let Some(schema) = schema.filter(|schema| schema.preserve_unknown_fields) {
            self.keep(schema, value, path, whole_object);
            return;
        }
        match value {
            Value::Object(map) => map.retain(|field, value| {
                if whole_object && is_meta_field(field) {
                    return true;
                }
                let place = schema.and_then(|schema| place_of(schema, field));
                match place {
                    Some(child) => {
                        let path = Path::Field(path, field);
                        self.node(child, value, &path, is_embedded(child));
                        true
                    }
                    None => {
                        self.dropped.push(Path::Field(path, field).to_string());
                        false
                    }
                }
            }),
            Value::Array(items) => {
                let element = schema.and_then(Schema::element);
                for (index, item) in items.iter_mut().enumerate() {
                    let path = Path::Item(path, index);
                    self.node(element, item, &path, is_embedded(element));
                }
            }
            _ => {}
        }
    }

    /// Below a node that keeps unknown fields, the known ones are still pruned.
    fn keep(&mut self, schema: &Schema, value: &mut Value, path: &Path<'_>, whole_object: bool) {
        match value {
            Value::Object(map) => {
                for (field, value) in map.iter_mut() {
                    if whole_object && is_meta_field(field) {
                        continue;
                    }
                    if let Some(child) = place_of(schema, field) {
                        let path = Path::Field(path, field);
                        self.node(child, value, &path, is_embedded(child));
                    }
                }
            }
            Value::Array(items) => {
                let Some(element) = schema.element() else {
                    return;
                };
                for (index, item) in items.iter_mut().enumerate() {
                    let path = Path::Item(path, index);
                    self.keep(element, item, &path, element.embedded_resource);
                }
            }
            _ => {}
        }
    }
}

/// Where a field is known: `Some(None)` for a map that allows any value, whose inner fields
/// nobody declared and which are therefore pruned, as upstream does.
fn place_of<'s>(schema: &'s Schema, field: &str) -> Option<Option<&'s Schema>> {
    match schema.child(field) {
        Some(child) => Some(Some(child)),
        None => schema.is_open().then_some(None),
    }
}

fn is_embedded(schema: Option<&Schema>) -> bool {
    schema.is_some_and(|schema| schema.embedded_resource)
}
