//! `generate`: writes the JSON schema of every kind into `schemas/`, for editors.

use anyhow::Result;
use machinist_api::crds::{crds, editor_schema};

use crate::tree::{self, Files};

pub(crate) fn run() -> Result<()> {
    tree::replace(&tree::folder("schemas")?, "json", &files()?)
}

/// The schemas as files.
pub(crate) fn files() -> Result<Files> {
    let mut files = Files::new();
    for crd in crds() {
        for (name, schema) in editor_schema(&crd)? {
            files.push((
                name,
                format!("{}\n", serde_json::to_string_pretty(&schema)?),
            ));
        }
    }
    Ok(files)
}
