//! Embeds the committed CustomResourceDefinitions as JSON: a start then neither derives schemas
//! nor reads YAML. The embedded server converts by itself, so every version is served. A test of the
//! crate `api` holds the committed files against the types, and a
//! test of this crate what is embedded here. And it tells the linker how to keep a release small.

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

use serde_json::Value;

fn main() -> Result<(), Box<dyn Error>> {
    make_it_small()?;
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

/// Has the linker keep one of functions that are the same, since generic code makes many of them, and note in
/// few bytes which addresses are to be moved at a start, since all of that is read then and stays in memory.
/// Where the compiler brings its own linker it is known to be able to.
fn make_it_small() -> Result<(), Box<dyn Error>> {
    let target = env::var("TARGET")?;
    if env::var("PROFILE")? != "release" || target != "x86_64-unknown-linux-gnu" {
        return Ok(());
    }
    println!("cargo::rustc-link-arg-bins=-Wl,--icf=all");
    if env::var("HOST")? == target && has_packed_relocations() {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
    Ok(())
}

/// Whether the C library of this host can start such a program, which it can from 2.36 on.
fn has_packed_relocations() -> bool {
    let asked = Command::new("getconf").arg("GNU_LIBC_VERSION").output();
    let answer = asked.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let version = answer.ok().and_then(|text| {
        let (major, minor) = text.trim().strip_prefix("glibc ")?.split_once('.')?;
        Some((major.parse::<u32>().ok()?, minor.parse::<u32>().ok()?))
    });
    version.is_some_and(|version| version >= (2, 36))
}
