//! The metadata of objects within objects (`x-kubernetes-embedded-resource`), which is read as
//! strictly as that of the objects themselves.

use serde_json::Value;

use super::metadata;
use crate::registry::Kind;
use crate::schema::Schema;

/// What a typed decoder would not read in the metadata of embedded objects, in its words.
pub(super) fn misread(kind: &Kind, object: &Value) -> Option<String> {
    for place in places(kind, object) {
        let embedded = object.pointer(&place.pointer)?;
        if let Some(why) = metadata::misread(kind, embedded) {
            let (path, shown) = (place.path, &embedded["metadata"]);
            return Some(format!("{path}.metadata: Invalid value: {shown}: {why}"));
        }
    }
    None
}

/// Drops fields that no metadata has from that of embedded objects, and names them.
pub(super) fn prune(kind: &Kind, object: &mut Value) -> Vec<String> {
    let mut dropped = Vec::new();
    for place in places(kind, object) {
        if let Some(embedded) = object.pointer_mut(&place.pointer)
            && embedded.get("metadata").is_some_and(Value::is_object)
        {
            let unknown = metadata::prune(embedded);
            let path = place.path;
            dropped.extend(unknown.iter().map(|field| format!("{path}.{field}")));
        }
    }
    dropped
}

/// Where an embedded object is: for people, and for a program.
struct Place {
    path: String,
    pointer: String,
}

fn places(kind: &Kind, object: &Value) -> Vec<Place> {
    let mut found = Vec::new();
    if kind.shape.embeds() {
        walk(kind.schema(), object, "", "", &mut found);
    }
    found
}

fn walk(schema: &Schema, value: &Value, path: &str, pointer: &str, found: &mut Vec<Place>) {
    if schema.embedded_resource && value.is_object() {
        found.push(Place {
            path: path.to_owned(),
            pointer: pointer.to_owned(),
        });
    }
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                if let Some(child) = schema.child(name) {
                    let path = match path {
                        "" => name.clone(),
                        path => format!("{path}.{name}"),
                    };
                    let escaped = name.replace('~', "~0").replace('/', "~1");
                    walk(child, value, &path, &format!("{pointer}/{escaped}"), found);
                }
            }
        }
        Value::Array(items) => {
            if let Some(element) = schema.element() {
                for (at, item) in items.iter().enumerate() {
                    let (path, pointer) = (format!("{path}[{at}]"), format!("{pointer}/{at}"));
                    walk(element, item, &path, &pointer, found);
                }
            }
        }
        _ => {}
    }
}
