//! What can be wrong with an apply, in the words that clients know.

use std::fmt;

use serde_json::Value;

use super::managed::ManagedFieldsError;
use super::validate::Misfit;

/// A field that the applier states with another value than the manager who owns it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The owner as clients show it: `"kubectl-edit" using example.io/v1`.
    pub manager: String,
    /// The field: `.spec.replicas`.
    pub path: String,
}

impl Conflict {
    /// The message of the `FieldManagerConflict` cause in a Status.
    pub fn cause_message(&self) -> String {
        format!("conflict with {}", self.manager)
    }
}

/// Why an object was not applied or its managers not recorded.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// Others own fields that the applier wants to change, and it did not force.
    #[error("{}", Message(.0))]
    Conflicts(Vec<Conflict>),
    /// An object does not fit its schema.
    #[error("{object} object does not fit its schema at {path:?}: {reason}")]
    Invalid {
        /// `applied`, `live` or `new`.
        object: &'static str,
        /// The field: `.spec.replicas`.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// What should be an object is something else.
    #[error("the {0} object is not a JSON object")]
    NotAnObject(&'static str),
    /// An apply carries managed fields, which only the server writes.
    #[error("metadata.managedFields must be nil")]
    ManagedFieldsInApplied,
    /// An apply is of another version or kind than the address says.
    #[error("invalid object type: {found}, expected {expected}")]
    WrongType {
        /// What the applied object says.
        found: String,
        /// What it should say.
        expected: String,
    },
    /// The kind has no such version.
    #[error("there is no version {0:?} of this kind")]
    NoVersion(String),
    /// An object is needed in another version, and what it is there is not known yet.
    #[error("the object is not known in version {api_version:?}")]
    Unconverted {
        /// The object.
        object: Box<Value>,
        /// The version.
        api_version: String,
    },
    /// An object cannot be expressed in the version at which someone wrote its fields.
    #[error("{0}")]
    Conversion(String),
    /// The managed fields of the stored object cannot be read.
    #[error("failed to decode managed fields")]
    ManagedFields(#[from] ManagedFieldsError),
    /// The time given for the operation is not RFC 3339.
    #[error("{now:?} is not a time")]
    Now {
        /// The text given.
        now: String,
        /// What the reader of times said.
        source: jiff::Error,
    },
}

impl ApplyError {
    pub(super) fn invalid(object: &'static str) -> impl FnOnce(Misfit) -> Self {
        move |Misfit { path, reason }| Self::Invalid {
            object,
            path,
            reason,
        }
    }
}

/// The text of all conflicts together, grouped by manager.
struct Message<'a>(&'a [Conflict]);

impl fmt::Display for Message<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [only] = self.0 {
            return write!(
                f,
                "Apply failed with 1 conflict: {}: {}",
                only.cause_message(),
                only.path
            );
        }
        write!(f, "Apply failed with {} conflicts: ", self.0.len())?;
        for (i, group) in self.0.chunk_by(|a, b| a.manager == b.manager).enumerate() {
            let Some(first) = group.first() else { continue };
            let separator = if i > 0 { "\n" } else { "" };
            write!(f, "{separator}conflicts with {}:", first.manager)?;
            for conflict in group {
                write!(f, "\n- {}", conflict.path)?;
            }
        }
        Ok(())
    }
}
