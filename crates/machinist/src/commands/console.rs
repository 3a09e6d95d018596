//! `machinist console`: the serial console of a machine on this host.

use std::{
    io::IsTerminal,
    path::{Path, PathBuf},
};

use kube::Api;
use machinist_api::vitistack::Machine;
use rustix::termios::{self, OptionalActions, Termios};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::UnixStream,
};

use super::down::connect;
use crate::{
    cli,
    data_dir::DataDir,
    failure::{self, Outcome},
};

/// Ctrl-], as telnet and virsh have it.
const ESCAPE: u8 = 0x1d;

/// Runs it: prints what was printed, then passes on what is typed.
pub(crate) async fn run(flags: cli::Console) -> Outcome {
    let dir = DataDir::resolve(&flags.data)?;
    if dir.holder().is_none() {
        return Err(failure::configuration_plain(format!(
            "no control plane runs on {}",
            dir.root().display()
        ))
        .hint("Start it with `machinist up`."));
    }
    let machines: Api<Machine> = Api::namespaced(connect(&dir).await?, &flags.namespace);
    let machine = machines
        .get_opt(&flags.name)
        .await
        .map_err(|e| failure::refused("could not read the machine", e))?
        .ok_or_else(|| {
            failure::user_plain(format!(
                "there is no machine {:?} in namespace {:?}",
                flags.name, flags.namespace
            ))
        })?;
    let log = console_log(&machine)?;
    let printed = std::fs::read(&log)
        .map_err(|e| failure::configuration(format!("could not read {}", log.display()), e))?;
    write_out(&printed).await?;
    if flags.dump {
        return Ok(());
    }
    attach(&log).await
}

/// Where the guest's output is kept.
pub(crate) fn console_log(machine: &Machine) -> Outcome<PathBuf> {
    let status = machine.status.as_ref();
    let log = status.and_then(|status| status.provider_status.get("consoleLog")?.as_str());
    log.map(PathBuf::from).ok_or_else(|| {
        failure::refused_plain("the machine has no serial console on this host")
            .hint("It is not running yet, or its provider has no console.")
    })
}

async fn attach(log: &Path) -> Outcome {
    let socket = log.with_file_name("serial.sock");
    let stream = UnixStream::connect(&socket)
        .await
        .map_err(|e| failure::configuration(format!("could not open {}", socket.display()), e))?;
    eprintln!("[attached; Ctrl-] ends]\r");
    let _raw = RawTerminal::enter();
    let (mut from_guest, mut to_guest) = stream.into_split();
    let receive = async {
        let mut buffer = [0; 4096];
        loop {
            match from_guest.read(&mut buffer).await {
                Ok(0) | Err(_) => return Ok(()),
                Ok(length) => write_out(&buffer[..length]).await?,
            }
        }
    };
    let send = async {
        let mut buffer = [0; 256];
        let mut stdin = tokio::io::stdin();
        loop {
            match stdin.read(&mut buffer).await {
                Ok(0) | Err(_) => return std::future::pending().await,
                Ok(length) if buffer[..length].contains(&ESCAPE) => return Ok(()),
                Ok(length) => {
                    if to_guest.write_all(&buffer[..length]).await.is_err() {
                        return Ok(());
                    }
                }
            }
        }
    };
    let outcome: Outcome = tokio::select! {
        outcome = receive => outcome,
        outcome = send => outcome,
        _ = tokio::signal::ctrl_c() => Ok(()),
    };
    eprintln!("\r\n[detached]\r");
    // A read of the terminal that is still under way would keep the runtime from ending.
    match outcome {
        Ok(()) => {
            drop(_raw);
            std::process::exit(0)
        }
        Err(failure) => Err(failure),
    }
}

async fn write_out(bytes: &[u8]) -> Outcome {
    let mut out = tokio::io::stdout();
    let written = async {
        out.write_all(bytes).await?;
        out.flush().await
    };
    written
        .await
        .map_err(|e| failure::configuration("could not write to standard output", e))
}

/// Keys reach the guest one by one, Ctrl-C included; undone on drop.
struct RawTerminal(Option<Termios>);

impl RawTerminal {
    fn enter() -> RawTerminal {
        let stdin = std::io::stdin();
        if !stdin.is_terminal() {
            return RawTerminal(None);
        }
        let Ok(before) = termios::tcgetattr(&stdin) else {
            return RawTerminal(None);
        };
        let mut raw = before.clone();
        raw.make_raw();
        match termios::tcsetattr(&stdin, OptionalActions::Now, &raw) {
            Ok(()) => RawTerminal(Some(before)),
            Err(_) => RawTerminal(None),
        }
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            let _ = termios::tcsetattr(std::io::stdin(), OptionalActions::Now, before);
        }
    }
}
