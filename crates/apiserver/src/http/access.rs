//! The gate between a request and its answer: from a request to the action that it asks for, and
//! whether its caller may do that.

use http::Method;
use percent_encoding::percent_decode_str;

use super::path::{ResourcePath, Target};
use super::{Call, Query};
use crate::audit::Record;
use crate::auth::attributes::{Object, Resource, verb};
use crate::auth::rbac::Decision;
use crate::auth::{Action, impersonate};
use crate::selector::FieldSelector;
use crate::status::ApiError;

/// Lets a request pass for its caller, or for whom they speak for, or says why not.
pub(super) fn admit(
    call: &mut Call,
    known: bool,
    action: &Action,
    record: &mut Option<Record>,
) -> Result<(), ApiError> {
    if !known {
        return Err(ApiError::unauthorized());
    }
    if let Some(wanted) = impersonate::wanted(&call.headers)? {
        let caller = &call.identity;
        call.identity = impersonate::assume(caller, &wanted, action, |needed| {
            call.core.check_may(caller, needed)
        })?;
        impersonate::clear(&mut call.headers);
        if let Some(record) = record {
            record.impersonated(&call.identity);
        }
    }
    let decision = call.core.decide(&call.identity, action);
    let allowed = matches!(decision, Decision::Allowed(_));
    let (Decision::Allowed(reason) | Decision::NoOpinion(reason)) = decision;
    if let Some(record) = record {
        record.decided(allowed, &reason);
    }
    if allowed {
        Ok(())
    } else {
        Err(action.forbidden(&call.identity.user, &reason))
    }
}

/// What a request asks for. The path was taken apart once, so what is authorized is what is done.
pub(super) fn action(method: &Method, path: &str, target: &Target, query: &Query) -> Action {
    let shortened;
    let resource = match target {
        Target::Resource(resource) => resource,
        Target::Other(parts) => match too_long(parts) {
            Some(resource) => {
                shortened = resource;
                &shortened
            }
            None => {
                let path = percent_decode_str(path).decode_utf8_lossy().into_owned();
                return Action {
                    verb: method.as_str().to_lowercase(),
                    object: Object::Path(path),
                };
            }
        },
    };
    on_resource(method, resource, query)
}

fn on_resource(method: &Method, path: &ResourcePath, query: &Query) -> Action {
    let text = |part: &Option<String>| part.clone().unwrap_or_default();
    let mut resource = Resource {
        group: path.group.clone(),
        version: path.version.clone(),
        resource: path.plural.clone(),
        subresource: text(&path.subresource),
        namespace: text(&path.namespace),
        name: text(&path.name),
    };
    // A namespace is in itself, so that a role within it can be about it.
    if resource.resource == "namespaces" && resource.namespace.is_empty() {
        resource.namespace.clone_from(&resource.name);
    }
    let verb = verb(method, path.name.is_some(), query.flag("watch"));
    if matches!(verb, "list" | "watch") {
        // Who may see one object may list it by its name.
        let selected = FieldSelector::parse(query.get("fieldSelector")).ok();
        let name = selected.as_ref().and_then(|s| s.equal_to("metadata.name"));
        let name = name.filter(|name| !matches!(*name, "." | "..") && !name.contains(['/', '%']));
        resource.name = name.unwrap_or_default().to_owned();
    }
    Action::on(verb, resource)
}

/// A path below a resource that is longer than any that is served: it is refused or not found like
/// the part that it begins with.
fn too_long(parts: &[String]) -> Option<ResourcePath> {
    let length = match parts.first()?.as_str() {
        "api" => 2,
        "apis" => 3,
        _ => return None,
    };
    let rest = parts.get(length..)?;
    let length = length
        + match rest.first()?.as_str() {
            "namespaces" => 5,
            _ => 3,
        };
    let joined = parts.get(..length)?.join("/");
    match super::path::parse(&format!("/{joined}")) {
        Target::Resource(path) => Some(path),
        Target::Other(_) => None,
    }
}
