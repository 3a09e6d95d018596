//! What apply asks about the versions of a kind: their fields, and an object in another of them.

use serde_json::Value;

use super::error::ApplyError;
use crate::schema::Schema;

/// The versions of a kind.
pub trait Versions {
    /// What objects look like in a version; `None` when the kind has no such version.
    fn schema(&self, api_version: &str) -> Option<&Schema>;

    /// An object of one version in another one.
    ///
    /// # Errors
    /// When the object cannot be expressed there, or is not known there yet:
    /// [`ApplyError::Unconverted`] asks the caller to find out and to try again.
    fn convert(&self, object: &Value, api_version: &str) -> Result<Value, ApplyError>;
}

/// A schema by itself stands for versions that differ in their name alone.
impl Versions for Schema {
    fn schema(&self, _: &str) -> Option<&Schema> {
        Some(self)
    }

    fn convert(&self, object: &Value, api_version: &str) -> Result<Value, ApplyError> {
        let mut object = object.clone();
        if let Some(fields) = object.as_object_mut() {
            fields.insert("apiVersion".into(), api_version.into());
        }
        Ok(object)
    }
}

/// The version that an object says it is of.
pub(super) fn version_of(object: &Value) -> &str {
    let version = object.get("apiVersion");
    version.and_then(Value::as_str).unwrap_or_default()
}
