//! The audit log: who did what, when, and how it ended, as events of `audit.k8s.io/v1`, one JSON
//! object a line.
//!
//! A [`Record`] accompanies a request and writes an event at each stage that the policy wants. It
//! also writes when the request is dropped or panics. What is allowed is decided elsewhere.

mod event;
mod policy;
mod sink;

#[cfg(test)]
mod tests;

use std::io;

pub(crate) use event::{Arrival, Finishing, Record};
pub use policy::PolicyError;
pub(crate) use policy::{Level, Policy};
pub use sink::LogFile;
use sink::Sink;

use crate::auth::Attributes;

/// What is written down, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditOptions {
    /// The file.
    pub log: LogFile,
    /// A policy of `audit.k8s.io/v1` as YAML; without one, changes are written down without their
    /// content.
    pub policy: Option<String>,
}

/// Why there is no audit log.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// The policy is none.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The file cannot be written.
    #[error("the audit log {path} cannot be written")]
    File {
        /// The file.
        path: String,
        /// What the system said.
        source: io::Error,
    },
}

/// The audit log of one server.
#[derive(Debug)]
pub(crate) struct Auditor {
    policy: Policy,
    sink: Sink,
}

impl Auditor {
    /// Reads the policy and opens the file.
    pub(crate) fn new(options: AuditOptions) -> Result<Self, AuditError> {
        let policy = match &options.policy {
            Some(text) => Policy::parse(text)?,
            None => Policy::standard(),
        };
        let path = options.log.path.display().to_string();
        let sink = Sink::open(options.log).map_err(|source| AuditError::File { path, source })?;
        Ok(Self { policy, sink })
    }

    /// What is written of a request, if anything.
    pub(crate) fn extent(&self, request: &Attributes<'_>) -> Option<policy::Extent> {
        Some(self.policy.extent(request)).filter(|extent| extent.level > Level::None)
    }
}
