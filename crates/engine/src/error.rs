//! Why the engine, or one pass of it, failed.

use thiserror::Error;

use crate::packed::PackError;

/// What the engine cannot go on from.
#[derive(Debug, Error)]
pub enum EngineError {
    /// The namespace that identifies the cluster could not be read.
    #[error("could not read namespace \"kube-system\", whose UID identifies the cluster")]
    ClusterIdentity(#[source] kube::Error),
    /// The namespace that identifies the cluster has no UID.
    #[error("namespace \"kube-system\" has no UID")]
    ClusterUid,
}

/// Why one pass over one object failed; it is tried again.
#[derive(Debug, Error)]
pub(crate) enum PassError {
    /// The API server could not be reached or refused.
    #[error("{what}")]
    Api {
        /// What was attempted.
        what: &'static str,
        /// The cause.
        #[source]
        source: Box<kube::Error>,
    },
    /// The object lacks something that every stored object has.
    #[error("object has no {0}")]
    Incomplete(&'static str),
    /// The object cannot be read from the view.
    #[error(transparent)]
    Packed(#[from] PackError),
}

impl PassError {
    pub(crate) fn api(what: &'static str) -> impl FnOnce(kube::Error) -> PassError {
        move |source| PassError::Api {
            what,
            source: Box::new(source),
        }
    }
}

/// An error and its sources in one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.ends_with(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text
}
