//! The events of a watch as they come over the wire, whatever its protocol.

use std::{
    io::Read as _,
    time::{Duration, SystemTime},
};

use anyhow::{Context, Result, bail};
use rustls::ClientConnection;
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

use super::{arrival, wire::PIECE};

/// An event that takes longer does not come.
const PATIENCE: Duration = Duration::from_secs(60);

/// The events of a watch, of which only the number and the time of arrival matter. They are read
/// without a runtime, when nobody is measured: watchers live on other machines, and take no
/// processor from a server.
pub(super) struct Events {
    tcp: std::net::TcpStream,
    tls: ClientConnection,
    /// When the kernel had the last bytes that were read.
    arrived: SystemTime,
    /// The last byte that was seen.
    last: u8,
    /// What has come and was not looked at.
    sealed: Vec<u8>,
    /// How many bytes the last event took on the wire.
    size: usize,
}

impl Events {
    /// What comes on a connection on which nothing but a watch is open.
    pub(super) fn on(stream: TlsStream<TcpStream>) -> Result<Events> {
        let (tcp, tls) = stream.into_inner();
        let tcp = tcp.into_std().context("a connection cannot be blocking")?;
        tcp.set_nonblocking(false)
            .and_then(|()| tcp.set_read_timeout(Some(PATIENCE)))
            .context("a connection cannot be blocking")?;
        arrival::note(&tcp).context("the kernel notes no arrivals")?;
        Ok(Events {
            tcp,
            tls,
            arrived: SystemTime::UNIX_EPOCH,
            last: 0,
            sealed: Vec::with_capacity(PIECE / 8),
            size: 0,
        })
    }

    /// How many bytes the last event took on the wire.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// Reads up to the end of one event, waiting for what has not come yet; says when it was here
    /// as a whole.
    pub(super) fn event(&mut self, buffer: &mut [u8]) -> Result<SystemTime> {
        let mut taken = 0;
        loop {
            let (size, arrived) =
                arrival::receive(&self.tcp, buffer).context("an event did not arrive")?;
            if size == 0 {
                bail!("the watch ended");
            }
            self.arrived = arrived;
            self.sealed.extend_from_slice(&buffer[..size]);
            if self.open(buffer, &mut taken)? {
                self.size = taken;
                return Ok(self.arrived);
            }
        }
    }

    /// Takes the seal off what has come; says whether an event ended.
    fn open(&mut self, buffer: &mut [u8], taken: &mut usize) -> Result<bool> {
        let sealed = std::mem::take(&mut self.sealed);
        let mut ended = false;
        let mut left = sealed.as_slice();
        while !left.is_empty() {
            *taken += self.tls.read_tls(&mut left).context("no TLS")?;
            let state = self.tls.process_new_packets().context("no TLS")?;
            let mut size = state.plaintext_bytes_to_read();
            while size > 0 {
                let now = self.tls.reader().read(buffer).context("no TLS")?;
                ended |= self.seen(&buffer[..now]);
                size -= now;
            }
        }
        Ok(ended)
    }

    /// An event is a line of JSON, which ends in a brace; no other line does.
    fn seen(&mut self, bytes: &[u8]) -> bool {
        let mut ended = false;
        for byte in bytes {
            ended |= self.last == b'}' && *byte == b'\n';
            self.last = *byte;
        }
        ended
    }
}
