//! The scale subresource: `autoscaling/v1` Scale as a view on any kind that declares where its
//! replicas are.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::patch::{apply_error, check_applied_type, patch_error};
use super::update::{Proposal, check_uid, check_version};
use super::{Address, Part, PatchKind, WriteOptions, Written, scale_body};
use crate::apply::{self, Manager, PathElement, Places, SCALE, SCALE_VERSION, Set};
use crate::core::Core;
use crate::meta;
use crate::patch::{self, Lists};
use crate::registry::Scale;
use crate::status::{ApiError, Cause};

/// Stands for a number of replicas that is not there.
const ABSENT: i64 = i32::MIN as i64;

impl Core {
    /// The Scale of an object.
    pub(crate) async fn scale(&self, at: &Address, paths: &Scale) -> Result<Value, ApiError> {
        let object = self.get(at).await?;
        if meta::at_path(&object, &paths.spec_replicas).is_none() {
            let path = &paths.spec_replicas;
            let why = format!("the spec replicas field {path:?} does not exist");
            return Err(ApiError::internal_cause(&why));
        }
        Ok(view(paths, &object))
    }

    /// Replaces the Scale of an object.
    pub(crate) async fn update_scale(
        &self,
        at: &Address,
        paths: &Scale,
        body: &Value,
        options: &WriteOptions,
    ) -> Result<Written, ApiError> {
        scale_body::check_replacement(at, body)?;
        self.write_scale(at, paths, options, |live, manager| {
            check_uid(at, body, live)?;
            check_version(&at.kind, &at.name, body, live, false)?;
            let mut new = view(paths, live);
            let replicas = body.pointer("/spec/replicas").unwrap_or(&Value::Null);
            new["spec"] = json!({ "replicas": replicas });
            Ok(record(live, new, manager))
        })
        .await
    }

    /// Patches the Scale of an object.
    pub(crate) async fn patch_scale(
        &self,
        at: &Address,
        paths: &Scale,
        kind: PatchKind,
        body: &Value,
        options: &WriteOptions,
    ) -> Result<Written, ApiError> {
        match kind {
            PatchKind::Change(how) => {
                self.write_scale(at, paths, options, |live, manager| {
                    let bare = meta::clone_without_managers(live, |_| true);
                    let patched = patch::apply_patch(how, Lists::of(&at.kind), &bare, body)
                        .map_err(|error| patch_error(&error))?;
                    scale_body::check_patched(at, how, body, &patched)?;
                    check_version(&at.kind, &at.name, &patched, live, false)?;
                    Ok(record(live, patched, manager))
                })
                .await
            }
            PatchKind::Apply => self.apply_scale(at, paths, body, options).await,
        }
    }

    async fn apply_scale(
        &self,
        at: &Address,
        paths: &Scale,
        body: &Value,
        options: &WriteOptions,
    ) -> Result<Written, ApiError> {
        check_applied_type(SCALE_VERSION, "Scale", body)?;
        let says_where = !meta::namespace(body).is_empty();
        let mut stated = body.clone();
        let metadata = meta::metadata_mut(&mut stated);
        metadata
            .entry("name")
            .or_insert_with(|| at.name.clone().into());
        scale_body::check_meant_for(at, &stated)?;
        let metadata = meta::metadata_mut(&mut stated);
        for field in ["resourceVersion", "uid", "creationTimestamp"] {
            metadata.remove(field);
        }
        self.write_scale(at, paths, options, |live, manager| {
            check_uid(at, body, live)?;
            check_version(&at.kind, &at.name, body, live, false)?;
            apply::apply(
                &*SCALE,
                Some(live),
                &stated,
                manager,
                options.force,
                &Set::new(),
            )
            .map_err(|error| apply_error(at, says_where, error))
        })
        .await
    }

    /// Writes what `change` makes of the Scale of an object, which it is given with its managers.
    async fn write_scale(
        &self,
        at: &Address,
        paths: &Scale,
        options: &WriteOptions,
        change: impl Fn(&Value, &Manager<'_>) -> Result<Value, ApiError>,
    ) -> Result<Written, ApiError> {
        let places = self.places_of_replicas(at);
        let api_version = at.kind.api_version();
        let unreadable = |error: apply::ManagedFieldsError| ApiError::internal(error.to_string());
        let written = self
            .modify(at, Part::Scale, options, |live| {
                let now = meta::now();
                let manager = Manager {
                    name: &options.manager,
                    api_version: SCALE_VERSION,
                    subresource: Part::Scale.name(),
                    now: &now,
                };
                let mut before = view(paths, live);
                if meta::at_path(live, &paths.spec_replicas).is_none() {
                    before["spec"]["replicas"] = ABSENT.into();
                }
                if let Some(managers) =
                    apply::managers_of_scale(live, &places).map_err(unreadable)?
                {
                    before["metadata"]["managedFields"] = managers;
                }
                let after = change(&before, &manager)?;
                if after.pointer("/spec/replicas") == Some(&ABSENT.into()) {
                    let path = &paths.spec_replicas;
                    let why = format!("the spec replicas field {path:?} cannot be empty");
                    return Err(ApiError::bad_request(why));
                }
                let mut object = with_replicas(paths, live, &after)?;
                let managers = apply::managers_after_scale(live, &after, &api_version, &places)
                    .map_err(unreadable)?;
                let metadata = meta::metadata_mut(&mut object);
                match managers {
                    Some(managers) => metadata.insert("managedFields".into(), managers),
                    None => metadata.remove("managedFields"),
                };
                Ok(Proposal::Recorded(object))
            })
            .await?;
        Ok(Written {
            object: view(paths, &written.object),
            entry: None,
            ..written
        })
    }

    /// Where the versions of a kind have the number of replicas.
    fn places_of_replicas(&self, at: &Address) -> Places {
        let snapshot = self.registry.snapshot();
        let versions = snapshot.kinds().iter();
        let versions = versions.filter(|k| k.group == at.kind.group && k.plural == at.kind.plural);
        let place = |scale: &Scale| {
            let path = scale.spec_replicas.trim_start_matches('.').split('.');
            path.map(PathElement::field).collect::<Vec<_>>()
        };
        let places = versions.map(|kind| (kind.api_version(), kind.scale.as_ref().map(place)));
        let mut places: BTreeMap<_, _> = places.collect();
        let own = at.kind.scale.as_ref().map(place);
        places.insert(at.kind.api_version(), own);
        places
    }
}

/// The Scale with its writer recorded. One that fits no Scale is judged later, with the object.
fn record(live: &Value, new: Value, manager: &Manager<'_>) -> Value {
    let tracked = apply::track_update(&*SCALE, Some(live), new.clone(), manager, &Set::new());
    tracked.unwrap_or_else(|_| {
        let mut new = new;
        meta::copy(&mut new, live, "managedFields");
        new
    })
}

/// The Scale of this object.
pub(super) fn view(paths: &Scale, object: &Value) -> Value {
    let number = |path: &str| {
        meta::at_path(object, path)
            .and_then(Value::as_i64)
            .unwrap_or(0)
    };
    let mut scale = json!({
        "apiVersion": "autoscaling/v1",
        "kind": "Scale",
        "metadata": {},
        "spec": {},
        "status": {"replicas": number(&paths.status_replicas)},
    });
    // As the type has it, a wanted zero is left out, and an observed one is not.
    let replicas = number(&paths.spec_replicas);
    if replicas != 0 {
        scale["spec"]["replicas"] = replicas.into();
    }
    for field in [
        "name",
        "namespace",
        "uid",
        "resourceVersion",
        "creationTimestamp",
    ] {
        meta::copy(&mut scale, object, field);
    }
    let selector = paths
        .label_selector
        .as_deref()
        .and_then(|p| meta::at_path(object, p));
    if let Some(selector) = selector.and_then(Value::as_str) {
        scale["status"]["selector"] = selector.into();
    }
    scale
}

/// The object with the number of replicas that a Scale wants.
pub(super) fn with_replicas(paths: &Scale, live: &Value, scale: &Value) -> Result<Value, ApiError> {
    let replicas = scale.pointer("/spec/replicas").unwrap_or(&Value::Null);
    let replicas = match replicas {
        Value::Null => 0,
        other => other.as_i64().ok_or_else(|| {
            ApiError::bad_request(format!(
                "spec.replicas: {other} is not a number of replicas"
            ))
        })?,
    };
    let mut object = live.clone();
    let mut node = &mut object;
    for part in paths.spec_replicas.trim_start_matches('.').split('.') {
        node = meta::as_map(node).entry(part).or_insert(Value::Null);
    }
    *node = replicas.into();
    Ok(object)
}

/// What is wrong with the values that the scale of an object is made of, beside what its schema
/// says of them.
pub(super) fn faults(paths: &Scale, object: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    for path in [&paths.spec_replicas, &paths.status_replicas] {
        let number = nested(object, path, "int64", |value| value.as_i64());
        let (shown, why) = match number {
            Err(why) => (0, why),
            Ok(Some(number)) if number < 0 => (number, "should be a non-negative integer".into()),
            Ok(Some(number)) if number > i64::from(i32::MAX) => {
                let most = i32::MAX;
                (number, format!("should be less than or equal to {most}"))
            }
            Ok(_) => continue,
        };
        causes.push(Cause::invalid(path, &shown.to_string(), &why));
    }
    if let Some(path) = &paths.label_selector
        && let Err(why) = nested(object, path, "string", |value| value.as_str().map(|_| ()))
    {
        causes.push(Cause::invalid(path, "\"\"", &why));
    }
    causes
}

/// The value at a path, read as one of a type; the error is in the words of Go.
fn nested<T>(
    object: &Value,
    path: &str,
    wanted: &str,
    read: impl Fn(&Value) -> Option<T>,
) -> Result<Option<T>, String> {
    let unfit = |value: &Value, wanted: &str| {
        let found = match value {
            Value::Null => "<nil>",
            Value::Bool(_) => "bool",
            Value::Number(number) if number.is_f64() => "float64",
            Value::Number(_) => "int64",
            Value::String(_) => "string",
            Value::Array(_) => "[]interface {}",
            Value::Object(_) => "map[string]interface {}",
        };
        let shown = patch::go_text(value);
        let fields = path.trim_start_matches('.');
        format!(".{fields} accessor error: {shown} is of the type {found}, expected {wanted}")
    };
    let mut at = object;
    for field in path.trim_start_matches('.').split('.') {
        let Value::Object(fields) = at else {
            return Err(unfit(at, "map[string]interface{}"));
        };
        match fields.get(field) {
            None => return Ok(None),
            Some(value) => at = value,
        }
    }
    match read(at) {
        None => Err(unfit(at, wanted)),
        value => Ok(value),
    }
}
