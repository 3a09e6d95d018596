//! The `machinist` binary: flags and wiring.
//!
//! Each verb is a file in `commands/`. Libraries below never touch the terminal or the
//! environment; everything that does lives here. Errors fold into a few kinds at this
//! edge, and the kind fixes the exit code.

mod backup_file;
mod cli;
mod commands;
mod control_plane;
mod data_dir;
mod definitions;
mod downloads;
mod drivers;
mod failure;
mod logging;
mod manifests;
mod progress;
mod staged_restore;
mod webhook;

use std::process::ExitCode;

use clap::Parser;

use cli::{Cli, Command};

/// The API server makes and drops many small values, often on different threads; the allocator of
/// the C library takes half of the processor's time for that.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    let cli = Cli::parse();
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
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failure::report(&error),
    }
}

async fn run(command: Command) -> failure::Outcome {
    match command {
        Command::Up(flags) => commands::up::run(flags).await,
        Command::Down(flags) => commands::down::run(flags).await,
        Command::Demo(flags) => commands::demo::run(flags).await,
        Command::Backup(flags) => commands::backup::run(flags).await,
        Command::Restore(flags) => commands::restore::run(flags).await,
        Command::Console(flags) => commands::console::run(flags).await,
        Command::Operator(flags) => commands::operator::run(flags).await,
        Command::Crds(flags) => commands::crds::run(flags),
        Command::Version => commands::version::run(),
    }
}
