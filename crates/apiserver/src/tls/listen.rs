//! The listener: TLS with or without a client certificate, HTTP/1.1 and HTTP/2, limits, a clean end.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;

use super::pki::{Pki, PkiError};
use super::trust::Trust;
use crate::ApiServer;
use crate::core::Closing;

/// Connections that are open at once; more wait in the system's queue.
const CONNECTIONS: usize = 4096;
/// How long a client may take for its handshake or its headers.
const PATIENCE: Duration = Duration::from_secs(10);
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
    let graceful = GracefulShutdown::new();
    let closing = tokio::sync::watch::Sender::new(false);
    let slots = Arc::new(Semaphore::new(CONNECTIONS));
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
        let (watcher, closing) = (graceful.watcher(), Closing(closing.subscribe()));
        tokio::spawn(async move {
            let _slot = slot;
            if let Err(error) = connection(&server, &acceptor, stream, watcher, closing).await {
                tracing::debug!(error = error.as_ref(), "a connection ended early");
            }
        });
    }
    drop(listener);
    closing.send_replace(true);
    if tokio::time::timeout(FAREWELL, graceful.shutdown())
        .await
        .is_err()
    {
        tracing::warn!("some connections did not end in time and were cut");
    }
    Ok(())
}

/// What a new connection goes through.
#[derive(Clone)]
struct Acceptor {
    tls: TlsAcceptor,
    trust: Arc<Trust>,
}

type Failure = Box<dyn std::error::Error + Send + Sync>;

async fn connection(
    server: &ApiServer,
    acceptor: &Acceptor,
    stream: TcpStream,
    watcher: hyper_util::server::graceful::Watcher,
    closing: Closing,
) -> Result<(), Failure> {
    stream.set_nodelay(true)?;
    let stream = tokio::time::timeout(PATIENCE, acceptor.tls.accept(stream)).await??;
    let peer = acceptor.trust.peer(stream.get_ref().1.peer_certificates());
    let service = TowerToHyperService::new(server.service_for(peer, closing));
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(Duration::from_secs(30))
        .keep_alive_timeout(PATIENCE)
        .max_concurrent_streams(1000);
    let connection = builder
        .serve_connection_with_upgrades(TokioIo::new(stream), service)
        .into_owned();
    watcher.watch(connection).await
}
