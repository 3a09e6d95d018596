//! Whether a webhook is asked about a request, and in which version it is told of it.

use std::sync::Arc;

use serde_json::Value;

use super::condition;
use super::configuration::Webhook;
use super::{Operation, Request};
use crate::codec;
use crate::core::Core;
use crate::registry::{Hook, Kind, NAMESPACES};
use crate::status::ApiError;

impl Core {
    /// The version in which the webhook wants to be told of the request, if it does; selectors
    /// and rules alone.
    pub(super) fn hook_wants(
        &self,
        hook: &Webhook,
        request: &Request<'_>,
        object: Option<&Value>,
        old: Option<&Value>,
    ) -> Result<Option<Arc<Kind>>, ApiError> {
        if !hook.objects.is_empty() {
            let selected = |o: &Value| hook.objects.matches(o.pointer("/metadata/labels"));
            if !object.is_some_and(selected) && !old.is_some_and(selected) {
                return Ok(None);
            }
        }
        let told = match self.rule_matches(hook, request) {
            Some(told) => told,
            None => return Ok(None),
        };
        Ok(self
            .namespace_selected(hook, request, object)?
            .then_some(told))
    }

    /// Whether the match conditions hold for the request as the webhook would be told of it.
    pub(super) fn conditions_hold(
        &self,
        hook: &Webhook,
        request: &Request<'_>,
        told: &Kind,
        object: Option<&Value>,
        old: Option<&Value>,
    ) -> Result<bool, ApiError> {
        if hook.conditions.is_empty() {
            return Ok(true);
        }
        let seen = condition::Seen {
            request,
            told,
            object,
            old,
        };
        hook.conditions
            .hold(&seen, hook.failure)
            .map_err(|why| ApiError::forbidden(request.kind, request.name, &why))
    }

    fn rule_matches(&self, hook: &Webhook, request: &Request<'_>) -> Option<Arc<Kind>> {
        let matches = |kind: &Kind| {
            let found = |rule: &super::rules::Rule| {
                rule.matches(kind, request.subresource, request.operation)
            };
            hook.rules.iter().position(found)
        };
        if matches(request.kind).is_some() {
            return Some(request.kind.clone());
        }
        if !hook.equivalent {
            return None;
        }
        // Other versions are other views of the same place in the store; earlier rules first.
        let snapshot = self.registry.snapshot();
        let others = snapshot
            .kinds()
            .iter()
            .filter(|k| k.prefix == request.kind.prefix);
        others
            .filter_map(|kind| matches(kind).map(|at| (at, kind)))
            .min_by_key(|(at, _)| *at)
            .map(|(_, kind)| kind.clone())
    }

    fn namespace_selected(
        &self,
        hook: &Webhook,
        request: &Request<'_>,
        object: Option<&Value>,
    ) -> Result<bool, ApiError> {
        let is_namespace = request.kind.hook == Hook::Namespace;
        if hook.namespaces.is_empty() || (request.namespace.is_empty() && !is_namespace) {
            return Ok(true);
        }
        // A namespace that is being written is judged by its new labels.
        let own = is_namespace
            && request.subresource.is_empty()
            && request.operation != Operation::Delete;
        if own {
            let labels = object.and_then(|o| o.pointer("/metadata/labels"));
            return Ok(hook.namespaces.matches(labels));
        }
        let Some(entry) = self
            .store
            .get(&format!("{NAMESPACES}{}", request.namespace))
        else {
            let namespaces = self.registry.snapshot().find("", "v1", "namespaces");
            return Err(namespaces.map_or_else(ApiError::no_such_path, |kind| {
                ApiError::not_found(&kind, request.namespace)
            }));
        };
        let namespace = codec::decode_value(&entry.value);
        Ok(hook
            .namespaces
            .matches(namespace.pointer("/metadata/labels")))
    }
}
