//! Whether somebody may do something, and what all the caller may do.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::invalid;
use crate::auth::attributes::{Object, Resource};
use crate::auth::rbac::{self, Decision};
use crate::auth::{Action, Identity};
use crate::http::Call;
use crate::meta;
use crate::schema::go_quote;
use crate::status::{ApiError, Cause};

const GROUP: &str = "authorization.k8s.io";

/// Whether the caller may.
pub(super) fn own(call: &Call, review: &mut Value) -> Result<(), ApiError> {
    check(&review["spec"], Vec::new())?;
    decide(call, &call.identity.clone(), review);
    Ok(())
}

/// Whether somebody may.
pub(super) fn of_subject(call: &Call, review: &mut Value) -> Result<(), ApiError> {
    let spec = &review["spec"];
    check(spec, subject_causes(spec))?;
    decide(call, &subject(spec), review);
    Ok(())
}

/// Whether somebody may, in one namespace.
pub(super) fn in_namespace(
    call: &Call,
    namespace: &str,
    review: &mut Value,
) -> Result<(), ApiError> {
    let spec = &review["spec"];
    let mut causes = subject_causes(spec);
    if spec["resourceAttributes"].is_object() {
        let asked = text(&spec["resourceAttributes"], "namespace");
        if asked != namespace {
            let (field, why) = (
                "spec.resourceAttributes.namespace",
                "must match metadata.namespace",
            );
            causes.push(Cause::invalid(field, &go_quote(&asked), why));
        }
    }
    if spec["nonResourceAttributes"].is_object() {
        let shown = shown_path(&spec["nonResourceAttributes"]);
        let why = "disallowed on this kind of request";
        causes.push(Cause::invalid("spec.nonResourceAttributes", &shown, why));
    }
    check(spec, causes)?;
    decide(call, &subject(spec), review);
    Ok(())
}

/// All that the caller may do in a namespace.
pub(super) fn rules(call: &Call, review: &mut Value) -> Result<(), ApiError> {
    let namespace = text(&review["spec"], "namespace");
    if namespace.is_empty() {
        return Err(ApiError::bad_request("no namespace on request"));
    }
    let core = &call.core;
    let (rules, missing) = core.rbac.with(&core.store, |index| {
        rbac::rules_for(index, &call.identity, &namespace)
    });
    let (mut resources, mut paths) = (Vec::new(), Vec::new());
    for rule in rules {
        if !rule.resources.is_empty() {
            let mut shown = json!({
                "verbs": rule.verbs,
                "apiGroups": rule.api_groups,
                "resources": rule.resources,
            });
            if !rule.resource_names.is_empty() {
                shown["resourceNames"] = rule.resource_names.into();
            }
            resources.push(shown);
        }
        if !rule.urls.is_empty() {
            paths.push(json!({"verbs": rule.verbs, "nonResourceURLs": rule.urls}));
        }
    }
    review["metadata"] = json!({});
    review["spec"] = json!({});
    review["status"] = json!({
        "resourceRules": resources,
        "nonResourceRules": paths,
        "incomplete": missing.is_some(),
    });
    if let Some(missing) = missing {
        review["status"]["evaluationError"] = missing.into();
    }
    Ok(())
}

fn text(value: &Value, field: &str) -> String {
    value[field].as_str().unwrap_or_default().to_owned()
}

fn texts(value: &Value) -> Vec<String> {
    let texts = meta::strings(Some(value)).into_iter();
    texts.map(str::to_owned).collect()
}

/// The user that a review is about.
fn subject(spec: &Value) -> Identity {
    let extra = spec["extra"].as_object().into_iter().flatten();
    let extra: BTreeMap<_, _> = extra
        .map(|(key, list)| (key.clone(), texts(list)))
        .collect();
    Identity {
        user: text(spec, "user"),
        groups: texts(&spec["groups"]),
        uid: text(spec, "uid"),
        extra,
    }
}

fn subject_causes(spec: &Value) -> Vec<Cause> {
    if !text(spec, "user").is_empty() || !texts(&spec["groups"]).is_empty() {
        return Vec::new();
    }
    let why = "at least one of user or group must be specified";
    vec![Cause::invalid("spec.user", "\"\"", why)]
}

fn shown_path(attributes: &Value) -> String {
    json!({"Path": text(attributes, "path"), "Verb": text(attributes, "verb")}).to_string()
}

/// Refuses a question that is none.
fn check(spec: &Value, more: Vec<Cause>) -> Result<(), ApiError> {
    let (resource, path) = (&spec["resourceAttributes"], &spec["nonResourceAttributes"]);
    let mut causes = Vec::new();
    match (resource.is_object(), path.is_object()) {
        (true, true) => {
            let why = "cannot be specified in combination with resourceAttributes";
            causes.push(Cause::invalid(
                "spec.nonResourceAttributes",
                &shown_path(path),
                why,
            ));
        }
        (false, false) => {
            let why =
                "exactly one of nonResourceAttributes or resourceAttributes must be specified";
            causes.push(Cause::invalid("spec.resourceAttributes", "null", why));
        }
        _ => {}
    }
    causes.extend(more);
    for field in ["fieldSelector", "labelSelector"] {
        let selector = &resource[field];
        let raw = text(selector, "rawSelector");
        if !raw.is_empty()
            && selector["requirements"]
                .as_array()
                .is_some_and(|r| !r.is_empty())
        {
            let field = format!("spec.resourceAttributes.{field}.rawSelector");
            let why = "may not specified at the same time as requirements";
            causes.push(Cause::invalid(&field, &go_quote(&raw), why));
        }
    }
    if causes.is_empty() {
        Ok(())
    } else {
        Err(invalid(GROUP, &causes))
    }
}

fn decide(call: &Call, user: &Identity, review: &mut Value) {
    let spec = &review["spec"];
    let resource = &spec["resourceAttributes"];
    let action = if resource.is_object() {
        Action::on(
            text(resource, "verb"),
            Resource {
                group: text(resource, "group"),
                version: text(resource, "version"),
                resource: text(resource, "resource"),
                subresource: text(resource, "subresource"),
                namespace: text(resource, "namespace"),
                name: text(resource, "name"),
            },
        )
    } else {
        let path = &spec["nonResourceAttributes"];
        Action {
            verb: text(path, "verb"),
            object: Object::Path(text(path, "path")),
        }
    };
    let (allowed, reason) = match call.core.decide(user, &action) {
        Decision::Allowed(reason) => (true, reason),
        Decision::NoOpinion(reason) => (false, reason),
    };
    review["status"] = json!({"allowed": allowed});
    if !reason.is_empty() {
        review["status"]["reason"] = reason.into();
    }
}
