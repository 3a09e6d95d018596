//! The built-in kinds, read from data in the form of a definition's spec.

use std::sync::Arc;

use serde_json::Value;

use super::definition::{DefinitionError, Spec};
use super::kind::Kind;
use super::shape::Shape;
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
        let read = Spec::of_builtin(&spec)?;
        let shapes = read.shapes(|at| {
            let schema = spec["versions"][at].pointer("/schema/openAPIV3Schema");
            Shape::of_builtin(schema)
        });
        kinds.extend(read.kinds(true, false, &shapes, Conversion::default())?);
    }
    Ok(kinds.into_iter().map(Arc::new).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::schema::Schema;

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
        for kind in kinds.iter().chain(&super::reviews().unwrap()) {
            let empty = kind.schema() == &Schema::default();
            let faults = kind.validator().validate(&json!("not an object"), None);
            let faults: Vec<_> = faults.iter().map(ToString::to_string).collect();
            // A schema that cannot be used says so of whatever it is shown.
            assert!(
                empty || faults.iter().all(|f| f.contains("must be of type object")),
                "{} {faults:?}",
                kind.qualified()
            );
        }
    }
}
