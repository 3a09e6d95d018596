//! What one version could not say, kept in an annotation of the object.
//!
//! The annotation is named after the version that said it: a v1beta1 object carries
//! `conversion.vitistack.io/v1alpha1` when v1alpha1 said something that v1beta1 cannot.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::concept::{Concept, Fields};
use super::value::sorted;

/// Prefix of the annotations; the version that is kept follows.
pub(super) const PREFIX: &str = "conversion.vitistack.io/";

/// What is kept of one concept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Entry {
    /// Digest of what the concept became; when it is another, the concept was changed.
    of: String,
    /// What the concept was.
    was: Fields,
}

/// What is kept of an object, by concept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Kept(BTreeMap<String, Entry>);

impl Kept {
    /// Keeps what a concept was before it became what it is in `target`.
    pub(super) fn insert(&mut self, concept: &Concept, target: &Value, version: &str, was: Fields) {
        let of = digest(concept, target, version);
        self.0.insert(key(concept), Entry { of, was });
    }

    /// What a concept was, if it has not been changed since.
    pub(super) fn find(&self, concept: &Concept, source: &Value, version: &str) -> Option<Fields> {
        let entry = self.0.get(&key(concept))?;
        let known = |field: &String| !concept.keys(other(version)).contains(&field.as_str());
        // Somebody may have written into the annotation by hand.
        if entry.of != digest(concept, source, version) || entry.was.keys().any(known) {
            return None;
        }
        Some(entry.was.clone())
    }
}

fn other(version: &str) -> &'static str {
    super::concept::Direction::towards(version).from()
}

fn key(concept: &Concept) -> String {
    format!("{}.{}", concept.part, concept.name)
}

fn digest(concept: &Concept, object: &Value, version: &str) -> String {
    let fields = if concept.of_whole_part {
        object.get(concept.part).cloned().unwrap_or_default()
    } else {
        Value::Object(concept.of(object, version))
    };
    let hash = Sha256::digest(sorted(fields).to_string());
    hash.iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Takes out of an object what was kept of it for a version.
pub(super) fn take(object: &mut Value, version: &str) -> Kept {
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else {
        return Kept::default();
    };
    let Some(annotations) = metadata
        .get_mut("annotations")
        .and_then(Value::as_object_mut)
    else {
        return Kept::default();
    };
    let Some(text) = annotations.remove(&format!("{PREFIX}{version}")) else {
        return Kept::default();
    };
    if annotations.is_empty() {
        metadata.remove("annotations");
    }
    text.as_str()
        .and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_default()
}

/// Puts into an object what is kept of it for a version.
pub(super) fn put(object: &mut Value, version: &str, kept: &Kept) {
    if kept.0.is_empty() {
        return;
    }
    // Maps of text and JSON can always be written.
    let Ok(text) = serde_json::to_value(kept).map(|value| sorted(value).to_string()) else {
        return;
    };
    if !object["metadata"].is_object() {
        object["metadata"] = Value::Object(Fields::new());
    }
    let annotations = &mut object["metadata"]["annotations"];
    if !annotations.is_object() {
        *annotations = Value::Object(Fields::new());
    }
    annotations[format!("{PREFIX}{version}")] = text.into();
}
