//! What a client sends as a Scale: whether it is one, and whether it is meant for the object that
//! the path names.

use serde_json::Value;

use super::{Address, admit, metadata, patch};
use crate::apply::SCALE_VERSION;
use crate::meta;
use crate::patch::PatchKind;
use crate::registry::SCHEME;
use crate::status::ApiError;

/// A Scale that replaces another. Who leaves its type out means a Scale.
pub(super) fn check_replacement(at: &Address, body: &Value) -> Result<(), ApiError> {
    let unreadable = |why: String| {
        ApiError::bad_request(format!(
            "Scale in version \"v1\" cannot be handled as a Scale: {why}"
        ))
    };
    if let Some(why) = another_type(body, true).or_else(|| misread(at, body)) {
        return Err(unreadable(why));
    }
    check_meant_for(at, body)
}

/// A Scale that came of a patch.
pub(super) fn check_patched(
    at: &Address,
    how: PatchKind,
    body: &Value,
    patched: &Value,
) -> Result<(), ApiError> {
    if !patched.is_object() {
        return Err(ApiError::bad_request(
            "the patched object is not a JSON object",
        ));
    }
    if let Some(why) = another_type(patched, false).or_else(|| misread(at, patched)) {
        return Err(patch::unreadable(how, body, patched, &why));
    }
    check_meant_for(at, patched)
}

/// The name and namespace that it gives, against those of the path.
pub(super) fn check_meant_for(at: &Address, scale: &Value) -> Result<(), ApiError> {
    let mut scale = scale.clone();
    admit::check_address(&at.kind, &mut scale, &at.namespace, Some(&at.name))
}

fn another_type(scale: &Value, may_be_absent: bool) -> Option<String> {
    let (version, kind) = (
        meta::string(scale, "apiVersion"),
        meta::string(scale, "kind"),
    );
    let fits = |given: &str, wanted: &str| given == wanted || (may_be_absent && given.is_empty());
    if fits(version, SCALE_VERSION) && fits(kind, "Scale") {
        return None;
    }
    Some(format!(
        "no kind {kind:?} is registered for version {version:?} in scheme {SCHEME:?}"
    ))
}

/// What a typed decoder would not read, in its words.
fn misread(at: &Address, scale: &Value) -> Option<String> {
    let unfit = |value: &Value, field: &str, wanted: &str| {
        let found = match value {
            Value::Number(number) => format!("number {number}"),
            other => meta::json_type(other).to_owned(),
        };
        format!("json: cannot unmarshal {found} into Go struct field {field} of type {wanted}")
    };
    if let Some(why) = metadata::misread(&at.kind, scale) {
        return Some(why);
    }
    let spec = scale.get("spec").filter(|spec| !spec.is_null())?;
    let Some(fields) = spec.as_object() else {
        return Some(unfit(spec, "Scale.spec", "v1.ScaleSpec"));
    };
    let replicas = fields.get("replicas").filter(|given| !given.is_null())?;
    let number = replicas.as_i64().and_then(|n| i32::try_from(n).ok());
    number
        .is_none()
        .then(|| unfit(replicas, "ScaleSpec.spec.replicas", "int32"))
}
