//! `generate`: writes the JSON schemas for editors into `schemas/`, and the reference into
//! `docs/reference/`: one page for each version of each kind.

use std::fs;

use anyhow::{Context, Result};
use machinist_api::crds::{crds, editor_schema};
use machinist_api::reference;

use crate::tree::{self, Files};

/// A folder of generated files: its place, their ending, and what they should hold.
pub(crate) type Folder = (&'static str, &'static str, Files);

pub(crate) fn run() -> Result<()> {
    for (folder, ending, files) in folders()? {
        tree::replace(&tree::folder(folder)?, ending, &files)?;
    }
    Ok(())
}

/// Everything that is generated beside the CRDs.
pub(crate) fn folders() -> Result<[Folder; 2]> {
    Ok([
        ("schemas", "json", schemas()?),
        ("docs/reference", "md", pages()?),
    ])
}

fn schemas() -> Result<Files> {
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

fn pages() -> Result<Files> {
    // The documented manifests are the examples: the tests hold them against both servers.
    let manifests = tree::with_ending(&tree::folder("crates/api/tests/manifests")?, "yaml")?;
    let examples: Vec<reference::Example> = manifests
        .into_iter()
        .map(|path| {
            let text = fs::read_to_string(&path)
                .with_context(|| format!("cannot read {}", path.display()))?;
            Ok((path.display().to_string(), text))
        })
        .collect::<Result<_>>()?;
    Ok(reference::pages(&crds(), &examples))
}
