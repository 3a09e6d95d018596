//! The annotation of kubectl's client-side apply, for those who move from it to server-side
//! apply: what it states may be taken over without a conflict, and it is kept up to date.

use serde_json::Value;

use super::compare::compare;
use super::field_set::field_set;
use super::set::Set;
use super::shape::Shape;
use super::validate::{Duplicates, validate};
use super::value::go_json;

/// The manager that moves people over; others opt out by their name.
pub(super) const KUBECTL: &str = "kubectl";

const ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The most bytes that all annotations of an object may have together.
const MAX_ANNOTATIONS_SIZE: usize = 256 * 1024;

fn annotation(object: &Value) -> Option<&str> {
    let annotations = object.get("metadata")?.get("annotations")?;
    annotations
        .get(ANNOTATION)?
        .as_str()
        .filter(|text| !text.is_empty())
}

/// The fields that were last applied from the client and still have that value.
pub(super) fn owned_by_client(shape: Shape<'_>, live: &Value, api_version: &str) -> Option<Set> {
    let last: Value = serde_json::from_str(annotation(live)?).ok()?;
    if last.get("apiVersion")?.as_str()? != api_version {
        return None;
    }
    validate(shape, live, Duplicates::Refused).ok()?;
    validate(shape, &last, Duplicates::Refused).ok()?;
    let comparison = compare(shape, &last, live);
    let changed = comparison.written().union(&comparison.removed);
    Some(field_set(shape, &last).difference(&changed))
}

/// Writes what was applied into the annotation, if the object has one.
pub(super) fn refresh(object: &mut Value, applied: &Value) {
    if annotation(object).is_none() {
        return;
    }
    let mut applied = applied.clone();
    if let Some(annotations) = annotations_of(&mut applied) {
        annotations.remove(ANNOTATION);
    }
    let Some(annotations) = annotations_of(object) else {
        return;
    };
    annotations.insert(ANNOTATION.into(), Value::String(go_json(&applied) + "\n"));
    let size = |(name, text): (&String, &Value)| name.len() + text.as_str().map_or(0, str::len);
    if annotations.iter().map(size).sum::<usize>() > MAX_ANNOTATIONS_SIZE {
        annotations.remove(ANNOTATION);
    }
}

fn annotations_of(object: &mut Value) -> Option<&mut serde_json::Map<String, Value>> {
    object
        .get_mut("metadata")?
        .get_mut("annotations")?
        .as_object_mut()
}
