//! The versions of a kind as server-side apply asks about them.
//!
//! Apply is pure and does not wait. What the process can convert is converted at once; what a
//! webhook has to convert is asked for between two attempts, until nothing is left to ask.

use std::sync::Arc;

use serde_json::Value;

use crate::apply::{ApplyError, Versions};
use crate::conversion;
use crate::core::Core;
use crate::registry::Kind;
use crate::schema::Schema;
use crate::status::ApiError;

/// The versions of a kind, with what webhooks answered so far.
struct Known<'a> {
    kind: &'a Kind,
    api_version: String,
    /// The other kinds that are kept at the same place: versions of a built-in kind.
    siblings: Vec<Arc<Kind>>,
    answers: Vec<Answer>,
}

struct Answer {
    object: Value,
    api_version: String,
    converted: Value,
}

impl Known<'_> {
    fn sibling(&self, api_version: &str) -> Option<&Kind> {
        let mut siblings = self.siblings.iter();
        let found = siblings.find(|kind| kind.api_version() == api_version);
        found.map(AsRef::as_ref)
    }
}

impl Versions for Known<'_> {
    fn schema(&self, api_version: &str) -> Option<&Schema> {
        if api_version == self.api_version {
            return Some(self.kind.schema());
        }
        if let Some(shape) = self.kind.conversion.shapes.get(api_version) {
            return Some(shape.schema());
        }
        self.sibling(api_version).map(Kind::schema)
    }

    fn convert(&self, object: &Value, api_version: &str) -> Result<Value, ApplyError> {
        if let Some(to) = self.sibling(api_version) {
            let from = object["apiVersion"].as_str().unwrap_or_default();
            let from = self.sibling(from).unwrap_or(self.kind);
            return Ok(conversion::between_siblings(from, to, object));
        }
        if let Some(converted) = conversion::at_once(self.kind, object, api_version) {
            return converted.map_err(|error| ApplyError::Conversion(error.message));
        }
        let mut answers = self.answers.iter();
        let found = answers.find(|a| a.api_version == api_version && a.object == *object);
        let unconverted = || ApplyError::Unconverted {
            object: Box::new(object.clone()),
            api_version: api_version.to_owned(),
        };
        found
            .map(|answer| answer.converted.clone())
            .ok_or_else(unconverted)
    }
}

impl Core {
    /// Gives `attempt` the versions of a kind, as often as it takes until it asks for no object
    /// that only a webhook can tell.
    pub(super) async fn with_versions<T>(
        &self,
        kind: &Kind,
        attempt: impl Fn(&dyn Versions) -> Result<T, ApplyError>,
    ) -> Result<Result<T, ApplyError>, ApiError> {
        let mut known = Known {
            kind,
            api_version: kind.api_version(),
            siblings: self.siblings(kind),
            answers: Vec::new(),
        };
        loop {
            match attempt(&known) {
                Err(ApplyError::Unconverted {
                    object,
                    api_version,
                }) => {
                    let asked = vec![(*object).clone()];
                    let converted = self.convert_to(kind, &api_version, asked).await?.pop();
                    known.answers.push(Answer {
                        object: *object,
                        api_version,
                        converted: converted.unwrap_or_default(),
                    });
                }
                result => return Ok(result),
            }
        }
    }

    fn siblings(&self, kind: &Kind) -> Vec<Arc<Kind>> {
        if !kind.builtin {
            return Vec::new();
        }
        let snapshot = self.registry.snapshot();
        let all = snapshot.kinds().iter();
        all.filter(|other| other.prefix == kind.prefix)
            .cloned()
            .collect()
    }
}
