//! Secrets and ConfigMaps: what becomes of their data, and which keys, sizes and types there may be.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use crate::meta;
use crate::registry::Kind;
use crate::status::Cause;

/// The most bytes that all values of an object may have together.
const MAX_SIZE: usize = 1024 * 1024;
const KEY_RULE: &str = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

/// Folds the clear text of a Secret into its data, and drops what is empty.
pub(super) fn fold(kind: &Kind, object: &mut Value) {
    if kind.kind == "Secret" {
        fold_clear_text(object);
    }
    let map = meta::as_map(object);
    for field in ["data", "binaryData"] {
        if map
            .get(field)
            .and_then(Value::as_object)
            .is_some_and(Map::is_empty)
        {
            map.remove(field);
        }
    }
}

fn fold_clear_text(object: &mut Value) {
    let map = meta::as_map(object);
    let clear = map.remove("stringData");
    let given = map.get("type").and_then(Value::as_str);
    if given.unwrap_or_default().is_empty() {
        map.insert("type".into(), "Opaque".into());
    }
    let Some(Value::Object(clear)) = clear else {
        return;
    };
    let data = meta::child_mut(object, "data");
    for (key, value) in clear {
        let text = value.as_str().unwrap_or_default();
        data.insert(key, STANDARD.encode(text).into());
    }
}

/// What is wrong with the data, and what an update may not change of it.
pub(super) fn validate(kind: &Kind, object: &Value, live: Option<&Value>) -> Vec<Cause> {
    let mut causes = Vec::new();
    let is_secret = kind.kind == "Secret";
    if let Some(live) = live {
        validate_frozen(is_secret, object, live, &mut causes);
    }
    let mut size = 0;
    for field in ["data", "binaryData"] {
        for (key, value) in object[field].as_object().into_iter().flatten() {
            validate_key(field, key, &mut causes);
            if field == "data" && !object["binaryData"][key].is_null() {
                let why = "duplicate of key present in binaryData";
                causes.push(Cause::invalid(
                    &format!("data[{key}]"),
                    &format!("{key:?}"),
                    why,
                ));
            }
            let text = value.as_str().unwrap_or_default();
            let encoded = is_secret || field == "binaryData";
            size += if encoded {
                STANDARD.decode(text).map_or(0, |b| b.len())
            } else {
                text.len()
            };
        }
    }
    if size > MAX_SIZE {
        let message = format!("Too long: may not be more than {MAX_SIZE} bytes");
        let field = if is_secret { "data" } else { "[]" };
        causes.push(Cause::new("FieldValueTooLong", field, message));
    }
    if is_secret {
        for key in needed_keys(object["type"].as_str().unwrap_or_default()) {
            if object["data"][key].is_null() {
                causes.push(Cause::required(&format!("data[{key}]"), ""));
            }
        }
        // Of these two, either will do.
        let either = ["username", "password"];
        if object["type"] == "kubernetes.io/basic-auth"
            && either.iter().all(|key| object["data"][key].is_null())
        {
            causes.extend(either.map(|key| Cause::required(&format!("data[{key}]"), "")));
        }
    }
    causes
}

fn validate_key(field: &str, key: &str, causes: &mut Vec<Cause>) {
    let mut refuse = |why: &str| {
        causes.push(Cause::invalid(
            &format!("{field}[{key}]"),
            &format!("{key:?}"),
            why,
        ));
    };
    if key.len() > 253 {
        refuse("must be no more than 253 characters");
    }
    let fits = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    if key.is_empty() || !key.bytes().all(fits) {
        refuse(KEY_RULE);
    } else if key == "." {
        refuse("must not be '.'");
    } else if key == ".." {
        refuse("must not be '..'");
    } else if key.starts_with("..") {
        refuse("must not start with '..'");
    }
}

fn validate_frozen(is_secret: bool, object: &Value, live: &Value, causes: &mut Vec<Cause>) {
    if is_secret && object["type"] != live["type"] {
        let shown = object["type"].to_string();
        causes.push(Cause::invalid("type", &shown, "field is immutable"));
    }
    if live["immutable"] != true {
        return;
    }
    let why = "field is immutable when `immutable` is set";
    if object["immutable"] != true {
        causes.push(Cause::forbidden("immutable", why));
    }
    for field in ["data", "binaryData"] {
        if object.get(field) != live.get(field) {
            causes.push(Cause::forbidden(field, why));
        }
    }
}

/// The keys without which a Secret of a known type is of no use.
fn needed_keys(type_: &str) -> &'static [&'static str] {
    match type_ {
        "kubernetes.io/tls" => &["tls.crt", "tls.key"],
        "kubernetes.io/ssh-auth" => &["ssh-privatekey"],
        "kubernetes.io/dockercfg" => &[".dockercfg"],
        "kubernetes.io/dockerconfigjson" => &[".dockerconfigjson"],
        _ => &[],
    }
}
