//! Label and field selectors: which objects a list, a watch or a collection delete is about.
//! Parsing and matching only; which fields a kind offers is in its descriptor.

mod field;
mod glance;
mod label;

pub(crate) use field::FieldSelector;
pub(crate) use label::LabelSelector;

use machinist_store::Entry;
use serde_json::Value;

use crate::registry::Kind;
use crate::status::ApiError;

/// A label and a field selector together.
#[derive(Debug, Clone, Default)]
pub(crate) struct Selector {
    labels: LabelSelector,
    fields: FieldSelector,
}

impl Selector {
    /// Reads both query parameters; the error is what a client is told.
    pub(crate) fn parse(kind: &Kind, labels: &str, fields: &str) -> Result<Self, ApiError> {
        let labels = LabelSelector::parse(labels).map_err(ApiError::bad_request)?;
        let fields = FieldSelector::parse(fields).map_err(ApiError::bad_request)?;
        fields.check(kind)?;
        Ok(Self { labels, fields })
    }

    /// Selects the one object of this name.
    pub(crate) fn by_name(name: &str) -> Self {
        Self {
            labels: LabelSelector::default(),
            fields: FieldSelector::by_name(name),
        }
    }

    /// Whether everything is selected, so that objects need not be looked at.
    pub(crate) fn is_everything(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }

    /// Whether the object is selected.
    pub(crate) fn matches(&self, object: &Value) -> bool {
        self.labels.matches(object.pointer("/metadata/labels")) && self.fields.matches(object)
    }

    /// Whether the object in an entry is selected, of which no more is read than that takes.
    pub(crate) fn selects(&self, entry: &Entry) -> bool {
        let labels = (!self.labels.is_empty()).then_some("metadata.labels");
        let paths: Vec<&str> = self.fields.paths().chain(labels).collect();
        match glance::glance(&entry.value, &paths) {
            Ok(seen) => self.matches(&seen),
            Err(error) => {
                tracing::error!(%error, key = %entry.key, "a stored object is not JSON");
                self.matches(&Value::Null)
            }
        }
    }

    /// The name that the selection is limited to, if it is.
    pub(crate) fn only_name(&self) -> Option<&str> {
        self.fields.equal_to("metadata.name")
    }
}
