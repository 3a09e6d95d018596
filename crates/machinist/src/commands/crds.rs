//! `machinist crds`: every CustomResourceDefinition, ready for `kubectl apply -f -`.

use machinist_api::crds;

use crate::definitions;
use crate::failure::{self, Outcome};

/// Prints them as one stream of YAML documents.
pub(crate) fn run() -> Outcome {
    for object in definitions::objects()? {
        let yaml =
            crds::value_yaml(object).map_err(|e| failure::internal("could not print a CRD", e))?;
        print!("---\n{yaml}");
    }
    Ok(())
}
