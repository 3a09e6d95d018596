//! The rules of `metadata`, which are the same for every kind: which fields there are, what
//! names may look like, and what an update may not touch.

use serde_json::Value;

use super::names;
use super::{FOREGROUND, ORPHAN};
use crate::meta;
use crate::registry::{Hook, Kind};
use crate::status::{ApiError, Cause};

const KNOWN: [&str; 15] = [
    "annotations",
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "finalizers",
    "generateName",
    "generation",
    "labels",
    "managedFields",
    "name",
    "namespace",
    "ownerReferences",
    "resourceVersion",
    "selfLink",
    "uid",
];

/// Drops fields that no metadata has, and names them.
pub(super) fn prune(object: &mut Value) -> Vec<String> {
    let mut dropped = Vec::new();
    meta::metadata_mut(object).retain(|field, value| {
        let known = KNOWN.contains(&field.as_str());
        if !known {
            dropped.push(format!("metadata.{field}"));
        }
        known && !value.is_null()
    });
    dropped
}

/// Drops lists and maps without entries, which a typed server does not tell from absent ones.
pub(super) fn drop_empty(object: &mut Value) {
    let metadata = meta::metadata_mut(object);
    for field in ["labels", "annotations"] {
        if metadata
            .get(field)
            .and_then(Value::as_object)
            .is_some_and(serde_json::Map::is_empty)
        {
            metadata.remove(field);
        }
    }
    for field in ["finalizers", "ownerReferences"] {
        if metadata
            .get(field)
            .and_then(Value::as_array)
            .is_some_and(Vec::is_empty)
        {
            metadata.remove(field);
        }
    }
}

/// Refuses metadata of the wrong JSON types, as a typed decoder would.
pub(super) fn check_types(object: &Value) -> Result<(), ApiError> {
    let Some(metadata) = object.get("metadata") else {
        return Ok(());
    };
    if !metadata.is_object() && !metadata.is_null() {
        return Err(mismatch("metadata", "v1.ObjectMeta", metadata));
    }
    for (field, value) in metadata.as_object().into_iter().flatten() {
        let path = format!("metadata.{field}");
        match field.as_str() {
            _ if value.is_null() => {}
            "labels" | "annotations" => {
                let Some(map) = value.as_object() else {
                    return Err(mismatch(&path, "map[string]string", value));
                };
                if let Some(wrong) = map.values().find(|v| !v.is_string()) {
                    return Err(mismatch(&path, "string", wrong));
                }
            }
            "finalizers" => match value.as_array() {
                Some(list) if list.iter().all(Value::is_string) => {}
                _ => return Err(mismatch(&path, "[]string", value)),
            },
            "ownerReferences" | "managedFields" => match value.as_array() {
                Some(list) if list.iter().all(Value::is_object) => {}
                _ => return Err(mismatch(&path, "[]object", value)),
            },
            "generation" | "deletionGracePeriodSeconds" if value.is_i64() => {}
            "generation" | "deletionGracePeriodSeconds" => {
                return Err(mismatch(&path, "int64", value));
            }
            _ if value.is_string() || !KNOWN.contains(&field.as_str()) => {}
            _ => return Err(mismatch(&path, "string", value)),
        }
    }
    Ok(())
}

fn mismatch(path: &str, expected: &str, found: &Value) -> ApiError {
    let found = match found {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    ApiError::bad_request(format!(
        "json: cannot unmarshal {found} into Go struct field ObjectMeta.{path} of type {expected}"
    ))
}

/// What is wrong with the metadata of an object that is about to be stored.
pub(super) fn validate(kind: &Kind, object: &Value, live: Option<&Value>) -> Vec<Cause> {
    let Some(live) = live else {
        return validate_new(kind, object);
    };
    let mut causes = validate_update(object, live);
    if kind.hook == Hook::Immutable {
        // The typed kinds behind this hook are judged as a whole once more.
        causes.extend(validate_new(kind, object));
    }
    causes
}

fn validate_new(kind: &Kind, object: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    validate_name(kind, object, &mut causes);
    validate_labels(object, &mut causes);
    validate_owners(object, &mut causes);
    let finalizers = meta::finalizers(object);
    for finalizer in &finalizers {
        refuse(
            "metadata.finalizers",
            finalizer,
            names::qualified(finalizer),
            &mut causes,
        );
    }
    if finalizers.contains(&FOREGROUND) && finalizers.contains(&ORPHAN) {
        let why = format!("finalizer {ORPHAN} and {FOREGROUND} cannot be both set");
        let shown = Value::from(finalizers).to_string();
        causes.push(Cause::invalid("metadata.finalizers", &shown, &why));
    }
    validate_managers(object, &mut causes);
    causes
}

fn refuse(field: &str, value: &str, why: Vec<String>, causes: &mut Vec<Cause>) {
    let shown = format!("{value:?}");
    causes.extend(why.iter().map(|why| Cause::invalid(field, &shown, why)));
}

fn validate_name(kind: &Kind, object: &Value, causes: &mut Vec<Cause>) {
    let rule = match kind.hook {
        Hook::Namespace => names::dns_label,
        Hook::Role | Hook::Binding => names::path_segment,
        _ => names::dns_subdomain,
    };
    let base = meta::text(object, "generateName");
    if !base.is_empty() {
        // A dash at the end is followed by what is drawn.
        let masked = match base.strip_suffix('-') {
            Some(rest) if !rest.is_empty() => {
                let kept = rest.char_indices().next_back().map_or(0, |(at, _)| at);
                format!("{}a", &rest[..kept])
            }
            _ => base.to_owned(),
        };
        refuse("metadata.generateName", base, rule(&masked), causes);
    }
    match meta::name(object) {
        "" => causes.push(Cause::required(
            "metadata.name",
            "name or generateName is required",
        )),
        name => refuse("metadata.name", name, rule(name), causes),
    }
}

fn validate_labels(object: &Value, causes: &mut Vec<Cause>) {
    let map = |field| {
        let map = object.pointer(field).and_then(Value::as_object);
        map.into_iter().flatten()
    };
    for (key, value) in map("/metadata/labels") {
        let value = value.as_str().unwrap_or_default();
        refuse("metadata.labels", key, names::qualified(key), causes);
        refuse("metadata.labels", value, names::label_value(value), causes);
    }
    let mut size = 0;
    for (key, value) in map("/metadata/annotations") {
        let why = names::qualified(&key.to_lowercase());
        refuse("metadata.annotations", key, why, causes);
        size += key.len() + value.as_str().map_or(0, str::len);
    }
    if size > 256 * 1024 {
        let message = "Too long: may not be more than 262144 bytes".to_owned();
        causes.push(Cause::new(
            "FieldValueTooLong",
            "metadata.annotations",
            message,
        ));
    }
}

fn validate_owners(object: &Value, causes: &mut Vec<Cause>) {
    const FIELD: &str = "metadata.ownerReferences";
    let owners = object
        .pointer("/metadata/ownerReferences")
        .and_then(Value::as_array);
    let mut first_controller: Option<String> = None;
    for owner in owners.into_iter().flatten() {
        let text = |field: &str| owner[field].as_str().unwrap_or_default();
        let version = text("apiVersion").rsplit('/').next().unwrap_or_default();
        if version.is_empty() {
            let shown = format!("{:?}", text("apiVersion"));
            let why = "version must not be empty";
            causes.push(Cause::invalid(&format!("{FIELD}.apiVersion"), &shown, why));
        }
        for field in ["kind", "name", "uid"] {
            if text(field).is_empty() {
                let path = format!("{FIELD}.{field}");
                causes.push(Cause::invalid(&path, "\"\"", "must not be empty"));
            }
        }
        if (text("apiVersion"), text("kind")) == ("v1", "Event") {
            let why = "/v1, Kind=Event is disallowed from being an owner";
            causes.push(Cause::invalid(FIELD, &owner_text(owner), why));
        }
        if owner["controller"] == true {
            let name = format!("{}/{}", text("kind"), text("name"));
            match &first_controller {
                None => first_controller = Some(name),
                Some(first) => {
                    let why = format!(
                        "Only one reference can have Controller set to true. Found \"true\" in references for {first} and {name}"
                    );
                    let all: Vec<_> = owners.into_iter().flatten().map(owner_text).collect();
                    let shown = format!("[{}]", all.join(","));
                    causes.push(Cause::invalid(FIELD, &shown, &why));
                }
            }
        }
    }
}

/// An owner with its fields in the order in which Kubernetes writes them.
fn owner_text(owner: &Value) -> String {
    let fields = ["apiVersion", "kind", "name", "uid"].map(|field| (field, true));
    let optional = ["controller", "blockOwnerDeletion"].map(|field| (field, false));
    let shown: Vec<String> = fields
        .into_iter()
        .chain(optional)
        .filter_map(|(field, required)| match &owner[field] {
            Value::Null if required => Some(format!("\"{field}\":\"\"")),
            Value::Null => None,
            value => Some(format!("\"{field}\":{value}")),
        })
        .collect();
    format!("{{{}}}", shown.join(","))
}

fn validate_managers(object: &Value, causes: &mut Vec<Cause>) {
    let entries = object
        .pointer("/metadata/managedFields")
        .and_then(Value::as_array);
    for (at, entry) in entries.into_iter().flatten().enumerate() {
        let path = format!("metadata.managedFields[{at}]");
        let text = |field: &str| entry[field].as_str().unwrap_or_default();
        if !matches!(text("operation"), "Apply" | "Update") {
            let shown = format!("{:?}", text("operation"));
            let why = "must be `Apply` or `Update`";
            causes.push(Cause::invalid(&format!("{path}.operation"), &shown, why));
        }
        if !matches!(text("fieldsType"), "" | "FieldsV1") {
            let shown = format!("{:?}", text("fieldsType"));
            let path = format!("{path}.fieldsType");
            causes.push(Cause::invalid(&path, &shown, "must be `FieldsV1`"));
        }
    }
}

/// What an update may not change, and what it may not do while the object is being deleted.
fn validate_update(object: &Value, live: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    if meta::is_deleting(live) {
        let before = meta::finalizers(live);
        let mut added: Vec<_> = meta::finalizers(object)
            .into_iter()
            .filter(|f| !before.contains(f))
            .map(|f| format!("{f:?}"))
            .collect();
        added.sort();
        if !added.is_empty() {
            causes.push(Cause::forbidden(
                "metadata.finalizers",
                &format!(
                    "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
                    added.join(", ")
                ),
            ));
        }
    }
    for field in ["name", "namespace", "uid"] {
        let (new, old) = (meta::text(object, field), meta::text(live, field));
        if new != old {
            let why = "field is immutable".to_owned();
            refuse(&format!("metadata.{field}"), new, vec![why], &mut causes);
        }
    }
    validate_labels(object, &mut causes);
    validate_owners(object, &mut causes);
    validate_managers(object, &mut causes);
    causes
}
