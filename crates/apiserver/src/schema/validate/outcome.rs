//! What checking a node found, and how much of it was right.

use crate::schema::FieldError;

/// The faults of a node with the number of checks that passed; of several alternatives that
/// fail, the one with the most passed checks is the one whose faults are worth reporting.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) errors: Vec<FieldError>,
    pub(super) passed: u64,
}

impl Outcome {
    pub(super) fn is_valid(&self) -> bool {
        self.errors.is_empty()
    }

    pub(super) fn merge(&mut self, other: Outcome) {
        self.errors.extend(other.errors);
        self.passed += other.passed;
    }

    pub(super) fn count(&mut self) {
        self.passed += 1;
    }
}
