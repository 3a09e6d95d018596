//! The client of the load: HTTP/1.1 on one TLS connection that is kept open, and nothing more.
//!
//! It is written by hand so that it costs as little as possible beside the servers, with which
//! it shares the cores. It understands what the two servers send: bodies with a length, and
//! bodies in chunks.

use std::{net::SocketAddr, path::Path, sync::Arc};

use anyhow::{Context, Result, bail};
use kube::{
    Config,
    client::ConfigExt as _,
    config::{KubeConfigOptions, Kubeconfig},
};
use rustls::{ClientConfig, pki_types::ServerName};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};
use tokio_rustls::{TlsConnector, client::TlsStream};

use super::{events::Events, http2};

/// How much is read at once.
pub(super) const PIECE: usize = 64 << 10;

/// A server and how to get in.
#[derive(Clone)]
pub(super) struct Door {
    address: SocketAddr,
    tls: TlsConnector,
    /// The same for connections that speak HTTP/2.
    tls_http2: TlsConnector,
    token: Option<String>,
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
        let mut tls_http2 = tls.clone();
        tls_http2.alpn_protocols = vec![b"h2".to_vec()];
        Ok(Door {
            address: address.parse().context("the server has no address")?,
            tls: TlsConnector::from(Arc::new(tls)),
            tls_http2: TlsConnector::from(Arc::new(tls_http2)),
            token,
        })
    }

    /// A new connection.
    pub(super) async fn connect(&self) -> Result<Connection> {
        let token = self.token.as_ref();
        Ok(Connection {
            stream: self.secured(&self.tls).await?,
            authorization: token.map_or_else(String::new, |token| {
                format!("Authorization: Bearer {token}\r\n")
            }),
            buffer: Vec::with_capacity(PIECE),
        })
    }

    /// Starts a watch over HTTP/2, on a connection of its own.
    pub(super) async fn watch_over_http2(&self, path: &str) -> Result<Events> {
        let stream = self.secured(&self.tls_http2).await?;
        http2::watch(stream, path, self.token.as_deref()).await
    }

    async fn secured(&self, tls: &TlsConnector) -> Result<TlsStream<TcpStream>> {
        let tcp = TcpStream::connect(self.address)
            .await
            .context("cannot connect")?;
        tcp.set_nodelay(true).context("cannot set an option")?;
        let name = ServerName::IpAddress(self.address.ip().into());
        tls.connect(name, tcp).await.context("no handshake")
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
        Events::on(self.stream)
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
