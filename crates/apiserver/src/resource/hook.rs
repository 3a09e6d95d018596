//! The few built-ins whose writes mean more than storing an object: what is filled in before
//! the write, what is checked beyond the schema, and what follows the write.

mod access;
mod data;
mod definition;

use serde_json::{Value, json};

use super::Part;
use crate::admission;
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
        Hook::None | Hook::Account | Hook::Event | Hook::Role | Hook::Webhooks => {}
        Hook::Binding => access::prepare_binding(object),
        Hook::Immutable => data::fold(kind, object),
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
        Hook::None | Hook::Account | Hook::Namespace => Vec::new(),
        Hook::Event => validate_event(object, live),
        Hook::Immutable => {
            let mut causes = data::validate(kind, object, live);
            causes.extend(validate_token_secret(object));
            causes
        }
        Hook::Role => access::validate_role(kind, object),
        Hook::Binding => access::validate_binding(kind, object, live),
        Hook::Definition => definition::validate(core, object, live),
        Hook::Webhooks => admission::validate(object, live),
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
        | Hook::Definition
        | Hook::Webhooks => Ok(()),
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

/// Has an object that is about to be deleted wait for what the server does first: a definition for the
/// end of its objects.
pub(super) fn hold(kind: &Kind, object: &mut Value) {
    if kind.hook == Hook::Definition && !meta::is_deleting(object) {
        meta::add_finalizer(object, DEFINITION_FINALIZER);
    }
}

/// What every object of a typed kind has, also when nobody said anything: its required parts.
pub(super) fn blank(kind: &Kind) -> Value {
    let mut blank = json!({"apiVersion": kind.api_version(), "kind": kind.kind});
    if kind.hook == Hook::Definition {
        blank["spec"] = json!({"names": {}});
    }
    crate::schema::default(kind.schema(), &mut blank);
    blank
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
        Hook::None
        | Hook::Account
        | Hook::Event
        | Hook::Immutable
        | Hook::Role
        | Hook::Binding
        | Hook::Webhooks => {}
    }
}

/// What follows a write.
pub(super) fn written(core: &Core, kind: &Kind) {
    match kind.hook {
        Hook::Definition => core.registry.reload(&core.store),
        Hook::Webhooks => core.admission.reload(&core.store),
        Hook::None
        | Hook::Account
        | Hook::Event
        | Hook::Immutable
        | Hook::Namespace
        | Hook::Role
        | Hook::Binding => {}
    }
}

/// An event lies in the namespace of what it is about.
fn validate_event(object: &Value, live: Option<&Value>) -> Vec<Cause> {
    let field = ["involvedObject", "regarding"]
        .into_iter()
        .find(|field| !object[*field].is_null());
    let Some(field) = field.filter(|_| live.is_none()) else {
        return Vec::new();
    };
    let about = meta::string(&object[field], "namespace");
    let here = meta::namespace(object);
    if about == here || (about.is_empty() && here == "default") {
        return Vec::new();
    }
    let why = "does not match event.namespace";
    vec![Cause::invalid(
        "involvedObject.namespace",
        &format!("{about:?}"),
        why,
    )]
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
