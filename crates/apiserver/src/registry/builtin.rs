//! The built-in kinds, read from data in the form of a definition's spec.

use std::sync::Arc;

use serde_json::Value;

use super::definition::{DefinitionError, Spec};
use super::kind::Kind;
use crate::conversion::Conversion;

const DATA: &str = include_str!("builtin.json");
const REVIEWS: &str = include_str!("reviews.json");

/// Every built-in kind.
pub(super) fn kinds() -> Result<Vec<Arc<Kind>>, DefinitionError> {
    read(DATA)
}

/// The kinds of questions to the server, of which nothing is stored.
pub(super) fn reviews() -> Result<Vec<Arc<Kind>>, DefinitionError> {
    read(REVIEWS)
}

fn read(data: &str) -> Result<Vec<Arc<Kind>>, DefinitionError> {
    let specs: Vec<Value> = serde_json::from_str(data)?;
    let mut kinds = Vec::new();
    for spec in specs {
        kinds.extend(Spec::of_builtin(&spec)?.kinds(true, false, Conversion::default())?);
    }
    Ok(kinds.into_iter().map(Arc::new).collect())
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_data_is_sound() {
        let kinds = super::kinds().unwrap();
        let names: Vec<_> = kinds.iter().map(|k| k.qualified()).collect();
        for expected in [
            "namespaces",
            "secrets",
            "events",
            "events.events.k8s.io",
            "leases.coordination.k8s.io",
        ] {
            assert!(
                names.iter().any(|n| n == expected),
                "{expected} is missing from {names:?}"
            );
        }
    }
}
