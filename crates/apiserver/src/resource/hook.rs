//! The few built-ins whose writes mean more than storing an object: what is filled in before
//! the write, what is checked beyond the schema, and what follows the write.

mod access;
mod definition;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::Part;
use crate::auth::Identity;
use crate::auth::token::{ACCOUNT_NAME, SECRET_TYPE};
use crate::core::Core;
use crate::meta;
use crate::registry::{Hook, Kind};
use crate::status::{ApiError, Cause};

pub(crate) use definition::FINALIZER as DEFINITION_FINALIZER;

/// Fills in what the server itself decides about an object that is about to be stored.
pub(super) fn prepare(
    core: &Core,
    kind: &Kind,
    object: &mut Value,
    live: Option<&Value>,
    part: Part,
) {
    match kind.hook {
        Hook::None | Hook::Account | Hook::Event | Hook::Role => {}
        Hook::Binding => access::prepare_binding(object),
        Hook::Immutable => fold_string_data(kind, object),
        Hook::Namespace => prepare_namespace(object, live, part),
        Hook::Definition => definition::prepare(core, object, live, part),
    }
}

/// What is wrong with an object beyond its schema.
pub(super) fn validate(
    core: &Core,
    kind: &Kind,
    object: &Value,
    live: Option<&Value>,
) -> Vec<Cause> {
    match kind.hook {
        Hook::None | Hook::Account | Hook::Event | Hook::Namespace => Vec::new(),
        Hook::Immutable => {
            let mut causes = validate_immutable(object, live);
            causes.extend(validate_token_secret(object));
            causes
        }
        Hook::Role => access::validate_role(kind, object),
        Hook::Binding => access::validate_binding(kind, object, live),
        Hook::Definition => definition::validate(core, object, live),
    }
}

/// Refuses a write that the caller may make to the kind, but not with this content.
pub(super) fn check_caller(
    core: &Core,
    kind: &Kind,
    object: &Value,
    live: Option<&Value>,
    caller: &Identity,
) -> Result<(), ApiError> {
    match kind.hook {
        Hook::Role | Hook::Binding => access::check_grant(core, kind, object, live, caller),
        Hook::None
        | Hook::Account
        | Hook::Event
        | Hook::Immutable
        | Hook::Namespace
        | Hook::Definition => Ok(()),
    }
}

/// Whether a write to the status may also change labels and annotations, as upstream lets it for
/// namespaces.
pub(super) fn status_covers_metadata(kind: &Kind) -> bool {
    kind.hook == Hook::Namespace
}

/// What has to be done before a deleted object may go.
pub(crate) fn finalizers<'a>(kind: &Kind, object: &'a Value) -> Vec<&'a str> {
    let mut all = meta::finalizers(object);
    if kind.hook == Hook::Namespace {
        all.extend(meta::strings(object.pointer("/spec/finalizers")));
    }
    all
}

/// Refuses to delete what the server cannot be without.
pub(super) fn check_delete(kind: &Kind, name: &str) -> Result<(), ApiError> {
    let needed = kind.hook == Hook::Namespace && matches!(name, "default" | "kube-system");
    if needed {
        return Err(ApiError::forbidden(
            kind,
            name,
            "this namespace may not be deleted",
        ));
    }
    Ok(())
}

/// What the deletion of an object changes in it beyond its metadata.
pub(super) fn mark_deleting(kind: &Kind, object: &mut Value) {
    match kind.hook {
        Hook::Namespace => {
            meta::child_mut(object, "status").insert("phase".into(), "Terminating".into());
        }
        Hook::Definition => definition::mark_deleting(object),
        Hook::None | Hook::Account | Hook::Event | Hook::Immutable | Hook::Role | Hook::Binding => {
        }
    }
}

/// What follows a write.
pub(super) fn written(core: &Core, kind: &Kind) {
    if kind.hook == Hook::Definition {
        core.registry.reload(&core.store);
    }
}

fn fold_string_data(kind: &Kind, object: &mut Value) {
    let map = meta::as_map(object);
    if kind.kind != "Secret" {
        return;
    }
    let clear = map.remove("stringData");
    if map
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .is_empty()
    {
        map.insert("type".into(), "Opaque".into());
    }
    let Some(Value::Object(clear)) = clear else {
        return;
    };
    let data = meta::child_mut(object, "data");
    for (key, value) in clear {
        let text = value.as_str().unwrap_or_default();
        data.insert(key, STANDARD.encode(text).into());
    }
}

fn validate_immutable(object: &Value, live: Option<&Value>) -> Vec<Cause> {
    let mut causes = validate_keys(object);
    let Some(live) = live.filter(|l| l["immutable"] == true) else {
        return causes;
    };
    let why = "field is immutable when `immutable` is set";
    let changed = |field: &&str| object.get(*field) != live.get(*field);
    let fields = ["data", "binaryData"].into_iter().filter(changed);
    causes.extend(fields.map(|field| Cause::forbidden(field, why)));
    if object["immutable"] != true {
        causes.push(Cause::forbidden("immutable", why));
    }
    causes
}

/// The keys become names of files and variables where a secret is used.
fn validate_keys(object: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    for field in ["data", "binaryData"] {
        let keys = object.get(field).and_then(Value::as_object);
        for key in keys.into_iter().flat_map(|map| map.keys()) {
            let place = format!("{field}[{key}]");
            let mut refuse = |why: &str| {
                causes.push(Cause::invalid(&place, &format!("{key:?}"), why));
            };
            let legal = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
            if key.len() > 253 {
                refuse("must be no more than 253 bytes");
            }
            if key.is_empty() || !key.chars().all(legal) {
                refuse(
                    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
                );
            }
            match key.as_str() {
                "." => refuse("must not be '.'"),
                ".." => refuse("must not be '..'"),
                _ if key.starts_with("..") => refuse("must not start with '..'"),
                _ => {}
            }
        }
    }
    causes
}

/// A secret for a token names the account whose token it is for.
fn validate_token_secret(object: &Value) -> Option<Cause> {
    let named = &object["metadata"]["annotations"][ACCOUNT_NAME];
    let is_named = !named.as_str().unwrap_or_default().is_empty();
    let wrong = object["type"] == SECRET_TYPE && !is_named;
    wrong.then(|| Cause::required(&format!("metadata.annotations[{ACCOUNT_NAME}]"), ""))
}

fn prepare_namespace(object: &mut Value, live: Option<&Value>, part: Part) {
    let name = meta::name(object).to_owned();
    match live {
        None => {
            meta::child_mut(object, "spec").insert("finalizers".into(), json!(["kubernetes"]));
            meta::as_map(object).insert("status".into(), json!({"phase": "Active"}));
        }
        // The finalizers of the spec are for the server alone.
        Some(live) if part == Part::Main => meta::copy_field(object, live, "spec"),
        Some(_) => {}
    }
    let labels = meta::metadata_mut(object)
        .entry("labels")
        .or_insert_with(|| json!({}));
    meta::as_map(labels).insert("kubernetes.io/metadata.name".into(), name.into());
}
