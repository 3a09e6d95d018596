//! Asking one webhook: the call, its answer, and what a failure means.

use std::time::Duration;

use serde_json::Value;

use super::Request;
use super::configuration::{FailurePolicy, Webhook};
use super::review::{self, Answer};
use crate::core::Core;
use crate::metrics::WebhookCall;
use crate::patch;
use crate::registry::Kind;
use crate::schema;
use crate::status::ApiError;

/// The most that a webhook may answer.
const ANSWER_LIMIT: usize = 8 << 20;

/// Why a webhook's answer does not let a request pass.
pub(super) enum Refusal {
    /// There is no answer; the failure policy decides.
    Calling { why: String, code: u16 },
    /// It said no.
    Denied(ApiError),
    /// It may not be asked, or what it asks for cannot be done.
    Other(ApiError),
}

impl Core {
    /// Asks one webhook; gives its answer when that is a yes.
    pub(super) async fn ask(
        &self,
        hook: &Webhook,
        request: &Request<'_>,
        told: &Kind,
        object: Option<&Value>,
        old: Option<&Value>,
        mutating: bool,
    ) -> Result<Answer, Refusal> {
        if request.dry_run && !hook.dry_run {
            let why = format!("admission webhook {:?} does not support dry run", hook.name);
            return Err(Refusal::Other(ApiError::bad_request(why)));
        }
        let versions = hook.review_versions.iter().map(String::as_str);
        let version = versions
            .into_iter()
            .find(|v| matches!(*v, "v1" | "v1beta1"))
            .ok_or_else(|| Refusal::Calling {
                why: "could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)".into(),
                code: 400,
            })?;
        let target = hook.target.as_ref().map_err(|why| Refusal::Calling {
            why: format!("could not get REST client: {why}"),
            code: 500,
        })?;
        let uid = uuid::Uuid::new_v4().to_string();
        let review = review::review(version, &uid, request, told, object, old);
        let caller = &self.admission.caller;
        let traceparent = request.notes.traceparent();
        let answer = caller
            .post(target, review, hook.timeout, ANSWER_LIMIT, traceparent)
            .await
            .map_err(|error| Refusal::Calling {
                why: format!("failed to call webhook: {error}"),
                code: error.code(),
            })?;
        let answer =
            review::read(answer, version, &uid, mutating).map_err(|why| Refusal::Calling {
                why: format!("received invalid webhook response: {why}"),
                code: 503,
            })?;
        for (key, value) in &answer.annotations {
            let key = format!("{}/{key}", hook.name);
            request.notes.annotate(key, value.clone());
        }
        for warning in &answer.warnings {
            request.notes.warn(warning);
        }
        if answer.allowed {
            Ok(answer)
        } else {
            Err(Refusal::Denied(review::denial(
                &hook.name,
                answer.status.as_ref(),
            )))
        }
    }

    /// Counts a call, and lets the failure policy decide when there was no answer.
    pub(super) fn settle_call<T>(
        &self,
        hook: &Webhook,
        request: &Request<'_>,
        role: &'static str,
        took: Duration,
        place: &str,
        result: Result<T, Refusal>,
    ) -> Result<Option<T>, ApiError> {
        let ignored = hook.failure == FailurePolicy::Ignore;
        let (code, rejection) = match &result {
            Ok(_) => (200, None),
            Err(Refusal::Calling { code, .. }) if ignored => (*code, None),
            Err(Refusal::Calling { code, .. }) => (*code, Some("calling_webhook_error")),
            Err(Refusal::Denied(error)) => (error.code.as_u16(), Some("no_error")),
            Err(Refusal::Other(_)) => (0, Some("apiserver_internal_error")),
        };
        self.metrics.webhook_called(
            WebhookCall {
                name: &hook.name,
                role,
                operation: request.operation.name(),
                code,
                rejection,
            },
            took,
        );
        match result {
            Ok(value) => Ok(Some(value)),
            Err(Refusal::Calling { why, .. }) if ignored => {
                tracing::warn!(
                    webhook = hook.name,
                    why,
                    "a webhook could not be asked; going on"
                );
                let kind = if role == "admit" {
                    "mutation"
                } else {
                    "validating"
                };
                let key = format!("failed-open.{kind}.webhook.admission.k8s.io/{place}");
                request.notes.annotate(key, hook.name.clone());
                Ok(None)
            }
            Err(Refusal::Calling { why, .. }) => {
                let why = format!("failed calling webhook {:?}: {why}", hook.name);
                Err(ApiError::internal_cause(&why))
            }
            Err(Refusal::Denied(error) | Refusal::Other(error)) => Err(error),
        }
    }
}

/// The object after the patch of an answer, with the defaults of what the patch left out.
pub(super) fn patched(
    hook: &Webhook,
    told: &Kind,
    object: Option<&Value>,
    answer: &Answer,
) -> Result<Option<Value>, Refusal> {
    let Some(text) = &answer.patch else {
        return Ok(None);
    };
    let undecodable = |error: serde_json::Error| Refusal::Calling {
        why: format!("received undecodable patch in webhook response: {error}"),
        code: 503,
    };
    let operations: Value = serde_json::from_slice(text).map_err(undecodable)?;
    if operations.as_array().is_some_and(Vec::is_empty) {
        return Ok(None);
    }
    let Some(object) = object else {
        let why = format!(
            "admission webhook {:?} attempted to modify the object, which is not supported for this operation",
            hook.name
        );
        return Err(Refusal::Other(ApiError::internal_cause(&why)));
    };
    if answer.patch_type != "JSONPatch" {
        return Err(Refusal::Calling {
            why: format!("unsupported patch type {:?}", answer.patch_type),
            code: 400,
        });
    }
    let mut patched = patch::json_patch(object, &operations)
        .map_err(|error| Refusal::Other(ApiError::internal_cause(&crate::status::chain(&error))))?;
    // A patch is no way to make another thing of an object.
    for field in ["apiVersion", "kind"] {
        crate::meta::copy_field(&mut patched, object, field);
    }
    schema::default(told.schema(), &mut patched);
    Ok(Some(patched))
}
