//! What webhooks say beside their verdict: warnings for the client, annotations for the audit; and
//! what they are told beside the review: the trace that the request is part of.

use std::sync::{Arc, Mutex, PoisonError};

use http::HeaderMap;

/// The notes of one request; clones write into the same place, so that they survive a refusal.
#[derive(Debug, Clone, Default)]
pub(crate) struct Notes {
    inner: Arc<Mutex<Inner>>,
    /// The request's `traceparent`, as it came.
    traceparent: Option<Arc<str>>,
}

#[derive(Debug, Default)]
struct Inner {
    warnings: Vec<String>,
    annotations: Vec<(String, String)>,
}

impl Notes {
    /// Those of a request with these headers.
    pub(crate) fn of(headers: &HeaderMap) -> Notes {
        let traceparent = headers.get("traceparent");
        let traceparent = traceparent.and_then(|value| value.to_str().ok());
        Notes {
            inner: Arc::default(),
            traceparent: traceparent.map(Into::into),
        }
    }

    /// The request's `traceparent`, as it came.
    pub(crate) fn traceparent(&self) -> Option<&str> {
        self.traceparent.as_deref()
    }

    /// Adds a warning for the client, once.
    pub(crate) fn warn(&self, warning: &str) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if !inner.warnings.iter().any(|w| w == warning) {
            inner.warnings.push(warning.to_owned());
        }
    }

    /// Adds an annotation for the audit log; the first value of a key stays.
    pub(crate) fn annotate(&self, key: String, value: String) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if !inner.annotations.iter().any(|(k, _)| *k == key) {
            inner.annotations.push((key, value));
        }
    }

    /// The warnings so far.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.warnings.clone()
    }

    /// The annotations so far, in the order in which they came.
    pub(crate) fn annotations(&self) -> Vec<(String, String)> {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.annotations.clone()
    }
}
