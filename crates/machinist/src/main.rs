//! The `machinist` binary: flags and wiring.
//!
//! Each verb is a file in `commands/`. Libraries below never touch the terminal or the
//! environment; everything that does lives here. Errors fold into a few kinds at this
//! edge, and the kind fixes the exit code.

mod backup_file;
mod cli;
mod columns;
mod commands;
mod connection;
mod control_plane;
mod data_dir;
mod definitions;
mod downloads;
mod drivers;
mod failure;
mod kinds;
mod logging;
mod manifests;
mod progress;
mod staged_restore;
mod telemetry;
mod webhook;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};

use cli::{Cli, Command};

/// The API server makes and drops many small values, often on different threads; the allocator of
/// the C library takes half of the processor's time for that.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    let cli = match parse() {
        Ok(cli) => cli,
        // Of `plan`, the usual code of wrong use means that something would change.
        Err(error) if error.use_stderr() && std::env::args().nth(1).as_deref() == Some("plan") => {
            let _ = error.print();
            return ExitCode::FAILURE;
        }
        Err(error) => error.exit(),
    };
    logging::init(&cli.logging, cli.command.default_log_level());
    // Both TLS users, the server and the Kubernetes client, take the process' provider.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => {
            return failure::report(&failure::internal("could not start the runtime", error));
        }
    };
    let outcome = runtime.block_on(run(cli.command));
    match outcome {
        Ok(code) => code,
        Err(error) => failure::report(&error),
    }
}

/// Reads the arguments. A plugin of kubectl speaks of itself as it is called.
fn parse() -> Result<Cli, clap::Error> {
    let mut command = Cli::command();
    if connection::called_as_plugin() {
        command = command.bin_name("kubectl machinist");
    }
    Cli::from_arg_matches(&command.try_get_matches()?)
}

async fn run(command: Command) -> failure::Outcome<ExitCode> {
    match command {
        Command::Up(flags) => commands::up::run(flags).await,
        Command::Down(flags) => commands::down::run(flags).await,
        Command::Demo(flags) => commands::demo::run(flags).await,
        Command::Backup(flags) => commands::backup::run(flags).await,
        Command::Restore(flags) => commands::restore::run(flags).await,
        Command::Console(flags) => commands::console::run(flags).await,
        Command::Plan(flags) => return commands::plan::run(flags).await,
        Command::Why(flags) => return commands::why::run(flags).await,
        Command::Get(flags) => commands::get::run(flags).await,
        Command::Describe(flags) => commands::describe::run(flags).await,
        Command::Bundle(flags) => commands::bundle::run(flags).await,
        Command::Operator(flags) => commands::operator::run(flags).await,
        Command::Crds(flags) => commands::crds::run(flags),
        Command::Completion(flags) => commands::completion::run(&flags),
        Command::Version => commands::version::run(),
    }?;
    Ok(ExitCode::SUCCESS)
}
