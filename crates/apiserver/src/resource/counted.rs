//! The steps of `admit` that cost, counted: objects of custom kinds alone, since those of built-in
//! kinds have small schemas.

use std::time::Instant;

use serde_json::Value;

use super::{Part, WriteOptions, admit, shape};
use crate::core::Core;
use crate::registry::Kind;
use crate::status::ApiError;

impl Core {
    /// Gives an object that is about to be stored the shape of its kind; gives the warnings.
    pub(super) fn shape(
        &self,
        kind: &Kind,
        object: &mut Value,
        options: &WriteOptions,
    ) -> Result<Vec<String>, ApiError> {
        let began = Instant::now();
        let warnings = shape::shape(kind, object, options);
        if !kind.builtin {
            self.metrics.shaped(began.elapsed());
        }
        warnings
    }

    /// Judges an object that is about to be stored.
    pub(super) fn judge(
        &self,
        kind: &Kind,
        object: &Value,
        live: Option<&Value>,
        part: Part,
    ) -> Result<(), ApiError> {
        let began = Instant::now();
        let verdict = admit::validate(self, kind, object, live, part);
        if !kind.builtin {
            self.metrics.validated(began.elapsed());
        }
        verdict
    }
}
