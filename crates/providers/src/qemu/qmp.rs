//! A small client of QMP, QEMU's control protocol: one JSON object a line.
//!
//! Connections are short-lived, because QEMU talks to one client of a socket at a time;
//! events have a socket of their own, so that listening to them keeps nobody waiting.

use std::{io, path::Path, time::Duration};

use serde::Deserialize;
use serde_json::{Value, json};
use thiserror::Error;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    net::{
        UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
    time::timeout,
};

use super::socket;

/// The socket for commands.
pub(super) const COMMANDS: &str = "qmp.sock";
/// The socket for events.
pub(super) const EVENTS: &str = "events.sock";
/// QEMU's main loop may be held up by a busy host for a while, but not for longer.
pub(super) const LIMIT: Duration = Duration::from_secs(20);

/// Why QEMU could not be asked.
#[derive(Debug, Error)]
pub(super) enum QmpError {
    /// There is no connection.
    #[error("the QMP connection failed")]
    Io(#[from] io::Error),
    /// It hung up.
    #[error("QEMU closed the QMP connection")]
    Closed,
    /// It sent something else than QMP.
    #[error("QEMU sent something that is not QMP")]
    Form(#[from] serde_json::Error),
    /// It refused the command.
    #[error("QEMU refused {command}: {reason}")]
    Refused { command: String, reason: String },
    /// It did not answer.
    #[error("QEMU did not answer on QMP within {} s", LIMIT.as_secs())]
    Silent,
}

#[derive(Deserialize)]
struct Message {
    id: Option<u64>,
    event: Option<String>,
    #[serde(rename = "return")]
    value: Option<Value>,
    error: Option<Refusal>,
}

#[derive(Deserialize)]
struct Refusal {
    desc: String,
}

/// One connection, past its handshake.
pub(super) struct Qmp {
    lines: Lines<BufReader<OwnedReadHalf>>,
    writer: OwnedWriteHalf,
    last_id: u64,
}

impl Qmp {
    /// Connects to one of the machine's sockets.
    pub(super) async fn connect(dir: &Path, name: &str) -> Result<Qmp, QmpError> {
        let connected = async {
            let stream = socket::connect(dir, name, LIMIT).await?;
            Qmp::handshake(stream).await
        };
        timeout(LIMIT, connected).await.unwrap_or(Err(QmpError::Silent))
    }

    /// The same for events: QEMU greets only when the client before has left, however long that takes.
    pub(super) async fn listen(dir: &Path) -> Result<Qmp, QmpError> {
        let stream = socket::connect(dir, EVENTS, LIMIT).await?;
        Qmp::handshake(stream).await
    }

    async fn handshake(stream: UnixStream) -> Result<Qmp, QmpError> {
        let (reader, writer) = stream.into_split();
        let mut qmp = Qmp {
            lines: BufReader::new(reader).lines(),
            writer,
            last_id: 0,
        };
        // The greeting says which version it is; nothing here depends on that.
        qmp.lines.next_line().await?.ok_or(QmpError::Closed)?;
        qmp.exchange("qmp_capabilities", json!({})).await?;
        Ok(qmp)
    }

    /// Carries out one command.
    pub(super) async fn execute(&mut self, command: &str, arguments: Value) -> Result<Value, QmpError> {
        timeout(LIMIT, self.exchange(command, arguments))
            .await
            .unwrap_or(Err(QmpError::Silent))
    }

    async fn exchange(&mut self, command: &str, arguments: Value) -> Result<Value, QmpError> {
        self.last_id += 1;
        let request = json!({"execute": command, "arguments": arguments, "id": self.last_id});
        self.writer.write_all(format!("{request}\n").as_bytes()).await?;
        loop {
            let message = self.message().await?;
            if message.id != Some(self.last_id) {
                continue;
            }
            return match message.error {
                Some(refusal) => Err(QmpError::Refused {
                    command: command.to_owned(),
                    reason: refusal.desc,
                }),
                None => Ok(message.value.unwrap_or(Value::Null)),
            };
        }
    }

    /// The name of the next event.
    pub(super) async fn event(&mut self) -> Result<String, QmpError> {
        loop {
            if let Some(event) = self.message().await?.event {
                return Ok(event);
            }
        }
    }

    async fn message(&mut self) -> Result<Message, QmpError> {
        let line = self.lines.next_line().await?.ok_or(QmpError::Closed)?;
        Ok(serde_json::from_str(&line)?)
    }
}
