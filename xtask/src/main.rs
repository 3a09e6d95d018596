//! The project's own chores, one file a command; `cargo xtask help` lists them.

mod bench;
mod conformance;
mod generate;
mod manifests;
mod sanitize_crds;
mod tree;
mod verify_crds;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

/// Chores of the project.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Write the CRDs into crds/
    Manifests,
    /// Write the JSON schemas for editors into schemas/ and the reference into docs/reference/
    Generate,
    /// Rewrite CRD files into what Kubernetes accepts; does nothing the second time
    SanitizeCrds {
        /// Files to rewrite; every file in crds/ when none is given
        files: Vec<PathBuf>,
    },
    /// Check that crds/, schemas/ and docs/reference/ are as the types say and that Kubernetes accepts them
    VerifyCrds,
    /// Measure start-up, load and memory beside kube-apiserver, and overhead beside plain QEMU
    Bench(bench::Flags),
    /// Run the Kubernetes end-to-end tests that need no node, and write docs/conformance.md
    Conformance,
    /// Write down when a process starts, then become the program that a script names
    #[command(hide = true)]
    ExecStamp(bench::stamp::Flags),
}

fn main() -> anyhow::Result<()> {
    match Arguments::parse().command {
        Command::Manifests => manifests::run(),
        Command::Generate => generate::run(),
        Command::SanitizeCrds { files } => sanitize_crds::run(files),
        Command::VerifyCrds => verify_crds::run(),
        Command::Bench(flags) => bench::run(&flags),
        Command::Conformance => conformance::run(),
        Command::ExecStamp(flags) => bench::stamp::exec(&flags),
    }
}
