//! Server-side apply: who owns which field of an object, and what an apply does to it.
//!
//! [`apply`] merges what an applier states into the live object and refuses to change what
//! others own; [`track_update`] records who wrote what in every other write. Both are pure:
//! time, schema and live object come in, the object with its `metadata.managedFields` comes
//! out. Decoding requests, defaulting, pruning, validation, resetting the fields that a
//! (sub)resource does not own, and storing the result are left to the caller.
//!
//! The semantics are those of `sigs.k8s.io/structured-merge-diff` and of the `managedfields`
//! package of Kubernetes; `testdata/` holds what those two answer, and a test that this module
//! answers the same. It differs on purpose in three things: ownership is not rewritten when a
//! list or map changes its type, what an apply empties but keeps is left empty instead of null
//! unless it is nullable, and managers of a version that a custom kind no longer has are
//! forgotten, where Kubernetes means to forget them and fails.

mod aside;
mod compare;
mod error;
mod field_set;
mod fields;
mod held;
mod item;
mod last_applied;
mod managed;
mod managers;
mod merge;
mod object_meta;
mod ownership;
mod path;
mod remove;
mod scale;
mod set;
mod shape;
mod validate;
mod value;
mod versions;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::sync::LazyLock;

use serde_json::{Map, Value};

pub use error::{ApplyError, Conflict};
pub use fields::FieldsError;
pub use managed::ManagedFieldsError;
pub use path::{PathElement, PathError, display_path};
pub use scale::{Places, SCALE, SCALE_VERSION, managers_after_scale, managers_of_scale};
pub use set::Set;
pub(crate) use value::go_json;
pub use versions::Versions;

use crate::meta;
use crate::schema::Schema;
use managed::Managed;
use managers::{Aside, Request};
use ownership::{Refusal, Rules};
use shape::Shape;

static NOTHING: LazyLock<Set> = LazyLock::new(Set::new);

/// Who writes, through what, and when.
#[derive(Debug, Clone, Copy)]
pub struct Manager<'a> {
    /// The field manager's name; empty means `unknown`.
    pub name: &'a str,
    /// The version at which the object is written, with its group: `example.io/v1`.
    pub api_version: &'a str,
    /// The subresource, or empty for the object itself.
    pub subresource: &'a str,
    /// The time of the write, as RFC 3339.
    pub now: &'a str,
}

/// Server-side apply: merges `applied` into `live` (`None` creates) and returns the object with
/// its managed fields.
///
/// `ignore` names the fields that this request cannot change, such as `status` on the main
/// resource: they are not owned, but they are merged, so the caller resets them. An apply that
/// changes nothing returns the live object, its times included.
pub fn apply(
    versions: &dyn Versions,
    live: Option<&Value>,
    applied: &Value,
    manager: &Manager<'_>,
    force: bool,
    ignore: &Set,
) -> Result<Value, ApplyError> {
    apply_by(versions, live, applied, manager, force, ignore, true)
}

/// Applies with or without the shortcuts around what cannot change; a test holds that both ways
/// lead to the same.
fn apply_by(
    versions: &dyn Versions,
    live: Option<&Value>,
    applied: &Value,
    manager: &Manager<'_>,
    force: bool,
    ignore: &Set,
    shortcuts: bool,
) -> Result<Value, ApplyError> {
    let mut request = request(versions, manager, ignore)?;
    request.rules.shortcuts = shortcuts;
    check_type(live, applied, manager)?;
    if applied
        .pointer("/metadata/managedFields")
        .is_some_and(|fields| !fields.is_null())
    {
        return Err(ApplyError::ManagedFieldsInApplied);
    }
    let managed = Managed::decode(live.and_then(managed::raw_entries))?;
    let aside = match live {
        Some(live) if shortcuts => request.untouched(live, applied, &managed),
        _ => Aside::new(),
    };
    let base = match live {
        Some(live) => {
            let kept = |name: &str| !aside.contains_key(name);
            without_managed_fields(live, manager.api_version, kept)
        }
        None => empty_object(manager.api_version, applied.get("kind")),
    };
    let stated = without_null_creation_time(applied);

    let again = (manager.name == last_applied::KUBECTL).then(|| managed.clone());
    let first = request.apply(&base, &aside, &stated, managed, force);
    let (new, managed) = match (first, again) {
        (Err(Refusal::Contested(contested)), Some(managed)) => {
            let client = last_applied::owned_by_client(request.shape(), &base, manager.api_version);
            let client = client.unwrap_or_default();
            let left: Vec<_> = contested
                .into_iter()
                .filter(|c| !client.has(&c.path))
                .collect();
            if left.is_empty() {
                request.apply(&base, &aside, &stated, managed, true)
            } else {
                Err(Refusal::Contested(left))
            }
        }
        (result, _) => result,
    }
    .map_err(|refusal| match refusal {
        Refusal::Contested(all) => {
            ApplyError::Conflicts(all.into_iter().map(Conflict::from).collect())
        }
        Refusal::Other(err) => err,
    })?;

    let mut new = new.unwrap_or(base);
    if let Some(fields) = new.as_object_mut() {
        let aside = aside.into_iter();
        fields.extend(aside.map(|(name, field)| (name.to_owned(), field.clone())));
    }
    if manager.name == last_applied::KUBECTL {
        last_applied::refresh(&mut new, &stated);
    }
    managed::write_into(&mut new, managed.to_json());
    if let Some(live) = live {
        keep_times_if_unchanged(live, &mut new);
    }
    Ok(new)
}

/// Records who wrote what in a create (`live` is `None`), an update or a patch other than apply:
/// `new` is what will be stored, and comes back with its managed fields.
///
/// Managed fields that the writer sends count, save through a subresource: `[{}]` or an empty
/// list makes the object forget its managers, and an object without managers is not tracked
/// until someone applies to it. An error means that an object does not fit its schema; a caller
/// that would rather store than refuse keeps the managed fields of the live object.
pub fn track_update(
    versions: &dyn Versions,
    live: Option<&Value>,
    mut new: Value,
    manager: &Manager<'_>,
    ignore: &Set,
) -> Result<Value, ApplyError> {
    let request = request(versions, manager, ignore)?;
    if !new.is_object() {
        return Err(ApplyError::NotAnObject("new"));
    }
    let managed = managed_before_update(live, &new, manager);
    let is_stored = live.is_some_and(|live| {
        live.pointer("/metadata/uid")
            .and_then(Value::as_str)
            .is_some_and(|uid| !uid.is_empty())
    });
    if managed.0.is_empty() && is_stored {
        managed::remove_from(&mut new);
        return Ok(new);
    }
    let base = match live {
        Some(live) if !live.is_object() => return Err(ApplyError::NotAnObject("live")),
        Some(live) => bare(live, manager.api_version),
        None => Cow::Owned(empty_object(manager.api_version, new.get("kind"))),
    };
    let managed = request.update(&base, &bare(&new, manager.api_version), managed)?;
    let managed = managed.to_json();
    managed::write_into(&mut new, managed);
    if let Some(live) = live {
        keep_times_if_unchanged(live, &mut new);
    }
    Ok(new)
}

/// Gives `new` the managed fields of `live` when the two differ in the times of managed fields
/// alone, so that a write that changes nothing is not a change.
///
/// [`apply`] and [`track_update`] do this themselves; a caller that alters the object afterwards,
/// by defaults say, does it again.
pub fn keep_times_if_unchanged(live: &Value, new: &mut Value) {
    let fields = "/metadata/managedFields";
    let (Some(before), Some(after)) = (live.pointer(fields), new.pointer(fields)) else {
        return;
    };
    if !managed::is_same_but_for_times(before, after) {
        return;
    }
    let before = before.clone();
    let Some(place) = new.pointer_mut("/metadata/managedFields") else {
        return;
    };
    let timed = std::mem::replace(place, before);
    if new != live
        && let Some(place) = new.pointer_mut("/metadata/managedFields")
    {
        *place = timed;
    }
}

/// Whether the managed fields of an object can be read.
///
/// # Errors
/// When they cannot; the first entry that is wrong is named.
pub fn check_managed_fields(object: &Value) -> Result<(), ManagedFieldsError> {
    Managed::decode(managed::raw_entries(object)).map(|_| ())
}

/// The part of an object that these fields make up, with the keys of its list items; null when
/// there is none.
pub fn extract(schema: &Schema, object: &Value, fields: &Set) -> Value {
    remove::extract_items(Shape::root(schema), object, fields)
}

fn request<'a>(
    versions: &'a dyn Versions,
    manager: &Manager<'a>,
    ignore: &'a Set,
) -> Result<Request<'a>, ApplyError> {
    let now = manager.now.parse().map_err(|source| ApplyError::Now {
        now: manager.now.into(),
        source,
    })?;
    let schema = versions
        .schema(manager.api_version)
        .ok_or_else(|| ApplyError::NoVersion(manager.api_version.into()))?;
    // As in Kubernetes: what a write to a subresource cannot change, it changes in no version; a
    // write to the object itself is held to it in its own version alone.
    let ignore_elsewhere = if manager.subresource.is_empty() {
        &*NOTHING
    } else {
        ignore
    };
    Ok(Request {
        rules: Rules {
            api_version: manager.api_version,
            shape: Shape::root(schema),
            versions,
            ignore,
            ignore_elsewhere,
            shortcuts: true,
        },
        manager: manager.name,
        subresource: manager.subresource,
        now,
    })
}

fn check_type(
    live: Option<&Value>,
    applied: &Value,
    manager: &Manager<'_>,
) -> Result<(), ApplyError> {
    if !applied.is_object() {
        return Err(ApplyError::NotAnObject("applied"));
    }
    if live.is_some_and(|live| !live.is_object()) {
        return Err(ApplyError::NotAnObject("live"));
    }
    let text =
        |object: &Value, name: &str| object.get(name).and_then(Value::as_str).map(str::to_owned);
    let kind = text(applied, "kind").unwrap_or_default();
    let version = text(applied, "apiVersion").unwrap_or_default();
    let expected_kind = live
        .and_then(|live| text(live, "kind"))
        .unwrap_or_else(|| kind.clone());
    if version == manager.api_version && kind == expected_kind {
        return Ok(());
    }
    Err(ApplyError::WrongType {
        found: format!("{version}, Kind={kind}"),
        expected: format!("{}, Kind={expected_kind}", manager.api_version),
    })
}

/// The managers to start from: the ones sent with the request when they can be read, so that
/// people can edit them, and else the stored ones, so that clients who do not know the field
/// do not lose it.
fn managed_before_update<'v>(
    live: Option<&'v Value>,
    new: &'v Value,
    manager: &Manager<'_>,
) -> Managed<'v> {
    let stored = || Managed::decode(live.and_then(managed::raw_entries)).unwrap_or_default();
    if !manager.subresource.is_empty() {
        return stored();
    }
    let sent = managed::raw_entries(new);
    if sent.as_deref().is_some_and(managed::is_reset) {
        return Managed::default();
    }
    match Managed::decode(sent) {
        Ok(sent) if !sent.0.is_empty() => sent,
        _ => stored(),
    }
}

/// The object in this version without its managed fields, which it may be already.
fn bare<'v>(object: &'v Value, api_version: &str) -> Cow<'v, Value> {
    let is_managed = object.pointer("/metadata/managedFields").is_some();
    let is_here = object.get("apiVersion").and_then(Value::as_str) == Some(api_version);
    match is_here && !is_managed {
        true => Cow::Borrowed(object),
        false => Cow::Owned(without_managed_fields(object, api_version, |_| true)),
    }
}

/// The object without its managed fields, and with those of its fields alone that are to be kept.
fn without_managed_fields(object: &Value, api_version: &str, kept: impl Fn(&str) -> bool) -> Value {
    let mut object = meta::clone_without_managers(object, kept);
    if let Some(fields) = object.as_object_mut() {
        fields.insert("apiVersion".into(), api_version.into());
    }
    object
}

/// Typed clients send this null without meaning it; merged, it would erase the stored time.
fn without_null_creation_time(applied: &Value) -> Cow<'_, Value> {
    let time = applied.pointer("/metadata/creationTimestamp");
    let mut applied = Cow::Borrowed(applied);
    if time.is_some_and(Value::is_null)
        && let Some(metadata) = applied.to_mut().get_mut("metadata")
        && let Some(metadata) = metadata.as_object_mut()
    {
        metadata.remove("creationTimestamp");
    }
    applied
}

/// What an object is compared with before it exists.
fn empty_object(api_version: &str, kind: Option<&Value>) -> Value {
    let mut fields = Map::new();
    fields.insert("apiVersion".into(), api_version.into());
    if let Some(kind) = kind {
        fields.insert("kind".into(), kind.clone());
    }
    Value::Object(fields)
}
