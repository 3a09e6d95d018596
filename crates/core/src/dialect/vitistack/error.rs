//! Why a declaration cannot be carried out as it stands.

use thiserror::Error;

/// A field that has no meaning here, and what would have one.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error("{field}: {value}: {allowed}")]
pub struct LowerError {
    /// The path of the field, as the user wrote it.
    pub field: String,
    /// What it holds; `"not set"` when it is missing.
    pub value: String,
    /// What is allowed, or the way out.
    pub allowed: String,
}

impl LowerError {
    pub(super) fn new(
        field: impl Into<String>,
        value: impl std::fmt::Debug,
        allowed: impl Into<String>,
    ) -> LowerError {
        LowerError {
            field: field.into(),
            value: format!("{value:?}"),
            allowed: allowed.into(),
        }
    }

    pub(super) fn missing(field: impl Into<String>, allowed: impl Into<String>) -> LowerError {
        LowerError {
            field: field.into(),
            value: "not set".into(),
            allowed: allowed.into(),
        }
    }
}
