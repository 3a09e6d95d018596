//! `verify-crds`: the committed files are what the types say, and nothing in them is foreign to Kubernetes.

use std::fs;

use anyhow::{Context, Result, bail};
use machinist_api::crds::{crd_from_yaml, violations};

use crate::{generate, manifests, tree};

pub(crate) fn run() -> Result<()> {
    let crds = tree::folder("crds")?;
    let mut found = tree::differences(&crds, "yaml", &manifests::files()?)?;
    for (folder, ending, files) in generate::folders()? {
        found.extend(tree::differences(&tree::folder(folder)?, ending, &files)?);
    }
    for path in tree::with_ending(&crds, "yaml")? {
        let text =
            fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let crd = crd_from_yaml(&text).with_context(|| path.display().to_string())?;
        found.extend(violations(&crd));
    }
    if found.is_empty() {
        return Ok(());
    }
    bail!(
        "{}\nrun `make manifests generate` and commit what it writes",
        found.join("\n")
    );
}
