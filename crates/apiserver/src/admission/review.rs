//! AdmissionReview: what a webhook is asked, and reading what it answers.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::StatusCode;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::Request;
use crate::auth::Identity;
use crate::registry::Kind;
use crate::status::ApiError;

/// An answer that was found to be in order.
#[derive(Debug, Default)]
pub(super) struct Answer {
    pub(super) allowed: bool,
    /// The Status that says why not.
    pub(super) status: Option<Value>,
    /// The text of a JSON patch.
    pub(super) patch: Option<Vec<u8>>,
    pub(super) patch_type: String,
    pub(super) annotations: BTreeMap<String, String>,
    pub(super) warnings: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Wire {
    api_version: String,
    kind: String,
    response: Option<Response>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Response {
    uid: String,
    allowed: bool,
    status: Option<Value>,
    patch: Option<String>,
    patch_type: Option<String>,
    audit_annotations: Option<BTreeMap<String, String>>,
    warnings: Option<Vec<String>>,
}

/// What there is to say of a request beside its objects, as far as it is asked for; `told` is the
/// version that the webhook asked for.
pub(super) fn about(request: &Request<'_>, told: &Kind, is_asked: impl Fn(&str) -> bool) -> Value {
    let kind = |kind: &Kind| match request.subresource {
        "scale" => json!({"group": "autoscaling", "version": "v1", "kind": "Scale"}),
        _ => json!({"group": kind.group, "version": kind.version, "kind": kind.kind}),
    };
    let resource = |kind: &Kind| json!({"group": kind.group, "version": kind.version, "resource": kind.plural});
    let mut about = Map::new();
    let mut put = |field: &str, value: &dyn Fn() -> Value| {
        if is_asked(field) {
            about.insert(field.to_owned(), value());
        }
    };
    put("kind", &|| kind(told));
    put("resource", &|| resource(told));
    put("requestKind", &|| kind(request.kind));
    put("requestResource", &|| resource(request.kind));
    put("operation", &|| request.operation.name().into());
    put("userInfo", &|| user(request.caller));
    put("dryRun", &|| request.dry_run.into());
    put("options", &|| request.options.clone());
    for (field, value) in [
        ("subResource", request.subresource),
        ("requestSubResource", request.subresource),
        ("name", request.name),
        ("namespace", request.namespace),
    ] {
        if !value.is_empty() {
            put(field, &|| value.into());
        }
    }
    Value::Object(about)
}

fn user(caller: &Identity) -> Value {
    let mut user = json!({"username": caller.user, "groups": caller.groups});
    if !caller.uid.is_empty() {
        user["uid"] = caller.uid.clone().into();
    }
    if !caller.extra.is_empty() {
        user["extra"] = json!(caller.extra);
    }
    user
}

/// The whole review.
pub(super) fn review(
    version: &str,
    uid: &str,
    request: &Request<'_>,
    told: &Kind,
    object: Option<&Value>,
    old: Option<&Value>,
) -> Value {
    let mut asked = about(request, told, |_| true);
    asked["uid"] = uid.into();
    asked["object"] = object.cloned().unwrap_or_default();
    asked["oldObject"] = old.cloned().unwrap_or_default();
    json!({
        "kind": "AdmissionReview",
        "apiVersion": format!("admission.k8s.io/{version}"),
        "request": asked,
    })
}

/// Reads an answer; the error is the sentence that follows `received invalid webhook response`.
pub(super) fn read(
    answer: Value,
    version: &str,
    uid: &str,
    mutating: bool,
) -> Result<Answer, String> {
    let wire = Wire::deserialize(answer).map_err(|error| error.to_string())?;
    let response = wire.response.ok_or("webhook response was absent")?;
    let patch = response
        .patch
        .as_deref()
        .map(|text| STANDARD.decode(text))
        .transpose()
        .map_err(|error| format!("response.patch: {error}"))?
        .filter(|patch| !patch.is_empty());
    if version == "v1" {
        if response.uid != uid {
            return Err(format!(
                "expected response.uid={uid:?}, got {:?}",
                response.uid
            ));
        }
        if wire.api_version != "admission.k8s.io/v1" || wire.kind != "AdmissionReview" {
            let found = format!("{}, Kind={}", wire.api_version, wire.kind);
            return Err(format!(
                "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got {found}"
            ));
        }
        let named = response.patch_type.as_deref();
        match (mutating, patch.is_some(), named) {
            (false, true, _) => {
                return Err("validating webhook may not return response.patch".into());
            }
            (false, _, Some(_)) => {
                return Err("validating webhook may not return response.patchType".into());
            }
            (true, true, None) => {
                return Err("webhook returned response.patch but not response.patchType".into());
            }
            (true, false, Some(_)) => {
                return Err("webhook returned response.patchType but not response.patch".into());
            }
            (true, true, Some("")) => {
                return Err("webhook returned invalid response.patchType of \"\"".into());
            }
            _ => {}
        }
    }
    let assumed = || "JSONPatch".to_owned();
    Ok(Answer {
        allowed: response.allowed,
        status: response.status.filter(|s| !s.is_null()),
        patch: patch.filter(|_| mutating),
        patch_type: match version {
            "v1" => response.patch_type.unwrap_or_default(),
            _ => assumed(),
        },
        annotations: response.audit_annotations.unwrap_or_default(),
        warnings: response.warnings.unwrap_or_default(),
    })
}

/// What the client is told when a webhook says no: the webhook's own Status, with its name.
pub(super) fn denial(name: &str, status: Option<&Value>) -> ApiError {
    let status = status.unwrap_or(&Value::Null);
    let text = |field: &str| status[field].as_str().unwrap_or_default();
    let code = status["code"]
        .as_u64()
        .and_then(|code| u16::try_from(code).ok())
        .and_then(|code| StatusCode::from_u16(code).ok())
        .filter(|code| code.as_u16() >= 400)
        .unwrap_or(StatusCode::BAD_REQUEST);
    let denied = format!("admission webhook {name:?} denied the request");
    let message = match (text("message"), text("reason")) {
        ("", "") => format!("{denied} without explanation"),
        ("", reason) => format!("{denied}: {reason}"),
        (message, _) => format!("{denied}: {message}"),
    };
    let mut error = ApiError::new(code, text("reason").to_owned(), message);
    if let Some(details) = status["details"].as_object() {
        error.details = details.clone();
    }
    error
}
