//! `machinist crds`: every CustomResourceDefinition, ready for `kubectl apply -f -`.

use machinist_api::crds;

use crate::{
    cli, definitions,
    failure::{self, Outcome},
};

/// Prints them as one stream of YAML documents.
pub(crate) fn run(flags: cli::Definitions) -> Outcome {
    for crd in definitions::shipped(flags.into())? {
        let yaml =
            crds::crd_yaml(&crd).map_err(|e| failure::internal("could not print a CRD", e))?;
        print!("---\n{yaml}");
    }
    Ok(())
}
