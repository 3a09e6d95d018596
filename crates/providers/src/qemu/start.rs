//! Starting a machine's QEMU: it lives and answers when this returns, or it is gone.

use std::{collections::BTreeSet, fs, io, path::Path, sync::Arc, time::Duration};

use jiff::Timestamp;
use machinist_core::provider::{ProviderError, ProviderResult};
use tokio::{
    process::Child,
    time::{Instant, sleep},
};

use super::{
    agent, command,
    error::{full, io_fault},
    host::Host,
    network, process,
    qmp::{self, Qmp},
    record::Record,
};

/// A loaded host may take long to load QEMU and its libraries.
const LIMIT: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(5);
/// Somebody may take the chosen port between our look and QEMU's.
const ATTEMPTS: u32 = 4;

impl Host {
    /// Starts the machine; does nothing when it lives. The machine's lock must be held.
    pub(super) async fn start(self: &Arc<Host>, record: &mut Record) -> ProviderResult<()> {
        let dir = self.layout.dir(&record.machine);
        let fault = |what, source| io_fault(what, &dir, source);
        if self.lives(record)? {
            return Ok(());
        }
        let qemu = self.binary()?;
        let accelerator = self.chooser.choose(&qemu).await.accelerator;
        let interfaces = network::interfaces(record, self.config.network)?;
        let mut attempt = 1;
        loop {
            let claim = process::claim(&dir).await;
            let Some(claim) = claim.map_err(|source| fault("claim", source))? else {
                return Ok(());
            };
            let (others, _) = self.others(&record.machine)?;
            let taken: BTreeSet<u16> = others.iter().filter_map(|other| other.ssh_port).collect();
            record.ssh_port = Some(network::free_port(record.ssh_port, &taken)?);
            record.started = Some(Timestamp::now().to_string());
            record.accelerator = Some(accelerator);
            self.save(record)?;
            clear(&dir).map_err(|source| fault("clear", source))?;
            let arguments = command::arguments(record, &interfaces, accelerator);
            let child = process::spawn(&dir, &qemu, &arguments, claim)
                .map_err(|source| fault("start QEMU in", source))?;
            match await_answer(&dir, child).await {
                Ok(()) => break,
                Err(end) if end.words.contains("host forwarding") && attempt < ATTEMPTS => {
                    record.ssh_port = None;
                    attempt += 1;
                }
                Err(end) => return Err(end.into_provider(&dir, record)),
            }
        }
        tracing::info!(machine = record.machine, name = record.name, "QEMU started");
        self.follow(record);
        Ok(())
    }
}

/// Removes what an earlier process left, so that nothing old is taken for new.
fn clear(dir: &Path) -> io::Result<()> {
    for name in [qmp::COMMANDS, qmp::EVENTS, agent::SOCKET, process::PID_FILE, command::SERIAL_LOG] {
        match fs::remove_file(dir.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// How a QEMU ended that should have lived.
struct End {
    how: String,
    words: String,
}

impl End {
    fn into_provider(self, dir: &Path, record: &Record) -> ProviderError {
        let End { how, words } = self;
        if words.contains("Cannot allocate memory") {
            return ProviderError::NoCapacity {
                reason: format!("this host has not the memory for {}: {words}", record.name),
            };
        }
        if words.contains("No space left on device") {
            return full(dir, "start QEMU in");
        }
        ProviderError::transport(format!("QEMU of machine {} {how}: {words}", record.name), words)
    }
}

/// Waits until QEMU answers on QMP; it is reaped in the background from then on.
async fn await_answer(dir: &Path, mut child: Child) -> Result<(), End> {
    let end = |how: String| End {
        how,
        words: process::last_words(dir),
    };
    let deadline = Instant::now() + LIMIT;
    loop {
        match child.try_wait() {
            Ok(None) => {}
            Ok(Some(status)) => return Err(end(format!("ended at once with {status}"))),
            Err(error) => return Err(end(format!("cannot be waited for ({error})"))),
        }
        if Qmp::connect(dir, qmp::COMMANDS).await.is_ok() {
            break;
        }
        if Instant::now() >= deadline {
            let _ = child.kill().await;
            return Err(end(format!("did not answer within {} s", LIMIT.as_secs())));
        }
        sleep(PAUSE).await;
    }
    tokio::spawn(async move {
        // A child that nobody waits for would stay in the process table.
        let _ = child.wait().await;
    });
    Ok(())
}
