//! `metadata.managedFields`: reading it, writing it, and the entries in between.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::fields::FieldsError;
use super::held::Held;
use super::value::{go_json, quote};

/// How a manager wrote its fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Operation {
    /// By server-side apply.
    Apply,
    /// By create, update or patch.
    Update,
}

impl Operation {
    fn as_str(self) -> &'static str {
        match self {
            Self::Apply => "Apply",
            Self::Update => "Update",
        }
    }
}

/// What makes a manager one: the same name is another manager for another operation, version
/// (of updates) or subresource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) manager: String,
    pub(super) operation: Operation,
    /// Empty for an apply, which is one manager across versions.
    pub(super) api_version: String,
    pub(super) subresource: String,
}

impl Identity {
    pub(super) fn new(
        manager: &str,
        operation: Operation,
        api_version: &str,
        subresource: &str,
    ) -> Self {
        let manager = if manager.is_empty() {
            "unknown"
        } else {
            manager
        };
        let api_version = if operation == Operation::Apply {
            ""
        } else {
            api_version
        };
        Self {
            manager: manager.into(),
            operation,
            api_version: api_version.into(),
            subresource: subresource.into(),
        }
    }

    /// The key under which the manager is kept; its order is the order of messages.
    pub(super) fn key(&self) -> String {
        let mut out = String::from("{");
        let parts = [
            ("manager", self.manager.as_str()),
            ("operation", self.operation.as_str()),
            ("apiVersion", &self.api_version),
            ("subresource", &self.subresource),
        ];
        for (name, part) in parts.into_iter().filter(|(_, part)| !part.is_empty()) {
            if out.len() > 1 {
                out.push(',');
            }
            out.push_str(&format!(
                "\"{name}\":{}",
                go_json(&Value::String(part.into()))
            ));
        }
        out.push('}');
        out
    }

    /// The form shown to people: `"kubectl" using example.io/v1`.
    pub(super) fn describe(&self) -> String {
        let mut out = quote(&self.manager);
        if !self.subresource.is_empty() {
            out.push_str(&format!(" with subresource {}", quote(&self.subresource)));
        }
        if self.operation == Operation::Update {
            out.push_str(&format!(" using {}", self.api_version));
        }
        out
    }
}

/// One manager with its fields.
#[derive(Debug, Clone)]
pub(super) struct Entry<'v> {
    pub(super) identity: Identity,
    /// The version at which the fields were written.
    pub(super) api_version: String,
    pub(super) time: Option<Timestamp>,
    pub(super) held: Held<'v>,
}

/// Every manager of an object, by its key.
#[derive(Debug, Clone, Default)]
pub(super) struct Managed<'v>(pub(super) BTreeMap<String, Entry<'v>>);

/// Whether two lists of managed fields, as they lie in objects, differ in their times at most.
pub(super) fn is_same_but_for_times(one: &Value, other: &Value) -> bool {
    let (Value::Array(ones), Value::Array(others)) = (one, other) else {
        return one == other;
    };
    let untimed =
        |entry: &'_ Map<String, Value>| entry.len() - usize::from(entry.contains_key("time"));
    ones.len() == others.len()
        && ones.iter().zip(others).all(|two| match two {
            (Value::Object(one), Value::Object(other)) => {
                untimed(one) == untimed(other)
                    && one
                        .iter()
                        .all(|(name, value)| name == "time" || other.get(name) == Some(value))
            }
            (one, other) => one == other,
        })
}

/// Why managed fields cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ManagedFieldsError {
    /// The operation is something else.
    #[error("operation must be `Apply` or `Update`")]
    Operation,
    /// The version is missing.
    #[error("apiVersion must not be empty")]
    ApiVersion,
    /// The type of the fields is missing or unknown.
    #[error("invalid fieldsType {found:?} in managed fields entry {index}")]
    FieldsType {
        /// Which entry, counted from zero.
        index: usize,
        /// What it says.
        found: String,
    },
    /// The fields cannot be read.
    #[error("managed fields entry {index} has malformed fields")]
    Fields {
        /// Which entry, counted from zero.
        index: usize,
        /// What is wrong with them.
        source: FieldsError,
    },
}

/// An entry as it stands on the wire, of the right types but not yet read further.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Raw<'v> {
    manager: String,
    operation: String,
    api_version: String,
    time: Option<Timestamp>,
    fields_type: String,
    fields: Option<&'v Value>,
    subresource: String,
}

/// The raw entries of an object; `None` when there is no list, or one that is not of the right
/// types throughout, which counts as none.
pub(super) fn raw_entries(object: &Value) -> Option<Vec<Raw<'_>>> {
    let entries = object.get("metadata")?.get("managedFields")?.as_array()?;
    entries.iter().map(raw_entry).collect()
}

fn raw_entry(entry: &Value) -> Option<Raw<'_>> {
    let entry = entry.as_object()?;
    let text = |name: &str| match entry.get(name) {
        None | Some(Value::Null) => Some(String::new()),
        Some(Value::String(text)) => Some(text.clone()),
        Some(_) => None,
    };
    let time = text("time")?;
    Some(Raw {
        manager: text("manager")?,
        operation: text("operation")?,
        api_version: text("apiVersion")?,
        time: if time.is_empty() {
            None
        } else {
            Some(time.parse().ok()?)
        },
        fields_type: text("fieldsType")?,
        fields: entry.get("fieldsV1").filter(|fields| !fields.is_null()),
        subresource: text("subresource")?,
    })
}

/// Whether someone asks to forget all managers: an empty list, or one empty entry.
pub(super) fn is_reset(entries: &[Raw<'_>]) -> bool {
    match entries {
        [] => true,
        [only] => *only == Raw::default(),
        _ => false,
    }
}

impl<'v> Managed<'v> {
    /// Reads the entries; of two for the same manager the later one counts.
    pub(super) fn decode(entries: Option<Vec<Raw<'v>>>) -> Result<Self, ManagedFieldsError> {
        let mut managed = Managed::default();
        for (index, raw) in entries.into_iter().flatten().enumerate() {
            let operation = match raw.operation.as_str() {
                "Apply" => Operation::Apply,
                "Update" => Operation::Update,
                _ => return Err(ManagedFieldsError::Operation),
            };
            if raw.api_version.is_empty() {
                return Err(ManagedFieldsError::ApiVersion);
            }
            if raw.fields_type != "FieldsV1" {
                return Err(ManagedFieldsError::FieldsType {
                    index,
                    found: raw.fields_type,
                });
            }
            let held = Held::read(raw.fields.unwrap_or(&Value::Null))
                .map_err(|source| ManagedFieldsError::Fields { index, source })?;
            let identity = Identity {
                // A name that is missing stays missing here; only new entries get one.
                manager: raw.manager.clone(),
                ..Identity::new(&raw.manager, operation, &raw.api_version, &raw.subresource)
            };
            let entry = Entry {
                identity,
                api_version: raw.api_version,
                time: raw.time,
                held,
            };
            managed.0.insert(entry.identity.key(), entry);
        }
        Ok(managed)
    }

    /// The entries in their canonical order; nothing when there are none.
    pub(super) fn to_json(&self) -> Option<Value> {
        let mut entries: Vec<_> = self.0.values().collect();
        entries.sort_by_cached_key(|entry| {
            let seconds = entry.time.map_or(0, Timestamp::as_second);
            let id = &entry.identity;
            (
                id.operation,
                seconds,
                id.manager.clone(),
                entry.api_version.clone(),
                id.subresource.clone(),
            )
        });
        let entries: Vec<_> = entries.into_iter().map(Entry::to_json).collect();
        (!entries.is_empty()).then_some(Value::Array(entries))
    }
}

/// Writes entries into an object, or removes the field when there are none.
pub(super) fn write_into(object: &mut Value, entries: Option<Value>) {
    let Some(entries) = entries else {
        remove_from(object);
        return;
    };
    let Some(object) = object.as_object_mut() else {
        return;
    };
    let metadata = object.entry("metadata").or_insert_with(|| json!({}));
    if let Some(metadata) = metadata.as_object_mut() {
        metadata.insert("managedFields".into(), entries);
    }
}

impl Entry<'_> {
    fn to_json(&self) -> Value {
        let mut out = Map::new();
        let mut put = |name: &str, text: String| {
            if !text.is_empty() {
                out.insert(name.into(), Value::String(text));
            }
        };
        put("manager", self.identity.manager.clone());
        put("operation", self.identity.operation.as_str().into());
        put("apiVersion", self.api_version.clone());
        put("time", self.time.map(seconds_text).unwrap_or_default());
        put("fieldsType", "FieldsV1".into());
        put("subresource", self.identity.subresource.clone());
        out.insert("fieldsV1".into(), self.held.to_fields_v1());
        Value::Object(out)
    }
}

fn seconds_text(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Takes `metadata.managedFields` out of an object.
pub(super) fn remove_from(object: &mut Value) {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
}
