//! A TLS connection on which events may be sent past the HTTP machinery; when that is, `watch` says.

use std::io::{self, IoSlice, Write as _};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::server::TlsStream;

use super::socket::Socket;
use crate::watch::{Channel, Lane};

/// A TLS connection that speaks HTTP/1.1, shared by its task and those who tell its watch.
pub(crate) type TlsLane = Lane<Tls>;

/// A TLS connection.
pub(crate) struct Tls {
    stream: TlsStream<Socket>,
    /// Whether everything that the HTTP machinery was given has left it.
    settled: bool,
}

impl TlsLane {
    /// A connection after its handshake.
    pub(super) fn over(stream: TlsStream<Socket>) -> Self {
        Lane::new(Tls {
            stream,
            settled: false,
        })
    }

    /// Says that the HTTP machinery may hold something that it was given. The connection is free again when
    /// that was flushed.
    pub(crate) fn unsettle(&self) {
        self.lock().channel.settled = false;
    }
}

impl Channel for Tls {
    fn is_free(&self) -> bool {
        self.settled && !self.stream.get_ref().1.wants_write()
    }

    fn send(&mut self, chunk: &[u8]) -> bool {
        let (socket, session) = self.stream.get_mut();
        let sealed = session.writer().write(chunk);
        if !sealed.is_ok_and(|size| size == chunk.len()) {
            // A session that had nothing to send takes a chunk of this size. Were it not so: nothing of
            // it can be taken back, and half of one must not be followed by another.
            let _ = rustix::net::shutdown(&socket.0, rustix::net::Shutdown::Both);
            self.settled = false;
            return false;
        }
        while session.wants_write() {
            let sent = session.write_tls(&mut AtOnce(socket));
            if !sent.is_ok_and(|size| size > 0) {
                self.settled = false;
                return false;
            }
        }
        true
    }
}

/// Writes what a socket takes without waiting.
struct AtOnce<'a>(&'a Socket);

impl io::Write for AtOnce<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.0.try_write(bytes)
    }

    fn write_vectored(&mut self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        match pieces {
            [only] => self.0.0.try_write(only),
            several => self.0.0.try_write_vectored(several),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The connection as the HTTP machinery has it.
pub(super) struct OnLane(pub(super) Arc<TlsLane>);

impl AsyncRead for OnLane {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0.lock().channel.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for OnLane {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0.lock().channel.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0.lock().channel.stream).poll_write_vectored(cx, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.lock().channel.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Tls { stream, settled } = &mut self.0.lock().channel;
        let flushed = Pin::new(stream).poll_flush(cx);
        if matches!(flushed, Poll::Ready(Ok(()))) {
            *settled = true;
        }
        flushed
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0.lock().channel.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests;
