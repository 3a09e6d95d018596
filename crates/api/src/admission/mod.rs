//! Rules and defaults that neither a schema nor CEL can say.
//!
//! Pure functions: the operator serves them as webhooks, and the embedded server asks them in the
//! process. Whatever a schema or CEL can say stays there, so that a server enforces it alone.

mod complete;
mod review;
mod rules;

use std::fmt;

use serde_json::Value;

pub use complete::{COMPLETE_PATH, COMPLETED, complete};
pub use review::{answer_admission, answer_annotation, answer_completion};
pub use rules::{JUDGED, declared_without_effect, faults, warnings, without_effect};

/// Path at which the rules are served as a webhook.
pub const PATH: &str = "/validate";

/// When a server needs to ask about a Machine of `vitistack.io` at all, in CEL over `object`.
pub const MATCH_CONDITION: &str =
    "has(object.spec) && (has(object.spec.userData) || has(object.spec.cloudInit))";

/// One thing that is wrong with an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// Path of the field.
    pub field: String,
    /// The value, or the part of it that matters; null when it is missing.
    pub value: Value,
    /// What is wrong, and what is allowed.
    pub message: String,
}

impl Fault {
    fn new(field: impl Into<String>, value: impl Into<Value>, message: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            value: value.into(),
            message: message.into(),
        }
    }

    /// The fault in the words of a server, without its field.
    fn said(&self) -> String {
        let Self { value, message, .. } = self;
        match value {
            Value::Null => format!("Required value: {message}"),
            Value::String(value) => format!("Invalid value: {value:?}: {message}"),
            value => format!("Invalid value: {value}: {message}"),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.said())
    }
}
