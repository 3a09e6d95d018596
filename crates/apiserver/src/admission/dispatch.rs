//! Asking the webhooks: mutating ones one after the other, validating ones all at once.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};

use super::call::patched;
use super::configuration::Webhook;
use super::{Hooks, Request, is_exempt};
use crate::core::Core;
use crate::registry::Kind;
use crate::status::ApiError;

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
                .ask(
                    hook,
                    request,
                    kind,
                    object.as_deref(),
                    old.as_deref(),
                    false,
                )
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
        object: Option<&'h Value>,
        old: Option<&'h Value>,
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
            if is_same {
                asked.push(Asked {
                    hook,
                    kind: told,
                    object: object.map(Cow::Borrowed),
                    old: old.map(Cow::Borrowed),
                });
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
            if self.conditions_hold(hook, request, &kind, object.as_ref(), old.as_ref())? {
                asked.push(Asked {
                    hook,
                    kind,
                    object: object.map(Cow::Owned),
                    old: old.map(Cow::Owned),
                });
            }
        }
        Ok(asked)
    }
}

/// A webhook to be asked, with what it is shown.
struct Asked<'h> {
    hook: &'h Webhook,
    kind: Arc<Kind>,
    object: Option<Cow<'h, Value>>,
    old: Option<Cow<'h, Value>>,
}
