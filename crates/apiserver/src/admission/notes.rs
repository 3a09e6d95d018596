//! What webhooks say beside their verdict: warnings for the client, annotations for the audit.

use std::sync::{Arc, Mutex, PoisonError};

/// The notes of one request; clones write into the same place, so that they survive a refusal.
#[derive(Debug, Clone, Default)]
pub(crate) struct Notes(Arc<Mutex<Inner>>);

#[derive(Debug, Default)]
struct Inner {
    warnings: Vec<String>,
    annotations: Vec<(String, String)>,
}

impl Notes {
    /// Adds a warning for the client, once.
    pub(crate) fn warn(&self, warning: &str) {
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !inner.warnings.iter().any(|w| w == warning) {
            inner.warnings.push(warning.to_owned());
        }
    }

    /// Adds an annotation for the audit log; the first value of a key stays.
    pub(crate) fn annotate(&self, key: String, value: String) {
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !inner.annotations.iter().any(|(k, _)| *k == key) {
            inner.annotations.push((key, value));
        }
    }

    /// The warnings so far.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        inner.warnings.clone()
    }

    /// The annotations so far, in the order in which they came.
    pub(crate) fn annotations(&self) -> Vec<(String, String)> {
        let inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        inner.annotations.clone()
    }
}
