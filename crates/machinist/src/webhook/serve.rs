//! The webhooks on a socket: TLS with a certificate of our own authority, which renews itself.

use std::{io, net::SocketAddr, time::Duration};

use axum::{
    Router,
    body::Bytes,
    extract::DefaultBodyLimit,
    http::{HeaderMap, StatusCode, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
    routing::post,
};
use machinist_api::{admission, names::CONVERSION_PATH};
use machinist_apiserver::Pki;
use serde_json::Value;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::mpsc,
    task::JoinHandle,
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};

use machinist_engine::{quota::Gate, trace::Tracer};

use super::{answer, limit, trace};
use crate::failure::{self, Outcome};

/// A review may hold a whole page of objects.
const LARGEST_REVIEW: usize = 64 << 20;
/// A client that does not finish its handshake holds up nobody else.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// Serves the webhooks until the task is aborted.
pub(crate) fn serve(
    listener: TcpListener,
    pki: &Pki,
    gate: Gate,
    tracer: &Tracer,
) -> Outcome<JoinHandle<()>> {
    let address = listener
        .local_addr()
        .map_err(|e| failure::internal("could not read the address", e))?;
    let tls = pki
        .anonymous_config(address)
        .map_err(|e| failure::configuration("could not prepare the webhooks' certificate", e))?;
    let (sender, connections) = mpsc::channel(16);
    let accepting = tokio::spawn(accept(listener, TlsAcceptor::from(tls), sender));
    let listener = Listener {
        address,
        connections,
        accepting,
    };
    let routes = Router::new()
        .route(CONVERSION_PATH, post(convert))
        .route(admission::PATH, post(admit))
        .route(admission::COMPLETE_PATH, post(complete))
        .merge(tracing(tracer.clone()))
        .merge(at_the_gate(limit::PATH, gate.clone(), tracer.clone()))
        .merge(at_the_gate(limit::OFFER_PATH, gate, tracer.clone()))
        .layer(DefaultBodyLimit::max(LARGEST_REVIEW));
    Ok(tokio::spawn(async move {
        if let Err(error) = axum::serve(listener, routes).await {
            tracing::error!(%error, "webhook server ended");
        }
    }))
}

fn tracing(tracer: Tracer) -> Router {
    let place = async move |headers: HeaderMap, review: Bytes| {
        let traceparent = headers.get("traceparent");
        let traceparent = traceparent.and_then(|value| value.to_str().ok());
        let answered =
            read(&review).and_then(|review| trace::answer(&tracer, &review, traceparent));
        said(answered, StatusCode::BAD_REQUEST)
    };
    Router::new().route(trace::PATH, post(place))
}

fn at_the_gate(path: &'static str, gate: Gate, tracer: Tracer) -> Router {
    let ask = async move |review: Bytes| ask_gate(&gate, &tracer, path, &review).await;
    Router::new().route(path, post(ask))
}

async fn convert(review: Bytes) -> Response {
    respond(CONVERSION_PATH, &review)
}

async fn admit(review: Bytes) -> Response {
    respond(admission::PATH, &review)
}

async fn complete(review: Bytes) -> Response {
    respond(admission::COMPLETE_PATH, &review)
}

/// Nobody can say is not a fault of the review: the server decides by its failure policy.
async fn ask_gate(gate: &Gate, tracer: &Tracer, path: &str, review: &[u8]) -> Response {
    match read(review) {
        Ok(review) => {
            let work = limit::answer(gate, path, &review);
            let answered = trace::told(tracer, limit::name(path), &review, work).await;
            said(answered, StatusCode::SERVICE_UNAVAILABLE)
        }
        Err(why) => said(Err(why), StatusCode::BAD_REQUEST),
    }
}

fn respond(path: &str, review: &[u8]) -> Response {
    let answered = read(review).and_then(|review| answer(path, &review));
    said(answered, StatusCode::BAD_REQUEST)
}

fn read(review: &[u8]) -> Result<Value, String> {
    serde_json::from_slice(review).map_err(|error| format!("the review is not JSON: {error}"))
}

fn said(answer: Result<Value, String>, otherwise: StatusCode) -> Response {
    match answer {
        Ok(answer) => ([(CONTENT_TYPE, "application/json")], answer.to_string()).into_response(),
        Err(why) => (otherwise, why).into_response(),
    }
}

type Connection = (TlsStream<TcpStream>, SocketAddr);

/// Connections whose handshake is done.
struct Listener {
    address: SocketAddr,
    connections: mpsc::Receiver<Connection>,
    accepting: JoinHandle<()>,
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl axum::serve::Listener for Listener {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> Connection {
        match self.connections.recv().await {
            Some(connection) => connection,
            // The sender lives as long as the task that this owns.
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.address)
    }
}

async fn accept(listener: TcpListener, tls: TlsAcceptor, sender: mpsc::Sender<Connection>) {
    loop {
        let (stream, peer) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                // Out of file descriptors, most likely: it passes when connections end.
                tracing::warn!(%error, "a connection to a webhook could not be accepted");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let (tls, sender) = (tls.clone(), sender.clone());
        tokio::spawn(async move {
            if let Ok(Ok(stream)) = tokio::time::timeout(HANDSHAKE, tls.accept(stream)).await {
                let _ = sender.send((stream, peer)).await;
            }
        });
    }
}
