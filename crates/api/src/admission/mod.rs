//! Rules that neither a schema nor CEL can say, because they need a parser.
//!
//! Pure functions: the operator serves them as a webhook, and the embedded server asks them in the
//! process. Whatever a schema or CEL can say stays there, so that a server enforces it alone.

mod cloud_config;
mod review;

use serde_json::Value;

pub use review::answer_admission;

/// Path at which the rules are served as a webhook.
pub const PATH: &str = "/validate";

/// When a server needs to ask at all, in CEL over `object`.
pub const MATCH_CONDITION: &str =
    "has(object.spec) && (has(object.spec.userData) || has(object.spec.cloudInit))";

/// One thing that is wrong with an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Path of the field.
    pub field: String,
    /// The value, or the part of it that matters.
    pub value: String,
    /// What is wrong, and what is allowed.
    pub message: String,
}

/// Everything that is wrong with an object; nothing of kinds that have no rules here.
pub fn faults(object: &Value) -> Vec<Fault> {
    let ours = object["apiVersion"]
        .as_str()
        .is_some_and(|version| version.starts_with("vitistack.io/"));
    match object["kind"].as_str() {
        Some("Machine") if ours => cloud_config::faults(&object["spec"]),
        _ => Vec::new(),
    }
}
