//! The scale subresource: `autoscaling/v1` Scale as a view on any kind that declares where its
//! replicas are.

use serde_json::{Value, json};

use super::update::{Proposal, check_uid, check_version};
use super::{Address, Part, PatchKind, WriteOptions, Written};
use crate::core::Core;
use crate::meta;
use crate::patch::{self, Lists};
use crate::registry::Scale;
use crate::status::{ApiError, Cause};

impl Core {
    /// The Scale of an object.
    pub(crate) async fn scale(&self, at: &Address, paths: &Scale) -> Result<Value, ApiError> {
        Ok(view(paths, &self.get(at).await?))
    }

    /// Replaces the Scale of an object.
    pub(crate) async fn update_scale(
        &self,
        at: &Address,
        paths: &Scale,
        body: &Value,
        options: &WriteOptions,
    ) -> Result<Written, ApiError> {
        let written = self
            .modify(at, Part::Scale, options, |live| {
                check_uid(at, body, live)?;
                check_version(&at.kind, &at.name, body, live, false)?;
                Ok(Proposal::Object(with_replicas(paths, live, body)?))
            })
            .await?;
        Ok(Written {
            object: view(paths, &written.object),
            ..written
        })
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
        let how = match kind {
            PatchKind::Change(how) => how,
            // A Scale is one number; applying it and merging it are the same.
            PatchKind::Apply => patch::PatchKind::Merge,
        };
        let written = self
            .modify(at, Part::Scale, options, |live| {
                let patched =
                    patch::apply_patch(how, Lists::of(&at.kind), &view(paths, live), body)
                        .map_err(|error| ApiError::bad_request(error.to_string()))?;
                check_version(&at.kind, &at.name, &patched, live, false)?;
                Ok(Proposal::Object(with_replicas(paths, live, &patched)?))
            })
            .await?;
        Ok(Written {
            object: view(paths, &written.object),
            ..written
        })
    }
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
        "spec": {"replicas": number(&paths.spec_replicas)},
        "status": {"replicas": number(&paths.status_replicas)},
    });
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
