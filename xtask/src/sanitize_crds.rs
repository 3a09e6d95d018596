//! `sanitize-crds`: rewrites CRD files, whoever generated them, into what Kubernetes accepts.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use machinist_api::crds::{crd_from_yaml, crd_yaml, sanitize};

use crate::tree;

pub(crate) fn run(files: Vec<PathBuf>) -> Result<()> {
    let files = if files.is_empty() {
        tree::with_ending(&tree::folder("crds")?, "yaml")?
    } else {
        files
    };
    for path in files {
        let text =
            fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let given = crd_from_yaml(&text).with_context(|| path.display().to_string())?;
        let mut sanitized = given.clone();
        sanitize(&mut sanitized);
        // A file that needs no change keeps its comments and its order.
        if sanitized != given {
            fs::write(&path, crd_yaml(&sanitized)?)
                .with_context(|| format!("cannot write {}", path.display()))?;
            println!("{}", path.display());
        }
    }
    Ok(())
}
