//! `vitistack.io` objects from one version to another: pure functions over JSON, without I/O.
//!
//! A kind is cut into *concepts* (its provider, its disks, …), each with a function up to v1beta1
//! and one down to v1alpha1. Where a function loses something, what it was given is kept in an
//! annotation of the result, with a digest of what the concept became. On the way back it is put in
//! place again, unless the concept was changed in between: then the change wins and what was kept is
//! dropped. So a round trip loses nothing, and an edit is never undone.
//!
//! The functions are total: what is malformed is carried over or kept, never refused, because a
//! conversion that fails makes an object unreadable. Judging objects is left to schema and rules.

mod concept;
mod kept;
mod machine;
mod machine_provider;
mod review;
#[cfg(test)]
mod tests;
mod value;

use serde_json::{Map, Value};

pub use review::answer_conversion;

use crate::vitistack::{GROUP, VERSION as V1ALPHA1, v1beta1::VERSION as V1BETA1};
use concept::{Direction, KindTable};

/// Why an object cannot be converted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConvertError {
    /// The value is no object of Kubernetes.
    #[error("cannot convert {what}: it has no {field}")]
    NotAnObject {
        /// What was given, as far as it can be told.
        what: String,
        /// The field that is missing.
        field: &'static str,
    },
    /// There is only one version of the kind, or none.
    #[error("cannot convert the kind {kind}; only Machine and MachineProvider have two versions")]
    UnknownKind {
        /// The kind that was given.
        kind: String,
    },
    /// There is no such version.
    #[error(
        "{version:?} is not a version of {kind}; there are {GROUP}/{V1ALPHA1} and {GROUP}/{V1BETA1}"
    )]
    UnknownVersion {
        /// The kind that was given.
        kind: String,
        /// The version that was given.
        version: String,
    },
}

/// Kinds of the group that have more than one version.
pub const CONVERTIBLE_KINDS: &[&str] = &["Machine", "MachineProvider"];

/// Makes of an object the same object in another version, such as `vitistack.io/v1beta1`.
///
/// Of its metadata only our own annotations change.
///
/// # Errors
/// When the object has no kind or version, or when it or `api_version` is not one that is served.
pub fn convert(object: &Value, api_version: &str) -> Result<Value, ConvertError> {
    let text = |field: &'static str| {
        let found = object.get(field).and_then(Value::as_str);
        found.ok_or_else(|| ConvertError::NotAnObject {
            what: object["kind"].as_str().unwrap_or("a value").to_owned(),
            field,
        })
    };
    let (from, kind) = (text("apiVersion")?, text("kind")?);
    let table = match kind {
        "Machine" => &machine::TABLE,
        "MachineProvider" => &machine_provider::TABLE,
        _ => {
            return Err(ConvertError::UnknownKind {
                kind: kind.to_owned(),
            });
        }
    };
    let (from, to) = (version(from, kind)?, version(api_version, kind)?);
    if from == to {
        return Ok(object.clone());
    }
    Ok(converted(table, object, Direction::towards(to)))
}

/// Drops fields that only the other version has, as a server does before it asks for a conversion.
pub(crate) fn drop_foreign(object: &mut Value) {
    let version = object["apiVersion"].as_str().map(|text| version(text, ""));
    let table = match object["kind"].as_str() {
        Some("MachineProvider") => &machine_provider::TABLE,
        _ => &machine::TABLE,
    };
    let Some(Ok(version)) = version else { return };
    let other = Direction::towards(version).from();
    for part in ["spec", "status"] {
        let named = |version: &str, key: &str| {
            let mut concepts = table.concepts().filter(|concept| concept.part == part);
            concepts.any(|concept| concept.keys(version).contains(&key))
        };
        if let Some(fields) = object.get_mut(part).and_then(Value::as_object_mut) {
            fields.retain(|key, _| named(version, key) || !named(other, key));
        }
    }
}

/// The version of an `apiVersion` of ours.
fn version(api_version: &str, kind: &str) -> Result<&'static str, ConvertError> {
    let known = [V1ALPHA1, V1BETA1]
        .into_iter()
        .find(|version| api_version.strip_prefix(GROUP) == Some(&format!("/{version}")));
    known.ok_or_else(|| ConvertError::UnknownVersion {
        kind: kind.to_owned(),
        version: api_version.to_owned(),
    })
}

fn converted(table: &KindTable, object: &Value, direction: Direction) -> Value {
    let mut source = object.clone();
    let kept = kept::take(&mut source, direction.to());
    // What was kept for the version that the object is in means nothing in it.
    kept::take(&mut source, direction.from());
    let mut target = assembled(table, &source, direction);
    for concept in table.concepts() {
        let unchanged = kept.find(concept, &source, direction.from());
        if let (Some(was), Some(part)) = (unchanged, target.get_mut(concept.part))
            && let Some(made) = part.as_object_mut()
        {
            made.retain(|key, _| !concept.keys(direction.to()).contains(&key.as_str()));
            made.extend(was);
        }
    }
    let back = assembled(table, &target, direction.reversed());
    let mut lost = kept::Kept::default();
    for concept in table.concepts() {
        let before = concept.of(&source, direction.from());
        if concept.of(&back, direction.from()) != before {
            lost.insert(concept, &target, direction.to(), before);
        }
    }
    kept::put(&mut target, direction.from(), &lost);
    target
}

/// The object in the other version, by the functions alone.
fn assembled(table: &KindTable, source: &Value, direction: Direction) -> Value {
    let mut target = source.clone();
    target["apiVersion"] = format!("{GROUP}/{}", direction.to()).into();
    let from = direction.from();
    for part in ["spec", "status"] {
        let Some(given) = source.get(part).and_then(Value::as_object) else {
            continue;
        };
        let concepts = || table.concepts().filter(|concept| concept.part == part);
        let mut made: Map<String, Value> = given.clone();
        made.retain(|key, _| !concepts().any(|c| c.keys(from).contains(&key.as_str())));
        for concept in concepts() {
            made.extend(concept.map(&concept.of(source, from), direction));
        }
        target[part] = Value::Object(made);
    }
    if direction == Direction::Down {
        (table.complete)(&mut target);
    }
    target
}
