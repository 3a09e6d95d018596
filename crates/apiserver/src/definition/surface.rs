//! The surface of a definition: group, names, scope, versions, conversion.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::apply::go_json;
use crate::meta;
use crate::schema::json_text;
use crate::status::Cause;

const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const APPROVED: &str = "api-approved.kubernetes.io";

fn is_label(text: &str) -> bool {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    text.len() <= 63
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.ends_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
        && text.chars().all(inner)
}

fn is_subdomain(text: &str) -> bool {
    text.len() <= 253
        && text.split('.').all(|part| {
            !part.is_empty()
                && !part.starts_with('-')
                && !part.ends_with('-')
                && part
                    .chars()
                    .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
        })
}

fn label(path: &str, value: &str, prefix: &str) -> Option<Cause> {
    (!is_label(value)).then(|| Cause::invalid(path, &go_quoted(value), &format!("{prefix}{LABEL}")))
}

fn go_quoted(text: &str) -> String {
    json_text(&Value::String(text.to_owned()))
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

/// Everything that is wrong with names, versions and conversion.
pub(super) fn check(definition: &Value) -> Vec<Cause> {
    let spec = &definition["spec"];
    let mut causes = Vec::new();
    group(definition, &mut causes);
    match text(spec, "scope") {
        "Cluster" | "Namespaced" => {}
        "" => causes.push(Cause::required("spec.scope", "")),
        other => causes.push(unsupported("spec.scope", other, &["Cluster", "Namespaced"])),
    }
    versions(spec, &mut causes);
    names(&spec["names"], &mut causes);
    causes.extend(crate::conversion::validate(&spec["conversion"]));
    if spec["preserveUnknownFields"] == true {
        let why = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
        causes.push(Cause::invalid("spec.preserveUnknownFields", "true", why));
    }
    causes
}

pub(super) fn unsupported(path: &str, value: &str, allowed: &[&str]) -> Cause {
    let allowed: Vec<String> = allowed.iter().map(|a| go_quoted(a)).collect();
    let message = format!(
        "Unsupported value: {}: supported values: {}",
        go_quoted(value),
        allowed.join(", ")
    );
    Cause::new("FieldValueNotSupported", path, message)
}

fn group(definition: &Value, causes: &mut Vec<Cause>) {
    let spec = &definition["spec"];
    let (group, plural) = (text(spec, "group"), text(&spec["names"], "plural"));
    let name = meta::name(definition);
    if name != format!("{plural}.{group}") || group.is_empty() || plural.is_empty() {
        let why = "must be spec.names.plural+\".\"+spec.group";
        causes.push(Cause::invalid("metadata.name", &go_quoted(name), why));
    }
    if group.is_empty() {
        causes.push(Cause::required("spec.group", ""));
    } else if !is_subdomain(group) {
        causes.push(Cause::invalid("spec.group", &go_quoted(group), SUBDOMAIN));
    } else if !group.contains('.') {
        let why = "should be a domain with at least one dot";
        causes.push(Cause::invalid("spec.group", &go_quoted(group), why));
    }
    let protected = ["k8s.io", "kubernetes.io"]
        .iter()
        .any(|own| group == *own || group.ends_with(&format!(".{own}")));
    if !protected {
        return;
    }
    let path = format!("metadata.annotations[{APPROVED}]");
    let see = "see https://github.com/kubernetes/enhancements/pull/1111";
    let approval = definition
        .pointer("/metadata/annotations")
        .map(|a| text(a, APPROVED));
    match approval.unwrap_or_default() {
        "" => {
            let why =
                format!("protected groups must have approval annotation \"{APPROVED}\", {see}");
            causes.push(Cause::required(&path, &why));
        }
        why if why.starts_with("unapproved") || why.contains("://") => {}
        other => {
            let why = format!(
                "protected groups must have approval annotation \"{APPROVED}\" with either a URL or a reason starting with \"unapproved\", {see}"
            );
            causes.push(Cause::invalid(&path, &go_quoted(other), &why));
        }
    }
}

fn names(names: &Value, causes: &mut Vec<Cause>) {
    for (field, mixed) in [
        ("plural", false),
        ("singular", false),
        ("kind", true),
        ("listKind", true),
    ] {
        let path = format!("spec.names.{field}");
        let value = text(names, field);
        if value.is_empty() {
            if matches!(field, "plural" | "kind") {
                causes.push(Cause::required(&path, ""));
            }
            continue;
        }
        let prefix = "may have mixed case, but should otherwise match: ";
        causes.extend(if mixed {
            label(&path, &value.to_lowercase(), prefix)
                .map(|_| Cause::invalid(&path, &go_quoted(value), &format!("{prefix}{LABEL}")))
        } else {
            label(&path, value, "")
        });
    }
    let (kind, list_kind) = (text(names, "kind"), text(names, "listKind"));
    if !kind.is_empty() && kind == list_kind {
        let why = "kind and listKind may not be the same";
        causes.push(Cause::invalid(
            "spec.names.listKind",
            &go_quoted(list_kind),
            why,
        ));
    }
    for field in ["shortNames", "categories"] {
        for (at, value) in names[field].as_array().into_iter().flatten().enumerate() {
            let path = format!("spec.names.{field}[{at}]");
            causes.extend(label(&path, value.as_str().unwrap_or_default(), ""));
        }
    }
}

fn versions(spec: &Value, causes: &mut Vec<Cause>) {
    let versions: Vec<&Value> = spec["versions"].as_array().into_iter().flatten().collect();
    for (at, version) in versions.iter().enumerate() {
        let name = text(version, "name");
        causes.extend(label(&format!("spec.versions[{at}].name"), name, ""));
        let path = format!("spec.versions[{at}].deprecationWarning");
        if let Some(warning) = version["deprecationWarning"].as_str() {
            let why = if version["deprecated"] != true {
                Some("can only be set for deprecated versions")
            } else if warning.is_empty() {
                Some("must not be an empty string")
            } else if warning.len() > 256 {
                Some("must be <= 256 characters long")
            } else {
                None
            };
            causes.extend(why.map(|why| Cause::invalid(&path, &go_quoted(warning), why)));
        }
    }
    let all: Vec<String> = versions.iter().map(|v| go_version(v)).collect();
    let shown = format!("[{}]", all.join(","));
    let stored: Vec<&str> = versions
        .iter()
        .filter(|v| v["storage"] == true)
        .map(|v| text(v, "name"))
        .collect();
    let unique: HashSet<&str> = versions.iter().map(|v| text(v, "name")).collect();
    if unique.len() != versions.len() {
        causes.push(Cause::invalid(
            "spec.versions",
            &shown,
            "must contain unique version names",
        ));
    }
    if stored.len() != 1 {
        let why = "must have exactly one version marked as storage version";
        causes.push(Cause::invalid("spec.versions", &shown, why));
        causes.push(match (stored.first(), stored.last()) {
            (Some(first), Some(last)) => Cause::invalid(
                "status.storedVersions",
                &json!([first]).to_string(),
                &format!("must have the storage version {last}"),
            ),
            _ => Cause::invalid(
                "status.storedVersions",
                "null",
                "must have at least one stored version",
            ),
        });
    }
    if let Some(first) = versions.first() {
        causes.extend(label("spec.version", text(first, "name"), ""));
    }
}

/// A version as upstream's own type shows it in an error, in the order of its fields.
fn go_version(version: &Value) -> String {
    let shown = |field: &str| go_json(&version[field]);
    let flag = |field: &str| version[field] == true;
    format!(
        "{{\"Name\":{},\"Served\":{},\"Storage\":{},\"Deprecated\":{},\"DeprecationWarning\":{},\"Schema\":null,\"Subresources\":null,\"AdditionalPrinterColumns\":null,\"SelectableFields\":null}}",
        shown("name"),
        flag("served"),
        flag("storage"),
        flag("deprecated"),
        shown("deprecationWarning"),
    )
}
