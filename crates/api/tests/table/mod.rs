//! The table of cases: manifests, and what every API server must make of them.
//!
//! A case gives its manifest in full, or as a merge patch on one of the files in `bases`. It is run
//! without a server by this crate's tests and on two servers by those of the binary.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::panic,
    reason = "each test uses its part, and a failed assumption in a test is a failed test"
)]

pub(crate) mod bounds;

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

/// One manifest, and what every server must make of it.
pub(crate) struct Case {
    /// File and name of the case.
    pub(crate) name: String,
    /// The manifest.
    pub(crate) manifest: Value,
    /// What the object was before, when the case is about a change.
    pub(crate) was: Option<Value>,
    /// What must come of it.
    pub(crate) expect: Expect,
    /// What refuses it.
    pub(crate) by: Option<By>,
}

impl Case {
    /// Kind of the manifest.
    pub(crate) fn kind(&self) -> &str {
        self.manifest["kind"].as_str().unwrap()
    }

    /// What a refusal must say; none means acceptance.
    pub(crate) fn refusal(&self) -> Option<&str> {
        match &self.expect {
            Expect::Reject(message) => Some(message),
            Expect::Accept | Expect::Default(_) => None,
        }
    }

    /// The parts of the accepted object that differ from those that the case expects.
    pub(crate) fn misses(&self, accepted: &Value) -> Vec<String> {
        let Expect::Default(Value::Object(expected)) = &self.expect else {
            return Vec::new();
        };
        expected
            .iter()
            .filter(|(part, value)| &accepted[part.as_str()] != *value)
            .map(|(part, value)| {
                format!(
                    "{part} is {}\n  instead of {value}",
                    accepted[part.as_str()]
                )
            })
            .collect()
    }
}

/// What must come of a manifest.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Expect {
    /// It is accepted.
    Accept,
    /// It is refused, and the refusal holds these words.
    Reject(String),
    /// It is accepted, and these parts of it are afterwards exactly so.
    Default(Value),
}

/// What refuses a manifest.
#[derive(Deserialize, PartialEq, Clone, Copy)]
#[serde(rename_all = "lowercase")]
pub(crate) enum By {
    /// A CEL rule.
    Cel,
    /// Types, ranges, enums, patterns, required fields or list keys.
    Schema,
    /// The webhook, which a server asks when it is there.
    Code,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    name: String,
    kind: Option<String>,
    expect: Expect,
    by: Option<By>,
    manifest: Option<Value>,
    base: Option<String>,
    merge: Option<Value>,
    was: Option<Value>,
}

/// Every case.
pub(crate) fn cases() -> Vec<Case> {
    files("cases")
        .iter()
        .flat_map(|(file, text)| {
            let written: Vec<Written> =
                serde_saphyr::from_str(text).unwrap_or_else(|error| panic!("{file}: {error}"));
            written.into_iter().map(|case| resolve(file, case))
        })
        .collect()
}

fn resolve(file: &str, case: Written) -> Case {
    let name = format!("{file}: {}", case.name);
    let on_base = |patch: &Value| {
        let base = case
            .base
            .as_ref()
            .unwrap_or_else(|| panic!("{name}: no base"));
        let text = fs::read_to_string(folder("bases").join(format!("{base}.yaml"))).unwrap();
        let mut manifest: Value = serde_saphyr::from_str(&text).unwrap();
        merge(&mut manifest, patch);
        manifest
    };
    let manifest = match (&case.manifest, &case.merge) {
        (Some(manifest), None) => manifest.clone(),
        (None, patch) => on_base(patch.as_ref().unwrap_or(&Value::Object(Default::default()))),
        _ => panic!("{name}: give either manifest or base and merge"),
    };
    if let Some(kind) = &case.kind {
        assert_eq!(manifest["kind"].as_str(), Some(kind.as_str()), "{name}");
    }
    let refused = matches!(case.expect, Expect::Reject(_));
    assert_eq!(refused, case.by.is_some(), "{name}: `by` goes with reject");
    Case {
        was: case.was.as_ref().map(|was| match case.base {
            Some(_) => on_base(was),
            None => was.clone(),
        }),
        name,
        manifest,
        expect: case.expect,
        by: case.by,
    }
}

/// Every documented manifest, by file name.
pub(crate) fn manifests() -> Vec<(String, Value)> {
    files("manifests")
        .into_iter()
        .map(|(name, text)| {
            let manifest = serde_saphyr::from_str(&text);
            let manifest = manifest.unwrap_or_else(|error| panic!("{name}: {error}"));
            (name, manifest)
        })
        .collect()
}

fn folder(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    root.join("api/tests").join(name)
}

/// Every file below a folder of the tests: its path from there, and its text.
fn files(name: &str) -> Vec<(String, String)> {
    let root = folder(name);
    let mut folders = vec![root.clone()];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(&root).unwrap().display().to_string();
                files.push((name, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    files.sort();
    files
}

/// RFC 7386: null removes, objects merge, everything else replaces.
fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Default::default());
    }
    let fields = target.as_object_mut().unwrap();
    for (key, value) in patch {
        match value {
            Value::Null => {
                fields.remove(key);
            }
            value => merge(fields.entry(key.clone()).or_insert(Value::Null), value),
        }
    }
}
