//! The listener: TLS with or without a client certificate, a number of connections, and a clean
//! end. What happens on a connection is left to `connection`.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio_rustls::TlsAcceptor;

use super::connection::{self, Failure};
use super::pki::{Pki, PkiError};
use super::socket::Socket;
use super::trust::Trust;
use crate::ApiServer;
use crate::auth::authenticate::Peer;
use crate::core::Closing;

/// How long open requests may take when the server stops.
const FAREWELL: Duration = Duration::from_secs(5);

/// Why an address cannot be listened on.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// Something else listens there.
    #[error("{address} is in use by another process")]
    InUse {
        /// The address.
        address: String,
        /// What the system said.
        source: io::Error,
    },
    /// The address is not ours, not allowed, or not an address.
    #[error("{address} is not an address of this host that may be listened on")]
    Refused {
        /// The address.
        address: String,
        /// What the system said.
        source: io::Error,
    },
}

/// Why the server stopped serving.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// There are no certificates to serve with.
    #[error("cannot prepare TLS")]
    Pki(#[from] PkiError),
    /// The listener has no address.
    #[error("the listener has no address")]
    Address(#[source] io::Error),
}

/// Opens a listener on `ADDRESS:PORT`.
///
/// # Errors
/// When the address is in use or cannot be used; the message names it.
pub async fn bind(address: &str) -> Result<TcpListener, BindError> {
    TcpListener::bind(address).await.map_err(|source| {
        let address = address.to_owned();
        match source.kind() {
            io::ErrorKind::AddrInUse => BindError::InUse { address, source },
            _ => BindError::Refused { address, source },
        }
    })
}

/// Serves until `shutdown` resolves, then lets open requests finish.
pub(crate) async fn serve(
    server: &ApiServer,
    listener: TcpListener,
    pki: &Pki,
    shutdown: impl Future<Output = ()>,
) -> Result<(), ServeError> {
    let address = listener.local_addr().map_err(ServeError::Address)?;
    let trust = pki.trust()?;
    let acceptor = Acceptor {
        tls: TlsAcceptor::from(pki.server_config(address, &trust)?),
        trust: Arc::new(trust),
    };
    let closing = Doorkeeper {
        server: server.clone(),
        closing: watch::Sender::new(false),
    };
    let most = server.limits().connections;
    let slots = Arc::new(Semaphore::new(most));
    let mut shutdown = std::pin::pin!(shutdown);
    loop {
        let accepted = async {
            // The semaphore is never closed, so there is always a slot in the end.
            let slot = slots.clone().acquire_owned().await.ok();
            listener.accept().await.map(|(stream, _)| (stream, slot))
        };
        let (stream, slot) = tokio::select! {
            () = &mut shutdown => break,
            accepted = accepted => match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    // Out of file descriptors, most likely: it passes when connections end.
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            },
        };
        let (server, acceptor) = (server.clone(), acceptor.clone());
        let closing = Closing(closing.closing.subscribe());
        tokio::spawn(async move {
            let _slot = slot;
            if let Err(error) = accept(&server, &acceptor, stream, closing).await {
                tracing::debug!(error = error.as_ref(), "a connection ended early");
            }
        });
    }
    drop(listener);
    drop(closing);
    let all = slots.acquire_many(u32::try_from(most).unwrap_or(u32::MAX));
    if tokio::time::timeout(FAREWELL, all).await.is_err() {
        tracing::warn!("some connections did not end in time and were cut");
    }
    Ok(())
}

/// Tells connections and watches that the listener is gone, however it went.
struct Doorkeeper {
    server: ApiServer,
    closing: watch::Sender<bool>,
}

impl Drop for Doorkeeper {
    fn drop(&mut self) {
        self.closing.send_replace(true);
        self.server.core().registry.nudge();
    }
}

/// What a new connection goes through.
#[derive(Clone)]
struct Acceptor {
    tls: TlsAcceptor,
    trust: Arc<Trust>,
}

/// The handshake, and then the connection.
async fn accept(
    server: &ApiServer,
    acceptor: &Acceptor,
    stream: TcpStream,
    closing: Closing,
) -> Result<(), Failure> {
    let limits = server.limits();
    stream.set_nodelay(true)?;
    let address = stream.peer_addr().ok().map(|address| address.ip());
    let handshake = acceptor.tls.accept(Socket(stream));
    let stream = tokio::time::timeout(limits.handshake_time, handshake).await??;
    let (_, session) = stream.get_ref();
    let peer = Peer {
        address,
        ..acceptor.trust.peer(session.peer_certificates())
    };
    let service = server.service_for(peer, closing.clone());
    connection::serve(stream, service, limits, closing).await
}
