//! The client of the load: HTTP/1.1 on one TLS connection that is kept open, and nothing more.
//!
//! It is written by hand so that it costs as little as possible beside the servers, with which
//! it shares the cores. It understands what the two servers send: bodies with a length, and
//! bodies in chunks.

use std::{io::Read as _, net::SocketAddr, path::Path, sync::Arc, time::Duration};

use anyhow::{Context, Result, bail};
use kube::{
    Config,
    client::ConfigExt as _,
    config::{KubeConfigOptions, Kubeconfig},
};
use rustls::{ClientConfig, ClientConnection, pki_types::ServerName};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};
use tokio_rustls::{TlsConnector, client::TlsStream};

/// How much is read at once.
pub(super) const PIECE: usize = 64 << 10;
/// An event that takes longer does not come.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server and how to get in.
#[derive(Clone)]
pub(super) struct Door {
    address: SocketAddr,
    tls: TlsConnector,
    authorization: String,
}

impl Door {
    /// The server that a kubeconfig names.
    pub(super) async fn new(kubeconfig: &Path) -> Result<Door> {
        let kubeconfig = Kubeconfig::read_from(kubeconfig).context("cannot read a kubeconfig")?;
        let token = kubeconfig.auth_infos.iter().find_map(|named| {
            let user = serde_json::to_value(named.auth_info.as_ref()?).ok()?;
            user["token"].as_str().map(str::to_owned)
        });
        let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
            .await
            .context("cannot use a kubeconfig")?;
        let authority = config.cluster_url.authority();
        let address = authority.map(http::uri::Authority::as_str).unwrap_or("");
        let tls: ClientConfig = config
            .rustls_client_config()
            .context("cannot prepare TLS")?;
        Ok(Door {
            address: address.parse().context("the server has no address")?,
            tls: TlsConnector::from(Arc::new(tls)),
            authorization: match token {
                Some(token) => format!("Authorization: Bearer {token}\r\n"),
                None => String::new(),
            },
        })
    }

    /// A new connection.
    pub(super) async fn connect(&self) -> Result<Connection> {
        let tcp = TcpStream::connect(self.address)
            .await
            .context("cannot connect")?;
        tcp.set_nodelay(true).context("cannot set an option")?;
        let name = ServerName::IpAddress(self.address.ip().into());
        let stream = self.tls.connect(name, tcp).await.context("no handshake")?;
        Ok(Connection {
            stream,
            authorization: self.authorization.clone(),
            buffer: Vec::with_capacity(PIECE),
        })
    }
}

/// One connection, which takes one request after the other.
pub(super) struct Connection {
    stream: TlsStream<TcpStream>,
    authorization: String,
    /// What was read and not yet used.
    buffer: Vec<u8>,
}

/// The head of an answer.
struct Head {
    status: u16,
    /// Absent when the body comes in chunks.
    length: Option<usize>,
}

impl Connection {
    /// Sends a request and reads the whole answer, which must be a success.
    pub(super) async fn ask(&mut self, method: &str, path: &str, body: &[u8]) -> Result<Vec<u8>> {
        let mut kept = Vec::new();
        self.exchange(method, path, body, |piece| kept.extend_from_slice(piece))
            .await?;
        Ok(kept)
    }

    /// The same, but the answer is only counted.
    pub(super) async fn count(&mut self, method: &str, path: &str, body: &[u8]) -> Result<usize> {
        let mut size = 0;
        self.exchange(method, path, body, |piece| size += piece.len())
            .await?;
        Ok(size)
    }

    async fn exchange(
        &mut self,
        method: &str,
        path: &str,
        body: &[u8],
        mut take: impl FnMut(&[u8]),
    ) -> Result<()> {
        self.send(method, path, body).await?;
        let head = self.head().await?;
        let mut refusal = Vec::new();
        let mut take = |piece: &[u8]| match head.status {
            200..300 => take(piece),
            _ => refusal.extend_from_slice(piece),
        };
        match head.length {
            Some(length) => self.part(length, &mut take).await?,
            None => loop {
                let size = self.line().await?;
                let size = usize::from_str_radix(size.trim(), 16).context("a chunk of no size")?;
                self.part(size, &mut take).await?;
                self.line().await?;
                if size == 0 {
                    break;
                }
            },
        }
        if !(200..300).contains(&head.status) {
            let words = String::from_utf8_lossy(&refusal);
            bail!("{method} {path} was answered with {}: {words}", head.status);
        }
        Ok(())
    }

    /// Starts a watch and turns into its stream.
    pub(super) async fn watch(mut self, path: &str) -> Result<Events> {
        self.send("GET", path, &[]).await?;
        let head = self.head().await?;
        if head.status != 200 {
            bail!("the watch {path} was answered with {}", head.status);
        }
        let (tcp, tls) = self.stream.into_inner();
        let tcp = tcp.into_std().context("a connection cannot be blocking")?;
        tcp.set_nonblocking(false)
            .and_then(|()| tcp.set_read_timeout(Some(PATIENCE)))
            .context("a connection cannot be blocking")?;
        Ok(Events {
            tcp,
            tls,
            last: 0,
            sealed: Vec::with_capacity(PIECE / 8),
            size: 0,
        })
    }

    async fn send(&mut self, method: &str, path: &str, body: &[u8]) -> Result<()> {
        let kind = match method {
            "PATCH" => "application/merge-patch+json",
            _ => "application/json",
        };
        let mut request = format!(
            "{method} {path} HTTP/1.1\r\nHost: bench\r\nUser-Agent: bench\r\nAccept: application/json\r\n\
             {}Content-Type: {kind}\r\nContent-Length: {}\r\n\r\n",
            self.authorization,
            body.len()
        )
        .into_bytes();
        request.extend_from_slice(body);
        self.stream
            .write_all(&request)
            .await
            .context("cannot send")?;
        self.stream.flush().await.context("cannot send")
    }

    async fn head(&mut self) -> Result<Head> {
        let line = self.line().await?;
        let status = line.split(' ').nth(1).and_then(|code| code.parse().ok());
        let mut head = Head {
            status: status.with_context(|| format!("no answer: {line:?}"))?,
            length: None,
        };
        loop {
            let line = self.line().await?;
            let Some((name, value)) = line.trim_end().split_once(": ") else {
                return Ok(head);
            };
            if name.eq_ignore_ascii_case("content-length") {
                head.length = value.parse().ok();
            }
        }
    }

    /// The next line, with its end.
    async fn line(&mut self) -> Result<String> {
        loop {
            if let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.buffer.drain(..=end).collect();
                return String::from_utf8(line).context("a line that is no text");
            }
            self.more().await?;
        }
    }

    /// Passes the next bytes on.
    async fn part(&mut self, size: usize, take: &mut impl FnMut(&[u8])) -> Result<()> {
        let mut left = size;
        loop {
            let now = left.min(self.buffer.len());
            take(&self.buffer[..now]);
            self.buffer.drain(..now);
            left -= now;
            if left == 0 {
                return Ok(());
            }
            self.more().await?;
        }
    }

    async fn more(&mut self) -> Result<()> {
        self.buffer.reserve(PIECE);
        match self.stream.read_buf(&mut self.buffer).await {
            Ok(0) => bail!("the server closed the connection"),
            Ok(_) => Ok(()),
            Err(error) => Err(error).context("cannot receive"),
        }
    }
}

/// The events of a watch, of which only the number matters. They are waited for without a runtime:
/// a thread that takes one watch after the other needs one call of the system for each event.
///
/// An event has been delivered when its bytes are here. What they say is looked at later, when
/// nobody is measured: watchers live on other machines, and take no processor from a server.
pub(super) struct Events {
    tcp: std::net::TcpStream,
    tls: ClientConnection,
    /// The last byte that was seen.
    last: u8,
    /// What has come and was not looked at.
    sealed: Vec<u8>,
    /// How many bytes the last event took on the wire.
    size: usize,
}

/// Events of one kind differ in size by the digits of their numbers.
const DIGITS: usize = 16;

impl Events {
    /// How many bytes the last event took on the wire.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// Waits until the bytes of one event are here, as far as the size of the last one tells.
    pub(super) fn arrive(&mut self, buffer: &mut [u8]) -> Result<()> {
        while self.sealed.len() + DIGITS < self.size.max(DIGITS + 1) {
            let size = self.tcp.read(buffer).context("an event did not arrive")?;
            if size == 0 {
                bail!("the watch ended");
            }
            self.sealed.extend_from_slice(&buffer[..size]);
        }
        Ok(())
    }

    /// Looks at what has come, and waits for the rest of the event when something is missing;
    /// says whether it was all there.
    pub(super) fn finish(&mut self, buffer: &mut [u8]) -> Result<bool> {
        let mut taken = 0;
        let mut was_here = true;
        while !self.open(buffer, &mut taken)? {
            was_here = false;
            self.size = 0;
            self.arrive(buffer)?;
        }
        self.size = taken;
        Ok(was_here)
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
