//! The house is in order: documents name what exists, and crates depend as ARCHITECTURE.md draws.
#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a failed assumption is a failed test"
)]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

/// Where a seam is due; what is longer needs a reason here.
const LONGEST_FILE: usize = 400;

fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().expect("xtask is in the root").to_owned()
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Files that git tracks or would track.
fn files(pattern: &str) -> Vec<String> {
    let listing = Command::new("git")
        .args([
            "ls-files",
            "--cached",
            "--others",
            "--exclude-standard",
            pattern,
        ])
        .current_dir(root())
        .output()
        .expect("git runs");
    let listing = String::from_utf8(listing.stdout).expect("names are UTF-8");
    let there = |name: &&str| root().join(name).is_file();
    listing.lines().filter(there).map(str::to_owned).collect()
}

/// Words in backticks and targets of links that look like paths of the tree.
fn named_paths(text: &str) -> BTreeSet<String> {
    let in_backticks = text.split('`').skip(1).step_by(2);
    let in_links = text
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next());
    let tops: BTreeSet<String> = fs::read_dir(root())
        .expect("the root can be read")
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    in_backticks
        .chain(in_links)
        .filter(|word| !word.contains(char::is_whitespace) && !word.contains(['<', '*', '{', ':']))
        .map(|word| {
            word.split('#')
                .next()
                .unwrap_or_default()
                .trim_end_matches('/')
        })
        .filter(|word| word.split('/').next().is_some_and(|top| tops.contains(top)))
        .map(str::to_owned)
        .collect()
}

#[test]
fn documents_name_what_exists() {
    for document in ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md"] {
        let paths = named_paths(&read(document));
        assert!(
            !paths.is_empty(),
            "{document} names no path: the test looks wrongly"
        );
        for path in paths {
            assert!(
                root().join(&path).exists(),
                "{document} names {path}, which does not exist"
            );
        }
    }
}

#[test]
fn every_crate_and_folder_is_on_the_map() {
    let map = read("ARCHITECTURE.md");
    let hidden = |name: &str| name.starts_with('.') || name == "target";
    for entry in fs::read_dir(root())
        .expect("the root can be read")
        .flatten()
    {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() && !hidden(&name) {
            assert!(
                map.contains(&format!("`{name}")),
                "ARCHITECTURE.md does not mention {name}/"
            );
        }
    }
    for entry in fs::read_dir(root().join("crates"))
        .expect("crates")
        .flatten()
    {
        let name = format!("`crates/{}`", entry.file_name().to_string_lossy());
        assert!(
            map.contains(&name),
            "ARCHITECTURE.md does not mention {name}"
        );
    }
}

#[test]
fn crates_depend_only_as_drawn() {
    let allowed: BTreeMap<&str, Vec<&str>> = BTreeMap::from([
        ("machinist-api", vec![]),
        ("machinist-core", vec!["machinist-api"]),
        (
            "machinist-providers",
            vec!["machinist-core", "machinist-api"],
        ),
        ("machinist-engine", vec!["machinist-core", "machinist-api"]),
        ("machinist-store", vec![]),
        (
            "machinist-apiserver",
            vec!["machinist-store", "machinist-api"],
        ),
        (
            "machinist",
            vec![
                "machinist-api",
                "machinist-apiserver",
                "machinist-core",
                "machinist-engine",
                "machinist-providers",
                "machinist-store",
            ],
        ),
        ("xtask", vec!["machinist-api", "machinist-core"]),
    ]);
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let output = Command::new(cargo)
        .args([
            "metadata",
            "--no-deps",
            "--offline",
            "--format-version",
            "1",
        ])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("metadata is JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    let mut seen = 0;
    for package in packages {
        let name = package["name"].as_str().expect("a name");
        let edges = allowed
            .get(name)
            .unwrap_or_else(|| panic!("{name} is not on the map"));
        for dependency in package["dependencies"].as_array().expect("dependencies") {
            let to = dependency["name"].as_str().expect("a name");
            // What only tests need is no part of the product.
            let counts = allowed.contains_key(to) && dependency["kind"].as_str() != Some("dev");
            assert!(
                !counts || edges.contains(&to),
                "{name} must not depend on {to}"
            );
            seen += usize::from(counts);
        }
    }
    assert_eq!(packages.len(), allowed.len());
    assert!(
        seen > 8,
        "only {seen} edges were seen: the test looks wrongly"
    );
}

#[test]
fn the_brain_has_no_clock_and_no_client() {
    let manifest = read("crates/core/Cargo.toml");
    let dependencies = manifest.split("[dev-dependencies]").next().expect("a part");
    for absent in ["tokio", "kube", "reqwest", "hyper"] {
        let named = dependencies.lines().any(|line| line.starts_with(absent));
        assert!(!named, "crates/core must not depend on {absent}");
    }
    for file in files("crates/core/src/*.rs") {
        assert!(
            !read(&file).contains("Timestamp::now"),
            "{file} reads the clock"
        );
    }
}

#[test]
fn every_module_says_what_it_is_for_and_stays_readable() {
    let all = files("*.rs");
    assert!(
        all.len() > 50,
        "only {} files were seen: the test looks wrongly",
        all.len()
    );
    for file in all {
        let text = read(&file);
        let first = text.lines().next().unwrap_or_default();
        assert!(
            first.starts_with("//!"),
            "{file} does not say what it is for"
        );
        let lines = text.lines().count();
        assert!(
            lines <= LONGEST_FILE,
            "{file} has {lines} lines: look for a seam"
        );
    }
}

#[test]
fn the_makefile_has_the_documented_doors() {
    let makefile = read("Makefile");
    for target in [
        "run",
        "demo",
        "test",
        "check",
        "bench",
        "lint",
        "fmt",
        "manifests",
        "generate",
        "sanitize-crds",
        "verify-crds",
        "install-crds",
        "image",
        "clean",
        "help",
    ] {
        let there = makefile
            .lines()
            .any(|line| line.starts_with(&format!("{target}:")));
        assert!(there, "make {target} does not exist");
    }
}
