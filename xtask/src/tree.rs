//! Where the project's generated files are, and how they are read and written.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// A folder below the root of the project.
pub(crate) fn folder(name: &str) -> Result<PathBuf> {
    let xtask = std::env::var_os("CARGO_MANIFEST_DIR")
        .context("CARGO_MANIFEST_DIR is not set; run this as `cargo xtask`")?;
    let root = PathBuf::from(xtask);
    let root = root.parent().context("xtask has no parent folder")?;
    Ok(root.join(name))
}

/// Generated files: their names and what they should hold.
pub(crate) type Files = Vec<(String, String)>;

/// Writes the files, and removes others with the same ending, which no kind stands behind any more.
pub(crate) fn replace(folder: &Path, ending: &str, files: &Files) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    for stale in with_ending(folder, ending)? {
        if !files.iter().any(|(name, _)| stale.ends_with(name)) {
            fs::remove_file(&stale)
                .with_context(|| format!("cannot remove {}", stale.display()))?;
        }
    }
    for (name, text) in files {
        let path = folder.join(name);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        println!("{}", path.display());
    }
    Ok(())
}

/// What differs between the files and what they should hold, each as one sentence.
pub(crate) fn differences(folder: &Path, ending: &str, files: &Files) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for (name, text) in files {
        let path = folder.join(name);
        match fs::read_to_string(&path) {
            Ok(present) if present == *text => {}
            Ok(_) => found.push(format!("{} is out of date", path.display())),
            Err(error) => found.push(format!("cannot read {}: {error}", path.display())),
        }
    }
    for path in with_ending(folder, ending)? {
        if !files.iter().any(|(name, _)| path.ends_with(name)) {
            found.push(format!("{} stands for no kind", path.display()));
        }
    }
    Ok(found)
}

/// The files of a folder whose names have this ending, in the order of their names.
pub(crate) fn with_ending(folder: &Path, ending: &str) -> Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => {
            return Err(error).with_context(|| format!("cannot list {}", folder.display()));
        }
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry
            .with_context(|| format!("cannot list {}", folder.display()))?
            .path();
        if path
            .extension()
            .is_some_and(|extension| extension == ending)
        {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}
