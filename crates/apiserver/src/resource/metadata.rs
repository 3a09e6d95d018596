//! The rules of `metadata`, which are the same for every kind: which fields there are, what
//! names may look like, and what an update may not touch.

use serde_json::Value;

use super::names;
use super::{FOREGROUND, ORPHAN};
use crate::meta;
use crate::registry::{Hook, Kind};
use crate::status::Cause;

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

const OF_OWNER: [&str; 6] = [
    "apiVersion",
    "kind",
    "name",
    "uid",
    "controller",
    "blockOwnerDeletion",
];

fn is_empty(value: &Value) -> bool {
    let list = value.as_array().is_some_and(Vec::is_empty);
    list || value.as_object().is_some_and(serde_json::Map::is_empty)
}

/// Drops fields that no metadata has, and names them.
pub(super) fn prune(object: &mut Value) -> Vec<String> {
    let mut dropped = Vec::new();
    meta::metadata_mut(object).retain(|field, value| {
        let known = KNOWN.contains(&field.as_str());
        if !known {
            dropped.push(format!("metadata.{field}"));
        }
        known && !value.is_null() && !is_empty(value)
    });
    let owners = meta::metadata_mut(object).get_mut("ownerReferences");
    let owners = owners.and_then(Value::as_array_mut).into_iter().flatten();
    for (at, owner) in owners.enumerate() {
        let Some(owner) = owner.as_object_mut() else {
            continue;
        };
        owner.retain(|field, _| {
            let known = OF_OWNER.contains(&field.as_str());
            if !known {
                dropped.push(format!("metadata.ownerReferences[{at}].{field}"));
            }
            known
        });
    }
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

/// What a typed decoder would not read in the metadata, in its words.
pub(super) fn misread(kind: &Kind, object: &Value) -> Option<String> {
    let metadata = object.get("metadata")?;
    let Some(fields) = metadata.as_object() else {
        let of_whole = match kind.builtin {
            true => format!("Go struct field {}.metadata", kind.kind),
            false => "Go value".to_owned(),
        };
        let found = meta::json_type(metadata);
        let message =
            format!("json: cannot unmarshal {found} into {of_whole} of type v1.ObjectMeta");
        return (!metadata.is_null()).then_some(message);
    };
    let before = if kind.builtin { "metadata." } else { "" };
    for (field, value) in fields {
        let wrong = match field.as_str() {
            _ if value.is_null() => None,
            "labels" | "annotations" => match value.as_object() {
                Some(map) => map.values().find(|v| !v.is_string()).map(|v| (v, "string")),
                None => Some((value, "map[string]string")),
            },
            "finalizers" => match value.as_array() {
                Some(list) => list.iter().find(|v| !v.is_string()).map(|v| (v, "string")),
                None => Some((value, "[]string")),
            },
            "ownerReferences" => match value.as_array() {
                Some(list) => {
                    let wrong = list.iter().find(|v| !v.is_object());
                    wrong.map(|v| (v, "v1.OwnerReference"))
                }
                None => Some((value, "[]v1.OwnerReference")),
            },
            "managedFields" => match value.as_array() {
                Some(list) => {
                    let wrong = list.iter().find(|v| !v.is_object());
                    wrong.map(|v| (v, "v1.ManagedFieldsEntry"))
                }
                None => Some((value, "[]v1.ManagedFieldsEntry")),
            },
            "generation" | "deletionGracePeriodSeconds" => {
                (!value.is_i64()).then_some((value, "int64"))
            }
            "uid" => (!value.is_string()).then_some((value, "types.UID")),
            field if !KNOWN.contains(&field) => None,
            _ => (!value.is_string()).then_some((value, "string")),
        };
        if let Some((found, expected)) = wrong {
            let found = meta::json_type(found);
            return Some(format!(
                "json: cannot unmarshal {found} into Go struct field ObjectMeta.{before}{field} of type {expected}"
            ));
        }
    }
    None
}

/// What is wrong with the metadata of an object that is about to be stored. An update is judged
/// by the rules for all kinds and then by those of its own, which repeat much; so do the causes.
pub(super) fn validate(kind: &Kind, object: &Value, live: Option<&Value>) -> Vec<Cause> {
    let Some(live) = live else {
        return validate_whole(kind, object);
    };
    let mut causes = validate_common(object, names::path_segment);
    causes.extend(validate_update(object, live));
    causes.extend(validate_update(object, live));
    validate_core_finalizers(kind, object, &mut causes);
    if matches!(kind.hook, Hook::Immutable | Hook::Role | Hook::Binding) {
        causes.extend(validate_whole(kind, object));
    }
    causes
}

fn validate_whole(kind: &Kind, object: &Value) -> Vec<Cause> {
    let rule = match kind.hook {
        Hook::Namespace => names::dns_label,
        Hook::Role | Hook::Binding => names::path_segment,
        _ => names::dns_subdomain,
    };
    let mut causes = validate_common(object, rule);
    validate_core_finalizers(kind, object, &mut causes);
    causes
}

fn validate_common(object: &Value, rule: fn(&str) -> Vec<String>) -> Vec<Cause> {
    const FIELD: &str = "metadata.finalizers";
    let mut causes = Vec::new();
    validate_name(rule, object, &mut causes);
    validate_labels(object, &mut causes);
    validate_owners(object, &mut causes);
    let finalizers = meta::finalizers(object);
    for finalizer in &finalizers {
        refuse(FIELD, finalizer, names::qualified(finalizer), &mut causes);
    }
    if finalizers.contains(&FOREGROUND) && finalizers.contains(&ORPHAN) {
        let why = format!("finalizer {ORPHAN} and {FOREGROUND} cannot be both set");
        let shown = Value::from(finalizers).to_string();
        causes.push(Cause::invalid(FIELD, &shown, &why));
    }
    causes
}

/// The kinds of Kubernetes itself want the finalizers of others to say whose they are.
fn validate_core_finalizers(kind: &Kind, object: &Value, causes: &mut Vec<Cause>) {
    if !kind.builtin || kind.hook == Hook::Definition {
        return;
    }
    for (at, finalizer) in meta::finalizers(object).iter().enumerate() {
        if !finalizer.contains('/') && ![FOREGROUND, ORPHAN, "kubernetes"].contains(finalizer) {
            let why = "name is neither a standard finalizer name nor is it fully qualified";
            let path = format!("metadata.finalizers[{at}]");
            refuse(&path, finalizer, vec![why.to_owned()], causes);
        }
    }
}

fn refuse(field: &str, value: &str, why: Vec<String>, causes: &mut Vec<Cause>) {
    if why.is_empty() {
        return;
    }
    let shown = format!("{value:?}");
    causes.extend(why.iter().map(|why| Cause::invalid(field, &shown, why)));
}

fn validate_name(rule: fn(&str) -> Vec<String>, object: &Value, causes: &mut Vec<Cause>) {
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
    for field in ["deletionTimestamp", "deletionGracePeriodSeconds"] {
        let value = |object: &Value| object["metadata"][field].clone();
        if value(object) != value(live) {
            let (path, shown) = (format!("metadata.{field}"), value(object).to_string());
            causes.push(Cause::invalid(&path, &shown, "field is immutable"));
        }
    }
    validate_labels(object, &mut causes);
    validate_owners(object, &mut causes);
    causes
}
