//! The examples run: each is a program of its own, against a server in memory.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failed assumption in a test is a failed test"
)]

use std::path::PathBuf;
use std::process::Command;

/// Where cargo puts the examples that it builds for a run of the tests: beside the binaries.
fn example(name: &str) -> PathBuf {
    let binary = PathBuf::from(env!("CARGO_BIN_EXE_machinist"));
    binary.parent().unwrap().join("examples").join(name)
}

#[test]
fn every_example_runs() {
    for name in ["typed", "unstructured", "dynamic"] {
        let path = example(name);
        if !path.exists() {
            // `cargo test --test examples` alone does not build them.
            println!("skipped: {name} is not built; run `cargo build -p machinist --examples`");
            assert!(std::env::var("MACHINIST_REQUIRE_PEERS").is_err());
            continue;
        }
        let run = Command::new(path)
            .env_remove("KUBECONFIG")
            .output()
            .unwrap();
        assert!(run.status.success(), "{name}: {run:?}");
        assert!(!run.stdout.is_empty(), "{name} prints what it does");
    }
}
