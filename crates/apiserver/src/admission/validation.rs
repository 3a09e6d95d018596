//! What is wrong with a webhook configuration, in the words of Kubernetes.

use std::collections::HashSet;

use serde_json::Value;

use super::condition::VARIABLES;
use crate::meta::strings;
use crate::resource::names;
use crate::schema::cel::Expression;
use crate::status::Cause;

mod client;

pub(crate) use client::validate as validate_client;

/// Judges a configuration of either kind.
pub(crate) fn validate(object: &Value, live: Option<&Value>) -> Vec<Cause> {
    let mut causes = Vec::new();
    let mut names = HashSet::new();
    let hooks = object["webhooks"].as_array().into_iter().flatten();
    for (at, hook) in hooks.enumerate() {
        let path = format!("webhooks[{at}]");
        webhook(hook, &path, live.map(|l| &l["webhooks"][at]), &mut causes);
        review_versions(
            hook,
            &format!("{path}.admissionReviewVersions"),
            &mut causes,
        );
        let name = hook["name"].as_str().unwrap_or_default();
        if !name.is_empty() && !names.insert(name) {
            causes.push(Cause::duplicate(&format!("{path}.name"), name));
        }
    }
    causes
}

fn webhook(hook: &Value, path: &str, before: Option<&Value>, causes: &mut Vec<Cause>) {
    let name = hook["name"].as_str().unwrap_or_default();
    qualified_name(&format!("{path}.name"), name, causes);
    let rules = hook["rules"].as_array().into_iter().flatten();
    for (at, one) in rules.enumerate() {
        rule(one, &format!("{path}.rules[{at}]"), causes);
    }
    one_of(hook, path, "failurePolicy", &["Fail", "Ignore"], causes);
    one_of(hook, path, "matchPolicy", &["Equivalent", "Exact"], causes);
    let harmless = ["None", "NoneOnDryRun"];
    if hook["sideEffects"].is_null() {
        let why = format!("must specify one of {}", harmless.join(", "));
        causes.push(Cause::required(&format!("{path}.sideEffects"), &why));
    }
    one_of(hook, path, "sideEffects", &harmless, causes);
    if let Some(seconds) = hook["timeoutSeconds"].as_i64()
        && !(1..=30).contains(&seconds)
    {
        let why = "the timeout value must be between 1 and 30 seconds";
        let field = format!("{path}.timeoutSeconds");
        causes.push(Cause::invalid(&field, &seconds.to_string(), why));
    }
    for field in ["namespaceSelector", "objectSelector"] {
        selector(&hook[field], &format!("{path}.{field}"), causes);
    }
    one_of(
        hook,
        path,
        "reinvocationPolicy",
        &["IfNeeded", "Never"],
        causes,
    );
    client::validate(
        &hook["clientConfig"],
        &format!("{path}.clientConfig"),
        causes,
    );
    // Conditions that an older server accepted stay accepted for as long as nobody changes them.
    let conditions = &hook["matchConditions"];
    if before.is_none_or(|b| b["matchConditions"] != *conditions) {
        match_conditions(conditions, &format!("{path}.matchConditions"), causes);
    }
}

fn qualified_name(field: &str, name: &str, causes: &mut Vec<Cause>) {
    if name.is_empty() {
        causes.push(Cause::required(field, ""));
        return;
    }
    let mut why = names::dns_subdomain(name);
    if why.is_empty() && name.split('.').count() < 3 {
        why.push("should be a domain with at least three segments separated by dots".into());
    }
    if !why.is_empty() {
        causes.push(Cause::invalid(field, &format!("{name:?}"), &why.join(",")));
    }
}

fn one_of(hook: &Value, path: &str, field: &str, allowed: &[&str], causes: &mut Vec<Cause>) {
    if let Some(value) = hook[field].as_str()
        && !allowed.contains(&value)
    {
        causes.push(Cause::unsupported(
            &format!("{path}.{field}"),
            &format!("{value:?}"),
            allowed,
        ));
    }
}

fn rule(rule: &Value, path: &str, causes: &mut Vec<Cause>) {
    let list = |field: &str| strings(rule.get(field));
    let shown = |items: &[&str]| Value::from(items.to_vec()).to_string();
    let operations = list("operations");
    let field = format!("{path}.operations");
    if operations.is_empty() {
        causes.push(Cause::required(&field, ""));
    }
    if operations.len() > 1 && operations.contains(&"*") {
        let why = "if '*' is present, must not specify other operations";
        causes.push(Cause::invalid(&field, &shown(&operations), why));
    }
    let known = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
    for (at, operation) in operations.iter().enumerate() {
        if !known.contains(operation) {
            causes.push(Cause::unsupported(
                &format!("{field}[{at}]"),
                &format!("{operation:?}"),
                &known,
            ));
        }
    }
    for (name, what) in [("apiGroups", "API groups"), ("apiVersions", "API versions")] {
        let items = list(name);
        let field = format!("{path}.{name}");
        if items.is_empty() {
            causes.push(Cause::required(&field, ""));
        }
        if items.len() > 1 && items.contains(&"*") {
            let why = format!("if '*' is present, must not specify other {what}");
            causes.push(Cause::invalid(&field, &shown(&items), &why));
        }
        // The core group has no name; a version always has one.
        let empty = items.iter().position(|i| i.is_empty());
        if let Some(at) = empty.filter(|_| name == "apiVersions") {
            causes.push(Cause::required(&format!("{field}[{at}]"), ""));
        }
    }
    resources(&list("resources"), &format!("{path}.resources"), causes);
    if let Some(scope) = rule["scope"].as_str() {
        let allowed = ["*", "Cluster", "Namespaced"];
        if !allowed.contains(&scope) {
            causes.push(Cause::unsupported(
                &format!("{path}.scope"),
                &format!("{scope:?}"),
                &allowed,
            ));
        }
    }
}

fn resources(resources: &[&str], field: &str, causes: &mut Vec<Cause>) {
    if resources.is_empty() {
        causes.push(Cause::required(field, ""));
    }
    let mut every_sub_of: HashSet<&str> = HashSet::new();
    let mut sub_of_every: HashSet<&str> = HashSet::new();
    let mut plain = false;
    for (at, resource) in resources.iter().enumerate() {
        let field = format!("{field}[{at}]");
        if resource.is_empty() {
            causes.push(Cause::required(&field, ""));
            continue;
        }
        let Some((name, sub)) = resource.split_once('/') else {
            plain = *resource != "*";
            continue;
        };
        let shown = format!("{resource:?}");
        if every_sub_of.contains(name) {
            let why = format!("if '{name}/*' is present, must not specify {resource}");
            causes.push(Cause::invalid(&field, &shown, &why));
        }
        if sub_of_every.contains(sub) {
            let why = format!("if '*/{sub}' is present, must not specify {resource}");
            causes.push(Cause::invalid(&field, &shown, &why));
        }
        if sub == "*" {
            every_sub_of.insert(name);
        }
        if name == "*" {
            sub_of_every.insert(sub);
        }
    }
    let shown = Value::from(resources.to_vec()).to_string();
    if resources.len() > 1 && resources.contains(&"*/*") {
        let why = "if '*/*' is present, must not specify other resources";
        causes.push(Cause::invalid(field, &shown, why));
    }
    if resources.contains(&"*") && plain {
        let why = "if '*' is present, must not specify other resources without subresources";
        causes.push(Cause::invalid(field, &shown, why));
    }
}

fn review_versions(hook: &Value, field: &str, causes: &mut Vec<Cause>) {
    let versions = strings(hook.get("admissionReviewVersions"));
    if versions.is_empty() {
        causes.push(Cause::required(field, "must specify one of v1, v1beta1"));
        return;
    }
    validate_versions(&versions, field, causes);
}

/// Judges the versions of a review that a webhook says it reads.
pub(crate) fn validate_versions(versions: &[&str], field: &str, causes: &mut Vec<Cause>) {
    let mut seen = HashSet::new();
    for (at, version) in versions.iter().enumerate() {
        let field = format!("{field}[{at}]");
        if !seen.insert(version) {
            causes.push(Cause::invalid(
                &field,
                &format!("{version:?}"),
                "duplicate version",
            ));
        } else {
            refuse(&field, version, names::dns_1035_label(version), causes);
        }
    }
    if !versions.iter().any(|v| matches!(*v, "v1" | "v1beta1")) {
        let shown = Value::from(versions.to_vec()).to_string();
        causes.push(Cause::invalid(
            field,
            &shown,
            "must include at least one of v1, v1beta1",
        ));
    }
}

fn selector(selector: &Value, path: &str, causes: &mut Vec<Cause>) {
    let labels = selector["matchLabels"].as_object().into_iter().flatten();
    let field = format!("{path}.matchLabels");
    for (key, value) in labels {
        refuse(&field, key, names::qualified(key), causes);
        let value = value.as_str().unwrap_or_default();
        refuse(&field, value, names::label_value(value), causes);
    }
    let expressions = selector["matchExpressions"]
        .as_array()
        .into_iter()
        .flatten();
    for (at, expression) in expressions.enumerate() {
        let path = format!("{path}.matchExpressions[{at}]");
        let values = strings(expression.get("values"));
        let field = format!("{path}.values");
        match expression["operator"].as_str().unwrap_or_default() {
            "In" | "NotIn" if values.is_empty() => causes.push(Cause::required(
                &field,
                "must be specified when `operator` is 'In' or 'NotIn'",
            )),
            "Exists" | "DoesNotExist" if !values.is_empty() => causes.push(Cause::forbidden(
                &field,
                "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
            )),
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            other => causes.push(Cause::invalid(
                &format!("{path}.operator"),
                &format!("{other:?}"),
                "not a valid selector operator",
            )),
        }
        let key = expression["key"].as_str().unwrap_or_default();
        refuse(&format!("{path}.key"), key, names::qualified(key), causes);
        for (at, value) in values.iter().enumerate() {
            refuse(
                &format!("{field}[{at}]"),
                value,
                names::label_value(value),
                causes,
            );
        }
    }
}

fn refuse(field: &str, value: &str, why: Vec<String>, causes: &mut Vec<Cause>) {
    let shown = format!("{value:?}");
    causes.extend(why.iter().map(|why| Cause::invalid(field, &shown, why)));
}

fn match_conditions(conditions: &Value, path: &str, causes: &mut Vec<Cause>) {
    let conditions = conditions.as_array().map(Vec::as_slice).unwrap_or_default();
    if conditions.len() > 64 {
        let message = format!("Too many: {}: must have at most 64 items", conditions.len());
        causes.push(Cause::new("FieldValueTooMany", path, message));
    }
    let mut seen = HashSet::new();
    for (at, condition) in conditions.iter().enumerate() {
        let path = format!("{path}[{at}]");
        let expression = condition["expression"].as_str().unwrap_or_default().trim();
        let field = format!("{path}.expression");
        if expression.is_empty() {
            causes.push(Cause::required(&field, ""));
        } else if let Err(why) = Expression::compile(expression, &VARIABLES) {
            let why = format!("compilation failed: {why}");
            causes.push(Cause::invalid(&field, &format!("{expression:?}"), &why));
        }
        let name = condition["name"].as_str().unwrap_or_default();
        let field = format!("{path}.name");
        if name.is_empty() {
            causes.push(Cause::required(&field, ""));
        } else {
            refuse(&field, name, names::qualified(name), causes);
        }
        if !name.is_empty() && !seen.insert(name) {
            causes.push(Cause::duplicate(&field, name));
        }
    }
}
