//! Secrets out of objects and out of texts about them, so that both can be shown to others.
//!
//! Two passes: [`Secrets::learn`] finds every secret of every object by where it stands, and
//! [`Secrets::clean`] takes out what stands there, and whatever was learnt, wherever it is quoted.

use std::collections::BTreeSet;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::Value;

/// What stands in the place of a secret.
pub const REMOVED: &str = "(removed)";

/// The shortest text that is looked for in other texts: a shorter one would take out half a page.
const SHORTEST: usize = 6;

/// Parts of names that say that the value is secret, as letters alone.
const WORDS: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "privatekey",
    "credential",
    "userdata",
    "metadatabase",
    "networkdata",
    "kubeconfig",
    "bearer",
    "authorization",
];

/// Names that hold such a part, and refer to a secret instead of being one.
const REFERENCES: &[&str] = &["ref", "refs", "name", "namespace", "type", "url", "lookup"];

/// Maps whose content only a platform understands: every value of them may be a secret.
const SETTINGS: &[&str] = &["customSettings", "parameters"];

/// Objects whose text values are given to a guest.
const GUEST: &[&str] = &["cloudInit"];

/// Secrets that were found.
#[derive(Debug, Default)]
pub struct Secrets {
    known: BTreeSet<String>,
}

impl Secrets {
    /// Finds the secrets of an object.
    pub fn learn(&mut self, object: &Value) {
        let mut copy = object.clone();
        let mut found = Vec::new();
        walk(&mut copy, &mut Vec::new(), &mut found);
        for text in found {
            self.keep(&text);
        }
    }

    fn keep(&mut self, text: &str) {
        let decoded = STANDARD.decode(text.trim()).ok();
        let decoded = decoded.and_then(|bytes| String::from_utf8(bytes).ok());
        for text in [Some(text.to_owned()), decoded].into_iter().flatten() {
            // A message may quote one line of many, or the value of one.
            let lines = text.lines();
            let values = lines
                .clone()
                .filter_map(|line| Some(line.split_once([':', '='])?.1));
            for part in std::iter::once(text.as_str())
                .chain(lines.clone())
                .chain(values)
            {
                let part = part.trim().trim_matches(['"', '\'']);
                if part.len() >= SHORTEST {
                    self.known.insert(part.to_owned());
                }
            }
        }
    }

    /// Takes every secret out of an object.
    pub fn clean(&self, object: &mut Value) {
        walk(object, &mut Vec::new(), &mut Vec::new());
        self.scrub(object);
    }

    /// Takes what was learnt out of a text.
    pub fn clean_text(&self, text: &str) -> String {
        // The longest first: a part of it may be a secret as well.
        let mut known: Vec<&String> = self.known.iter().collect();
        known.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        let mut text = text.to_owned();
        for secret in known {
            if text.contains(secret.as_str()) {
                text = text.replace(secret.as_str(), REMOVED);
            }
        }
        text
    }

    fn scrub(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.clean_text(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.scrub(item)),
            Value::Object(fields) => fields.values_mut().for_each(|field| self.scrub(field)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// Whether the field at this path of an object of this kind holds a secret.
pub fn hides(kind: &str, path: &str) -> bool {
    let mut parts = path.split(['.', '[', ']']);
    let of_secret =
        kind == "Secret" && (path.starts_with("data") || path.starts_with("stringData"));
    let told =
        |part: &str| SETTINGS.contains(&part) || GUEST.contains(&part) || is_secret_name(part);
    of_secret || path.starts_with("spec.providerConfig.config") || parts.any(told)
}

/// Whether a field of this name holds a secret.
pub fn is_secret_name(name: &str) -> bool {
    let letters: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    let letters = letters.to_ascii_lowercase();
    let refers = REFERENCES.iter().any(|end| letters.ends_with(end));
    !refers && WORDS.iter().any(|word| letters.contains(word))
}

/// Replaces every secret by where it stands, and tells what stood there.
fn walk(value: &mut Value, path: &mut Vec<String>, found: &mut Vec<String>) {
    let of_secret = value["kind"] == "Secret";
    if let Value::Object(fields) = value {
        let named = fields
            .get("name")
            .and_then(Value::as_str)
            .is_some_and(is_secret_name);
        for (key, field) in fields.iter_mut() {
            let last = path.last().map(String::as_str);
            let whole = (of_secret && ["data", "stringData"].contains(&key.as_str()))
                || SETTINGS.contains(&key.as_str())
                || GUEST.contains(&key.as_str())
                || (last == Some("providerConfig") && key == "config")
                || (last == Some("ca") && key == "key")
                || (named && key == "value")
                || is_secret_name(key);
            let quoted = last == Some("annotations")
                && field
                    .as_str()
                    .is_some_and(|text| text.trim_start().starts_with(['{', '[']));
            if quoted {
                // What it says is of no use to learn whole: the secrets in it stand where they do
                // in an object.
                let text = field.as_str().unwrap_or_default();
                if let Ok(mut inner) = serde_json::from_str::<Value>(text) {
                    walk(&mut inner, &mut Vec::new(), found);
                }
                *field = REMOVED.into();
            } else if whole {
                remove(field, found);
            } else {
                path.push(key.clone());
                walk(field, path, found);
                path.pop();
            }
        }
        return;
    }
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| walk(item, path, found)),
        Value::String(text) if is_secret_text(text) => {
            found.push(std::mem::replace(text, REMOVED.to_owned()));
        }
        _ => {}
    }
}

/// Removes every text below a value; names and the shape stay.
fn remove(value: &mut Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(std::mem::replace(text, REMOVED.to_owned())),
        Value::Number(number) => {
            found.push(number.to_string());
            *value = REMOVED.into();
        }
        Value::Array(items) => items.iter_mut().for_each(|item| remove(item, found)),
        Value::Object(fields) => fields.values_mut().for_each(|field| remove(field, found)),
        Value::Null | Value::Bool(_) => {}
    }
}

/// Texts that are secrets wherever they stand: private keys, and URLs with a password.
fn is_secret_text(text: &str) -> bool {
    let authority = text
        .split_once("://")
        .map(|(_, rest)| rest.split('/').next().unwrap_or(rest));
    let with_password = authority.is_some_and(|authority| {
        let user = authority.rsplit_once('@').map(|(user, _)| user);
        user.is_some_and(|user| user.contains(':'))
    });
    text.contains("PRIVATE KEY-----") || with_password
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_that_refer_to_a_secret_are_none() {
        for name in [
            "password",
            "API_Key",
            "clientSecret",
            "userData",
            "token",
            "adminPasswd",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in [
            "secretRef",
            "credentialsRef",
            "secretName",
            "tokenURL",
            "keys",
            "region",
        ] {
            assert!(!is_secret_name(name), "{name}");
        }
    }

    #[test]
    fn fields_are_hidden_by_their_path() {
        for (kind, path) in [
            ("Secret", "data.user"),
            ("Machine", "spec.cloudInit.userData"),
            ("Machine", "spec.providerConfig.config.pin"),
            ("MachineProvider", "spec.config.customSettings.pin"),
            ("ProxmoxConfig", "spec.token"),
        ] {
            assert!(hides(kind, path), "{kind} {path}");
        }
        assert!(!hides("Machine", "spec.disks[data].sizeGB"));
    }

    #[test]
    fn secrets_go_wherever_they_stand_or_are_quoted() {
        let object = json!({
            "kind": "MachineProvider",
            "metadata": {"name": "p", "annotations": {"last": "{\"spec\":{\"token\":\"tok-abcdef\"}}"}},
            "spec": {"type": "sim", "authentication": {"parameters": {"user": "root-user"}},
                "config": {"endpoint": "https://me:hunter22@host/x", "customSettings": {"pin": 123456}},
                "env": [{"name": "DB_PASSWORD", "value": "swordfish"}]},
            "status": {"message": "login of root-user with swordfish failed"},
        });
        let mut secrets = Secrets::default();
        secrets.learn(&object);
        let mut clean = object.clone();
        secrets.clean(&mut clean);
        let text = clean.to_string();
        for secret in ["tok-abcdef", "root-user", "hunter22", "123456", "swordfish"] {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
        assert_eq!(clean["spec"]["type"], "sim");
        assert_eq!(clean["metadata"]["name"], "p");
    }

    #[test]
    fn values_of_a_secret_go_in_both_forms() {
        let secret = json!({"kind": "Secret", "metadata": {"name": "keys"},
            "data": {"key": "c3dvcmRmaXNo"}, "stringData": {"other": "open sesame"}});
        let mut secrets = Secrets::default();
        secrets.learn(&secret);
        let said = secrets.clean_text("c3dvcmRmaXNo is swordfish, open sesame");
        assert_eq!(said, "(removed) is (removed), (removed)");
        let mut clean = secret;
        secrets.clean(&mut clean);
        assert_eq!(clean["data"]["key"], REMOVED);
        assert_eq!(clean["metadata"]["name"], "keys");
    }
}
