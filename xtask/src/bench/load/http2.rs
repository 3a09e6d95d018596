//! Watches over HTTP/2, as Go's clients have them.
//!
//! The library opens the watch and is then left where it is: what comes after that is read when
//! nobody is measured, as over HTTP/1.1.

use std::{
    io,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context as Waiting, Poll},
};

use anyhow::{Context, Result, bail};
use http::{Request, StatusCode, header};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};
use tokio_rustls::client::TlsStream;

use super::events::Events;

/// So much may come without a word from the client, which does not read while it is measured.
const WINDOW: u32 = 1 << 30;

/// Starts a watch on a new connection.
pub(super) async fn watch(
    stream: TlsStream<TcpStream>,
    path: &str,
    token: Option<&str>,
) -> Result<Events> {
    let lent = Lent(Arc::new(Mutex::new(stream)));
    let kept = lent.0.clone();
    let (mut requests, connection) = h2::client::Builder::new()
        .initial_window_size(WINDOW)
        .initial_connection_window_size(WINDOW)
        .handshake::<_, &[u8]>(lent)
        .await
        .context("no HTTP/2")?;
    let mut request = Request::get(format!("https://bench{path}"))
        .header(header::USER_AGENT, "bench")
        .header(header::ACCEPT, "application/json");
    if let Some(token) = token {
        request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
    }
    let request = request.body(()).context("no request")?;
    let (answer, body) = requests.send_request(request, true).context("cannot ask")?;
    let status = tokio::select! {
        answer = answer => answer.context("no answer")?.status(),
        end = connection => bail!("the connection ended: {end:?}"),
    };
    drop((requests, body));
    if status != StatusCode::OK {
        bail!("the watch {path} was answered with {status}");
    }
    let stream = Arc::into_inner(kept).context("the connection is still in use")?;
    Events::on(stream.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// A connection that is taken back later.
struct Lent(Arc<Mutex<TlsStream<TcpStream>>>);

impl Lent {
    fn lock(&self) -> MutexGuard<'_, TlsStream<TcpStream>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AsyncRead for Lent {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Waiting<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.lock()).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Lent {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Waiting<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.lock()).poll_write(cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Waiting<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.lock()).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Waiting<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.lock()).poll_shutdown(cx)
    }
}
