//! `machinist completion`: what a shell needs to complete verbs and flags.

use clap::CommandFactory;

use crate::{
    cli::{self, Cli},
    failure::Outcome,
};

/// Prints the script of a shell.
pub(crate) fn run(flags: &cli::Completion) -> Outcome {
    let mut command = Cli::command();
    let name = command.get_name().to_owned();
    clap_complete::generate(flags.shell, &mut command, name, &mut std::io::stdout());
    Ok(())
}
