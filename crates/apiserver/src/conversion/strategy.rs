//! How a definition wants its versions converted.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::meta;
use crate::registry::{Shapes, Spec};
use crate::webhook::Target;

/// Turns objects of a kind from one version into another, within the process.
pub trait Converter: Send + Sync {
    /// Makes of an object one of `api_version`; an error is a sentence.
    ///
    /// # Errors
    /// When the object cannot be expressed in that version.
    fn convert(&self, object: &mut Value, api_version: &str) -> Result<(), String>;
}

/// Converters by group and kind. One is used where the definition of its kind names a webhook
/// behind a service, so that the same definition works on other servers too.
pub type Converters = BTreeMap<(String, String), Arc<dyn Converter>>;

/// A webhook that converts.
#[derive(Debug)]
pub(crate) struct Webhook {
    pub(super) target: Result<Target, String>,
    /// The versions of ConversionReview that it reads, the best first.
    pub(super) review_versions: Vec<String>,
}

/// The ways from one version to another.
pub(crate) enum Strategy {
    /// Versions differ in their name alone.
    None,
    /// The program around the server converts.
    InProcess(Arc<dyn Converter>),
    /// A webhook converts.
    Webhook(Webhook),
}

impl fmt::Debug for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("None"),
            Self::InProcess(_) => f.write_str("InProcess"),
            Self::Webhook(webhook) => webhook.fmt(f),
        }
    }
}

/// What all versions of a definition share.
#[derive(Debug)]
pub(crate) struct Conversion {
    pub(crate) strategy: Strategy,
    /// Whether every stored object is of the storage version.
    pub(crate) uniform: bool,
    /// The shape of every version, by `apiVersion`, whether it is served or not.
    pub(crate) shapes: Shapes,
}

impl Default for Conversion {
    fn default() -> Self {
        Self {
            strategy: Strategy::None,
            uniform: true,
            shapes: Shapes::new(),
        }
    }
}

impl Conversion {
    /// What a stored definition says.
    pub(crate) fn read(
        spec: &Spec,
        status: &Value,
        shapes: Shapes,
        converters: &Converters,
    ) -> Self {
        let stored = meta::strings(status.get("storedVersions"));
        Self {
            strategy: Strategy::read(spec, converters),
            uniform: stored.len() <= 1,
            shapes,
        }
    }
}

impl Strategy {
    fn read(spec: &Spec, converters: &Converters) -> Self {
        let conversion = &spec.conversion;
        if conversion["strategy"] != "Webhook" {
            return Self::None;
        }
        let webhook = &conversion["webhook"];
        let name = (spec.group.clone(), spec.names.kind.clone());
        if let Some(converter) = converters.get(&name)
            && webhook["clientConfig"]["service"].is_object()
        {
            return Self::InProcess(converter.clone());
        }
        let versions = meta::strings(webhook.get("conversionReviewVersions"));
        Self::Webhook(Webhook {
            target: Target::parse(&webhook["clientConfig"]).map_err(|e| e.to_string()),
            review_versions: versions.into_iter().map(str::to_owned).collect(),
        })
    }
}

/// Gives an object the name of another version and nothing else.
pub(super) fn relabel(object: &mut Value, api_version: &str) {
    if object["apiVersion"] != api_version {
        meta::as_map(object).insert("apiVersion".into(), api_version.into());
    }
}
