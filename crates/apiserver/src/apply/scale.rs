//! Who owns the number of replicas: told of a Scale, and of the object that it is a view on.
//!
//! A Scale is written as an object of its own, so that whoever applies one is held to what others own.
//! Its managers are made of the object's, and go back to them, as Kubernetes does it: a manager that
//! comes to own the number through a Scale has no time, and one that updated the object itself and still
//! owns it is told twice.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::{Value, json};

use super::managed::{self, Entry, Managed, ManagedFieldsError};
use super::path::PathElement;
use super::set::Set;
use crate::schema::Schema;

/// The version of every Scale.
pub const SCALE_VERSION: &str = "autoscaling/v1";

/// What a Scale looks like.
pub static SCALE: LazyLock<Schema> = LazyLock::new(|| {
    let number = json!({"type": "integer", "format": "int32"});
    let schema = json!({
        "type": "object",
        "properties": {
            "spec": {"type": "object", "properties": {"replicas": number}},
            "status": {"type": "object", "properties": {
                "replicas": number, "selector": {"type": "string"},
            }},
        },
    });
    Schema::from_value(&schema).unwrap_or_default()
});

/// Where the versions of a kind, told with their group, have the number of replicas: nowhere, when a
/// version has no scale.
pub type Places = BTreeMap<String, Option<Vec<PathElement>>>;

/// The number of replicas, in a Scale.
static REPLICAS: LazyLock<Set> =
    LazyLock::new(|| Set::of_fields([["spec", "replicas"].as_slice()]));

/// The managers of an object that own its number of replicas, as managers of its Scale; nothing when
/// there are none.
///
/// # Errors
/// When the object's managers cannot be read.
pub fn managers_of_scale(
    object: &Value,
    places: &Places,
) -> Result<Option<Value>, ManagedFieldsError> {
    let mut managed = Managed::decode(managed::raw_entries(object))?;
    managed.0.retain(|_, entry| owns(entry, places));
    for entry in managed.0.values_mut() {
        entry.api_version = SCALE_VERSION.to_owned();
        entry.held = REPLICAS.clone().into();
    }
    Ok(managed.to_json())
}

/// The managers of an object of this version, after its Scale was written; nothing when there are none.
///
/// # Errors
/// When the managers of either cannot be read.
pub fn managers_after_scale(
    object: &Value,
    scale: &Value,
    api_version: &str,
    places: &Places,
) -> Result<Option<Value>, ManagedFieldsError> {
    let before = Managed::decode(managed::raw_entries(object))?;
    let mut of_scale = Managed::decode(managed::raw_entries(scale))?.0;
    let times: BTreeMap<_, _> = before
        .0
        .iter()
        .map(|(key, e)| (key.clone(), e.time))
        .collect();
    let mut after = Managed::default();
    for (key, mut entry) in before.0 {
        // A kind that no longer has a version cannot say where its fields were.
        let Some(place) = places.get(&entry.api_version) else {
            continue;
        };
        if let Some(place) = place
            && entry.held.set().has(place)
            && of_scale.remove(&key).is_none()
        {
            let mut number = Set::new();
            number.insert(place);
            entry.held.subtract(&number);
            if entry.held.is_empty() {
                continue;
            }
        }
        after.0.insert(key, entry);
    }
    let mut number = Set::new();
    if let Some(Some(place)) = places.get(api_version) {
        number.insert(place);
    }
    for (key, entry) in of_scale {
        if entry.held.intersection(&REPLICAS).is_empty() {
            continue;
        }
        let entry = Entry {
            api_version: api_version.to_owned(),
            time: times.get(&key).copied().flatten(),
            held: number.clone().into(),
            ..entry
        };
        after.0.insert(key, entry);
    }
    Ok(after.to_json())
}

fn owns(entry: &Entry<'_>, places: &Places) -> bool {
    let place = places.get(&entry.api_version).and_then(Option::as_ref);
    place.is_some_and(|place| entry.held.set().has(place))
}
