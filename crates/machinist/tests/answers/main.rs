//! The verbs that answer: they ask a control plane that runs, and change nothing.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failed assumption in a test is a failed test"
)]

mod bundle;
mod elsewhere;
mod plan;
mod plugin;
mod read;
#[path = "../support/mod.rs"]
mod support;
mod why;

use std::process::Command;

use support::{Finished, Sandbox, manifests, process, scene::Scene};

/// A control plane with the simulated provider `local` and these documents besides.
fn scene(sandbox: &Sandbox, documents: &[String]) -> Scene {
    let provider = manifests::provider("sim");
    let all: Vec<&str> = std::iter::once(&provider)
        .chain(documents)
        .map(String::as_str)
        .collect();
    Scene::open(sandbox, None, &all.join("---\n"))
}

/// A verb of `machinist` that asks the control plane of the sandbox.
fn command(sandbox: &Sandbox, words: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_machinist"));
    command.args(words.split_whitespace());
    command
        .env("HOME", sandbox.path(""))
        .env_remove("KUBECONFIG");
    command.env("MACHINIST_DATA_DIR", sandbox.data());
    command.env_remove("MACHINIST_LOG");
    command
}

/// Asks it.
#[track_caller]
fn ask(sandbox: &Sandbox, words: &str) -> Finished {
    process::run(&mut command(sandbox, words))
}

/// Asks it for something that it must answer well.
#[track_caller]
fn told(sandbox: &Sandbox, words: &str) -> String {
    let finished = ask(sandbox, words);
    assert_eq!(finished.code(), Some(0), "machinist {words}: {finished:#?}");
    finished.stdout
}
