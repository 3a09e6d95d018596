//! Embeds the committed CustomResourceDefinitions as JSON: a start then neither derives schemas
//! nor reads YAML. The embedded server converts by itself, so every version is served. A test of the
//! crate `api` holds the committed files against the types, and a
//! test of this crate what is embedded here.

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use serde_json::Value;

fn main() -> Result<(), Box<dyn Error>> {
    fold_identical_functions();
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../../crds");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(&folder)? {
        files.push(entry?.path());
    }
    files.retain(|file| file.extension().is_some_and(|e| e == "yaml"));
    files.sort();
    let mut list = String::from("&[\n");
    for file in files {
        println!("cargo::rerun-if-changed={}", file.display());
        let mut object: Value = serde_saphyr::from_str(&fs::read_to_string(&file)?)?;
        let spec = object.get_mut("spec").and_then(Value::as_object_mut);
        let versions = spec.and_then(|spec| spec.remove("versions"));
        let mut versions = versions.ok_or_else(|| format!("{} has no versions", file.display()))?;
        for version in versions.as_array_mut().into_iter().flatten() {
            version["served"] = true.into();
        }
        let (object, versions) = (object.to_string(), versions.to_string());
        writeln!(list, "    Embedded::new({object:?}, {versions:?}),")?;
    }
    list.push_str("]\n");
    let out = Path::new(&env::var("OUT_DIR")?).join("definitions.rs");
    fs::write(out, list)?;
    Ok(())
}

/// Has the linker keep one of functions that are the same: generic code makes many of them. Where the
/// compiler brings its own linker it is known to be able to.
fn fold_identical_functions() {
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    if is("PROFILE", "release") && is("TARGET", "x86_64-unknown-linux-gnu") {
        println!("cargo::rustc-link-arg-bins=-Wl,--icf=all");
    }
}
