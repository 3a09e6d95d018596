//! The rules of `metadata`, which are the same for every kind: which fields there are, what
//! names may look like, and what an update may not touch.

use serde_json::Value;

use crate::meta;
use crate::registry::{Hook, Kind};
use crate::selector::is_label_word;
use crate::status::{ApiError, Cause};

const KNOWN: [&str; 15] = [
    "annotations",
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "finalizers",
    "generateName",
    "generation",
    "labels",
    "managedFields",
    "name",
    "namespace",
    "ownerReferences",
    "resourceVersion",
    "selfLink",
    "uid",
];

/// What a name that is no DNS subdomain is told.
pub(crate) const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
/// What a value that no label may have is told.
pub(crate) const LABEL_VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
/// What a key that no label may have is told.
pub(crate) const QUALIFIED: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

/// What a name that is no DNS-1035 label is told.
pub(crate) const DNS_1035: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

/// Drops fields that no metadata has, and names them.
pub(super) fn prune(object: &mut Value) -> Vec<String> {
    let mut dropped = Vec::new();
    meta::metadata_mut(object).retain(|field, value| {
        let known = KNOWN.contains(&field.as_str());
        if !known {
            dropped.push(format!("metadata.{field}"));
        }
        known && !value.is_null()
    });
    dropped
}

/// Drops lists and maps without entries, which a typed server does not tell from absent ones.
pub(super) fn drop_empty(object: &mut Value) {
    let metadata = meta::metadata_mut(object);
    for field in ["labels", "annotations"] {
        if metadata
            .get(field)
            .and_then(Value::as_object)
            .is_some_and(serde_json::Map::is_empty)
        {
            metadata.remove(field);
        }
    }
    for field in ["finalizers", "ownerReferences"] {
        if metadata
            .get(field)
            .and_then(Value::as_array)
            .is_some_and(Vec::is_empty)
        {
            metadata.remove(field);
        }
    }
}

/// Refuses metadata of the wrong JSON types, as a typed decoder would.
pub(super) fn check_types(object: &Value) -> Result<(), ApiError> {
    let Some(metadata) = object.get("metadata") else {
        return Ok(());
    };
    if !metadata.is_object() && !metadata.is_null() {
        return Err(mismatch("metadata", "v1.ObjectMeta", metadata));
    }
    for (field, value) in metadata.as_object().into_iter().flatten() {
        let path = format!("metadata.{field}");
        match field.as_str() {
            _ if value.is_null() => {}
            "labels" | "annotations" => {
                let Some(map) = value.as_object() else {
                    return Err(mismatch(&path, "map[string]string", value));
                };
                if let Some(wrong) = map.values().find(|v| !v.is_string()) {
                    return Err(mismatch(&path, "string", wrong));
                }
            }
            "finalizers" => match value.as_array() {
                Some(list) if list.iter().all(Value::is_string) => {}
                _ => return Err(mismatch(&path, "[]string", value)),
            },
            "ownerReferences" | "managedFields" => match value.as_array() {
                Some(list) if list.iter().all(Value::is_object) => {}
                _ => return Err(mismatch(&path, "[]object", value)),
            },
            "generation" | "deletionGracePeriodSeconds" if value.is_i64() => {}
            "generation" | "deletionGracePeriodSeconds" => {
                return Err(mismatch(&path, "int64", value));
            }
            _ if value.is_string() || !KNOWN.contains(&field.as_str()) => {}
            _ => return Err(mismatch(&path, "string", value)),
        }
    }
    Ok(())
}

fn mismatch(path: &str, expected: &str, found: &Value) -> ApiError {
    let found = match found {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    ApiError::bad_request(format!(
        "json: cannot unmarshal {found} into Go struct field ObjectMeta.{path} of type {expected}"
    ))
}

/// What is wrong with the metadata of a new or changed object.
pub(super) fn validate(kind: &Kind, object: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    validate_name(kind, object, &mut causes);
    let quoted = |text: &str| format!("{text:?}");
    let map = |field| {
        object
            .pointer(field)
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
    };
    for (key, value) in map("/metadata/labels") {
        if !is_qualified(key) {
            causes.push(Cause::invalid("metadata.labels", &quoted(key), QUALIFIED));
        }
        let value = value.as_str().unwrap_or_default();
        if !is_label_word(value) {
            let why = if value.len() > 63 {
                "must be no more than 63 bytes"
            } else {
                LABEL_VALUE
            };
            causes.push(Cause::invalid("metadata.labels", &quoted(value), why));
        }
    }
    let mut size = 0;
    for (key, value) in map("/metadata/annotations") {
        if !is_qualified(&key.to_lowercase()) {
            causes.push(Cause::invalid(
                "metadata.annotations",
                &quoted(key),
                QUALIFIED,
            ));
        }
        size += key.len() + value.as_str().map_or(0, str::len);
    }
    if size > 256 * 1024 {
        let message = "Too long: may not be more than 262144 bytes".to_owned();
        causes.push(Cause::new(
            "FieldValueTooLong",
            "metadata.annotations",
            message,
        ));
    }
    for (at, finalizer) in meta::finalizers(object).iter().enumerate() {
        if !is_qualified(finalizer) {
            causes.push(Cause::invalid(
                &format!("metadata.finalizers[{at}]"),
                &quoted(finalizer),
                QUALIFIED,
            ));
        }
    }
    let owners = object
        .pointer("/metadata/ownerReferences")
        .and_then(Value::as_array);
    let mut controllers = 0;
    for (at, owner) in owners.into_iter().flatten().enumerate() {
        for field in ["apiVersion", "kind", "name", "uid"] {
            if owner[field].as_str().unwrap_or_default().is_empty() {
                let path = format!("metadata.ownerReferences[{at}].{field}");
                causes.push(Cause::invalid(&path, "\"\"", "must not be empty"));
            }
        }
        controllers += u32::from(owner["controller"] == true);
    }
    if controllers > 1 {
        let why = "Only one reference can have Controller set to true";
        causes.push(Cause::invalid("metadata.ownerReferences", "[]", why));
    }
    causes
}

fn validate_name(kind: &Kind, object: &Value, causes: &mut Vec<Cause>) {
    let name = meta::name(object);
    let generated = meta::text(object, "generateName");
    if name.is_empty() {
        if generated.is_empty() {
            causes.push(Cause::required(
                "metadata.name",
                "name or generateName is required",
            ));
        }
        return;
    }
    let is_label = kind.hook == Hook::Namespace;
    let (valid, limit, why) = if is_label {
        (is_dns_label(name), 63, LABEL)
    } else {
        (is_dns_subdomain(name), 253, SUBDOMAIN)
    };
    let shown = format!("{name:?}");
    if name.len() > limit {
        causes.push(Cause::invalid(
            "metadata.name",
            &shown,
            &format!("must be no more than {limit} bytes"),
        ));
    }
    if !valid {
        causes.push(Cause::invalid("metadata.name", &shown, why));
    }
}

/// What an update may not change, and what it may not do while the object is being deleted.
pub(super) fn validate_update(object: &Value, live: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    for field in ["name", "namespace", "uid"] {
        let (new, old) = (meta::text(object, field), meta::text(live, field));
        if new != old {
            causes.push(Cause::invalid(
                &format!("metadata.{field}"),
                &format!("{new:?}"),
                "field is immutable",
            ));
        }
    }
    if meta::is_deleting(live) {
        let before = meta::finalizers(live);
        let added: Vec<_> = meta::finalizers(object)
            .into_iter()
            .filter(|f| !before.contains(f))
            .collect();
        if !added.is_empty() {
            let list: Vec<String> = added.iter().map(|f| format!("{f:?}")).collect();
            causes.push(Cause::forbidden(
                "metadata.finalizers",
                &format!(
                    "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
                    list.join(", ")
                ),
            ));
        }
    }
    causes
}

/// Whether a text may be the key of a label.
pub(crate) fn is_qualified(key: &str) -> bool {
    let (prefix, name) = key
        .split_once('/')
        .map_or((None, key), |(p, n)| (Some(p), n));
    prefix.is_none_or(is_dns_subdomain) && !name.is_empty() && is_label_word(name)
}

/// Whether a text is a DNS label that begins with a letter.
pub(crate) fn is_dns_1035_label(text: &str) -> bool {
    is_dns_label(text) && text.starts_with(|c: char| c.is_ascii_lowercase())
}

/// Whether a text is a DNS label.
pub(super) fn is_dns_label(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 63
        && text
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        && !text.starts_with('-')
        && !text.ends_with('-')
}

/// Whether a text is a DNS name.
pub(crate) fn is_dns_subdomain(text: &str) -> bool {
    let part = |p: &str| {
        !p.is_empty()
            && p.bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
            && !p.starts_with('-')
            && !p.ends_with('-')
    };
    text.len() <= 253 && text.split('.').all(part)
}
