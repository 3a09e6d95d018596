//! Takes out of an answer what two servers cannot have in common: UIDs, times, versions, ports.
//!
//! UIDs and the versions of objects become numbers in the order of their first appearance, so
//! that it still shows which are the same and which have changed. The order of managed fields is
//! by time and therefore not compared.

use std::{collections::HashMap, sync::LazyLock};

use regex::{Captures, Regex};
use serde_json::Value;

use crate::{exchange::Answer, scenario::Variables};

type Pattern = LazyLock<Regex>;

static UID: Pattern = LazyLock::new(|| {
    Regex::new("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}").unwrap()
});
/// Scenarios use years before this century's second decade for times of their own.
static TIME: Pattern =
    LazyLock::new(|| Regex::new(r"20[2-9]\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?Z").unwrap());
static ADDRESS: Pattern = LazyLock::new(|| Regex::new(r"127\.0\.0\.1:\d+").unwrap());
static AGE: Pattern = LazyLock::new(|| Regex::new(r"^\d+[smhd](\d+[smh])?$").unwrap());
/// Revisions in sentences.
static REVISION: Pattern = LazyLock::new(|| Regex::new(r"\(\d+\)|current: \d+").unwrap());

/// Numbers the UIDs and versions of one server in one scenario.
#[derive(Debug, Default)]
pub struct Mask {
    uids: HashMap<String, usize>,
    versions: HashMap<String, usize>,
}

impl Mask {
    /// The answer without what is the server's own.
    pub fn answer(&mut self, answer: &Answer, variables: &Variables) -> Answer {
        let mut masked = answer.clone();
        for values in masked.headers.values_mut() {
            for value in values {
                *value = self.text(value, variables);
            }
        }
        for body in &mut masked.bodies {
            self.value(body, "", variables);
        }
        masked
    }

    fn value(&mut self, value: &mut Value, key: &str, variables: &Variables) {
        match value {
            Value::String(text) if key == "cells" && AGE.is_match(text) => *text = "<age>".into(),
            Value::String(text) => *text = self.text(text, variables),
            Value::Array(items) => {
                for item in &mut *items {
                    self.value(item, key, variables);
                }
                if key == "managedFields" {
                    items.sort_by_cached_key(identity_of_manager);
                }
            }
            Value::Object(fields) => {
                if key == "metadata" {
                    self.metadata(fields);
                }
                // By name, so that numbers do not depend on the order on the wire.
                let mut names: Vec<String> = fields.keys().cloned().collect();
                names.sort();
                for name in names {
                    self.value(&mut fields[&name], &name, variables);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// The version of an object tells whether it changed; that of a list is the whole server's.
    fn metadata(&mut self, fields: &mut serde_json::Map<String, Value>) {
        let of_object = fields.contains_key("uid");
        if let Some(Value::String(version)) = fields.get_mut("resourceVersion") {
            let digits = !version.is_empty() && version.bytes().all(|b| b.is_ascii_digit());
            *version = match digits {
                true if of_object => format!("<version {}>", number(&mut self.versions, version)),
                true => "<version>".to_owned(),
                false => format!("<not a version: {version:?}>"),
            };
        }
        if let Some(Value::String(token)) = fields.get_mut("continue") {
            *token = if token.is_empty() { "" } else { "<token>" }.to_owned();
        }
    }

    fn text(&mut self, text: &str, variables: &Variables) -> String {
        let mut text = text.to_owned();
        for (name, value) in variables.saved() {
            // A number would be found where it does not belong.
            if value.len() > 3 && value.bytes().any(|b| !b.is_ascii_digit()) && !UID.is_match(value)
            {
                text = text.replace(value, &format!("${{{name}}}"));
            }
        }
        let uids = &mut self.uids;
        let text = UID.replace_all(&text, |found: &Captures<'_>| {
            format!("<uid {}>", number(uids, &found[0]))
        });
        let text = TIME.replace_all(&text, |found: &Captures<'_>| match found.get(1) {
            Some(_) => "<microtime>",
            None => "<time>",
        });
        let text = ADDRESS.replace_all(&text, "<address>");
        REVISION.replace_all(&text, "<revision>").into_owned()
    }
}

fn number(known: &mut HashMap<String, usize>, text: &str) -> usize {
    let next = known.len() + 1;
    *known.entry(text.to_owned()).or_insert(next)
}

fn identity_of_manager(entry: &Value) -> String {
    ["operation", "manager", "apiVersion", "subresource"]
        .map(|field| entry[field].to_string())
        .join(" ")
}
