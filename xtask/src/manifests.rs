//! `manifests`: writes every CRD into `crds/`.

use anyhow::Result;
use machinist_api::crds::{crd_file_name, crd_yaml, crds};

use crate::tree::{self, Files};

pub(crate) fn run() -> Result<()> {
    tree::replace(&tree::folder("crds")?, "yaml", &files()?)
}

/// The CRDs as files.
pub(crate) fn files() -> Result<Files> {
    crds()
        .iter()
        .map(|crd| Ok((crd_file_name(crd), crd_yaml(crd)?)))
        .collect()
}
