//! One connection after its handshake: HTTP/1.1 or HTTP/2, as the handshake agreed, with bounds
//! on what a client may send and how long it may be silent.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use futures::StreamExt as _;
use futures::future::select;
use futures::stream::FuturesUnordered;
use http::{Request, Response, Version};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio_rustls::server::TlsStream;
use tower::Service;

use super::lane::{OnLane, TlsLane};
use super::socket::Socket;
use crate::ApiService;
use crate::core::Closing;
use crate::guard::{Held, Limits, is_watch};

/// Why a connection ended early.
pub(super) type Failure = Box<dyn std::error::Error + Send + Sync>;

/// How long a connection may take to end once it was told to.
const FAREWELL: Duration = Duration::from_secs(10);
/// The most bytes that the headers of a request may have.
const HEADER_BYTES: usize = 256 * 1024;
/// Streams of one HTTP/2 connection at once, as in kube-apiserver.
const STREAMS: u32 = 1000;
/// Streams that a client opened and reset before we looked at them; more is an attack.
const RESETS: usize = 50;

/// Serves a connection until it ends, is idle for too long, or the listener closes.
pub(super) async fn serve(
    stream: TlsStream<Socket>,
    service: ApiService,
    limits: &Limits,
    closing: Closing,
) -> Result<(), Failure> {
    // The handshake agreed on the protocol, so that nobody needs to wait for its first bytes.
    if stream.get_ref().1.alpn_protocol() == Some(b"h2") {
        return serve_on(stream, None, service, limits, closing).await;
    }
    let lane = Arc::new(TlsLane::over(stream));
    let end = OnLane(lane.clone());
    serve_on(end, Some(lane), service, limits, closing).await
}

/// The same on any stream; one that is a lane speaks HTTP/1.1.
async fn serve_on<S>(
    stream: S,
    lane: Option<Arc<TlsLane>>,
    service: ApiService,
    limits: &Limits,
    closing: Closing,
) -> Result<(), Failure>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let busy = Arc::new(watch::Sender::new(0));
    let builder = builder(lane.is_none(), limits);
    let counted = Counted {
        inner: service,
        busy: busy.clone(),
        lane,
    };
    let connection = builder
        .serve_connection_with_upgrades(TokioIo::new(stream), TowerToHyperService::new(counted));
    let mut connection = std::pin::pin!(connection);
    let ends = select(
        Box::pin(closing.closed()),
        Box::pin(idle(busy.subscribe(), limits.idle_time)),
    );
    // A connection is polled for every event that it is told, and those who wait for its end only
    // when they are woken themselves.
    let mut ends: FuturesUnordered<_> = [ends].into_iter().collect();
    tokio::select! {
        biased;
        ended = connection.as_mut() => return ended,
        _ = ends.next() => {}
    }
    connection.as_mut().graceful_shutdown();
    // What is being answered may finish; who only stays is cut.
    tokio::select! {
        ended = connection.as_mut() => ended,
        () = idle(busy.subscribe(), FAREWELL) => {
            Err("the client did not close an idle connection".into())
        }
    }
}

fn builder(http2: bool, limits: &Limits) -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder = if http2 {
        builder.http2_only()
    } else {
        builder.http1_only()
    };
    builder
        .http1()
        .timer(TokioTimer::new())
        .max_buf_size(HEADER_BYTES)
        .header_read_timeout(limits.header_time);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(Duration::from_secs(30))
        .keep_alive_timeout(limits.header_time)
        .max_concurrent_streams(STREAMS)
        .max_pending_accept_reset_streams(RESETS)
        .max_local_error_reset_streams(RESETS)
        .max_header_list_size(u32::try_from(HEADER_BYTES).unwrap_or(u32::MAX));
    builder
}

/// Whether the answer is a watch whose body comes in chunks: older clients get theirs in one stretch.
fn comes_in_chunks<B>(request: &Request<B>) -> bool {
    request.version() == Version::HTTP_11 && is_watch(request)
}

/// Resolves when no request was open for this long.
async fn idle(mut busy: watch::Receiver<usize>, time: Duration) {
    loop {
        // Its sender lives as long as the connection, so this does not fail before it ends.
        if busy.wait_for(|open| *open == 0).await.is_err() {
            return;
        }
        let quiet = tokio::time::timeout(time, busy.changed()).await;
        if quiet.is_err() {
            return;
        }
    }
}

/// Counts the requests that are open on a connection.
#[derive(Clone)]
struct Counted {
    inner: ApiService,
    busy: Arc<watch::Sender<usize>>,
    lane: Option<Arc<TlsLane>>,
}

/// One open request.
struct Open(Arc<watch::Sender<usize>>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.send_modify(|open| *open -= 1);
    }
}

impl Service<Request<hyper::body::Incoming>> for Counted {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Service::<Request<Body>>::poll_ready(&mut self.inner, cx)
    }

    fn call(&mut self, mut request: Request<hyper::body::Incoming>) -> Self::Future {
        // Nobody else gets a hold on the connection, which closes when the last one lets go.
        let lane = self.lane.as_ref().filter(|_| comes_in_chunks(&request));
        if let Some(lane) = lane {
            request.extensions_mut().insert(lane.clone());
        }
        self.busy.send_modify(|open| *open += 1);
        let open = Open(self.busy.clone());
        let answered = self.inner.call(request);
        Box::pin(async move {
            let response = answered.await?;
            Ok(response.map(|body| Held::wrap(body, open)))
        })
    }
}
