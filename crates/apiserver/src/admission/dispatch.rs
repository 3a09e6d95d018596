//! Asking the webhooks: mutating ones one after the other, validating ones all at once.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::configuration::{FailurePolicy, Webhook};
use super::review::{self, Answer};
use super::{Hooks, Request, is_exempt};
use crate::core::Core;
use crate::metrics::WebhookCall;
use crate::patch;
use crate::registry::Kind;
use crate::schema;
use crate::status::ApiError;

/// The most that a webhook may answer.
const ANSWER_LIMIT: usize = 8 << 20;

/// Why a webhook's answer does not let a request pass.
enum Refusal {
    /// There is no answer; the failure policy decides.
    Calling { why: String, code: u16 },
    /// It said no.
    Denied(ApiError),
    /// It may not be asked, or what it asks for cannot be done.
    Other(ApiError),
}

/// An object on its way through the mutating webhooks, in the version last asked for.
struct Working {
    kind: Arc<Kind>,
    object: Option<Value>,
    old: Option<Value>,
}

impl Working {
    /// Turns the objects into another version.
    async fn become_version(
        &mut self,
        core: &Core,
        kind: &Arc<Kind>,
        subresource: &str,
    ) -> Result<(), ApiError> {
        // A Scale is the same whatever the version of its object.
        if self.kind.version != kind.version && subresource != "scale" {
            for place in [&mut self.object, &mut self.old] {
                if let Some(object) = place.take() {
                    *place = Some(core.convert(&self.kind, kind, object).await?);
                }
            }
        }
        self.kind = kind.clone();
        Ok(())
    }
}

impl Core {
    /// Shows an object to the mutating webhooks; gives what they made of it, if they changed it.
    pub(crate) async fn mutate(
        &self,
        request: &Request<'_>,
        object: Option<&Value>,
        old: Option<&Value>,
    ) -> Result<Option<Value>, ApiError> {
        let index = self.admission.index();
        // Most kinds have no such webhook, and need no copy of their object.
        let is_asked = |hook: &Webhook| {
            let wants = self.hook_wants(hook, request, object, old);
            !matches!(wants, Ok(None))
        };
        if is_exempt(request.kind) || !index.mutating.iter().any(|hook| is_asked(hook)) {
            return Ok(None);
        }
        let mut working = Working {
            kind: request.kind.clone(),
            object: object.cloned(),
            old: old.cloned(),
        };
        let mut earlier: Vec<&str> = Vec::new();
        let mut again: HashSet<&str> = HashSet::new();
        let mut dirty = false;
        let mut changed_at_all = false;
        for round in 0..2 {
            for (at, hook) in index.mutating.iter().enumerate() {
                let (object, old) = (working.object.as_ref(), working.old.as_ref());
                let Some(told) = self.hook_wants(hook, request, object, old)? else {
                    continue;
                };
                // Who was not asked in the first round is not asked in the second.
                if round == 1 && !again.contains(hook.id.as_str()) {
                    continue;
                }
                working
                    .become_version(self, &told, request.subresource)
                    .await?;
                let (object, old) = (working.object.as_ref(), working.old.as_ref());
                if !self.conditions_hold(hook, request, &told, object, old)? {
                    continue;
                }
                let patched = self.mutate_by(hook, request, &working, (round, at)).await?;
                let changed = patched.as_ref().is_some_and(|p| Some(p) != object);
                if let Some(patched) = patched {
                    dirty = true;
                    working.object = Some(patched);
                }
                if changed {
                    changed_at_all = true;
                    again.extend(earlier.drain(..));
                }
                if hook.reinvoke {
                    earlier.push(&hook.id);
                }
            }
            if !changed_at_all {
                break;
            }
        }
        if !dirty {
            return Ok(None);
        }
        working
            .become_version(self, request.kind, request.subresource)
            .await?;
        Ok(working.object)
    }

    /// Shows an object to one mutating webhook; gives the patched object, if there is a patch.
    async fn mutate_by(
        &self,
        hook: &Webhook,
        request: &Request<'_>,
        working: &Working,
        (round, at): (usize, usize),
    ) -> Result<Option<Value>, ApiError> {
        let started = Instant::now();
        let (object, old) = (working.object.as_ref(), working.old.as_ref());
        let asked = self.ask(hook, request, &working.kind, object, old, true);
        let result = match asked.await {
            Ok(answer) => patched(hook, &working.kind, object, &answer),
            Err(refusal) => Err(refusal),
        };
        let place = format!("round_{round}_index_{at}");
        let about = |mutated: bool| {
            json!({"configuration": hook.configuration, "webhook": hook.name, "mutated": mutated})
                .to_string()
        };
        let mutated = matches!(&result, Ok(Some(p)) if Some(p) != object);
        request.notes.annotate(
            format!("mutation.webhook.admission.k8s.io/{place}"),
            about(mutated),
        );
        self.settle_call(hook, request, "admit", started.elapsed(), &place, result)
            .map(Option::flatten)
    }

    /// Shows an object to the validating webhooks, all at once; the first refusal counts.
    pub(crate) async fn approve(
        &self,
        request: &Request<'_>,
        object: Option<&Value>,
        old: Option<&Value>,
    ) -> Result<(), ApiError> {
        let index = self.admission.index();
        if index.validating.is_empty() || is_exempt(request.kind) {
            return Ok(());
        }
        let asked = self
            .relevant(&index.validating, request, object, old)
            .await?;
        let calls = asked.iter().enumerate().map(|(at, call)| async move {
            let started = Instant::now();
            let Asked {
                hook,
                kind,
                object,
                old,
            } = call;
            let answer = self
                .ask(hook, request, kind, object.as_ref(), old.as_ref(), false)
                .await;
            let place = format!("round_0_index_{at}");
            self.settle_call(
                hook,
                request,
                "validating",
                started.elapsed(),
                &place,
                answer.map(|_| ()),
            )
        });
        let verdicts = futures::future::join_all(calls).await;
        verdicts
            .into_iter()
            .find_map(Result::err)
            .map_or(Ok(()), Err)
    }

    async fn relevant<'h>(
        &self,
        hooks: &'h Hooks,
        request: &Request<'_>,
        object: Option<&Value>,
        old: Option<&Value>,
    ) -> Result<Vec<Asked<'h>>, ApiError> {
        let mut asked = Vec::new();
        for hook in hooks {
            let Some(told) = self.hook_wants(hook, request, object, old)? else {
                continue;
            };
            // A webhook that is not asked needs no copy, unless it wants another version.
            let is_same = told.version == request.kind.version;
            if is_same && !self.conditions_hold(hook, request, &told, object, old)? {
                continue;
            }
            let mut view = Working {
                kind: request.kind.clone(),
                object: object.cloned(),
                old: old.cloned(),
            };
            view.become_version(self, &told, request.subresource)
                .await?;
            let Working { kind, object, old } = view;
            if is_same
                || self.conditions_hold(hook, request, &kind, object.as_ref(), old.as_ref())?
            {
                asked.push(Asked {
                    hook,
                    kind,
                    object,
                    old,
                });
            }
        }
        Ok(asked)
    }

    /// Asks one webhook; gives its answer when that is a yes.
    async fn ask(
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
    fn settle_call<T>(
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

/// A webhook to be asked, with what it is shown.
struct Asked<'h> {
    hook: &'h Webhook,
    kind: Arc<Kind>,
    object: Option<Value>,
    old: Option<Value>,
}

/// The object after the patch of an answer, with the defaults of what the patch left out.
fn patched(
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
