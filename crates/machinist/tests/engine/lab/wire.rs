//! The way from an engine to the API server, which can be cut, slow and lossy.

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use axum::body::Body;
use futures::StreamExt;
use http::{Method, Request, Response};
use machinist_apiserver::ApiService;
use tokio::{sync::watch, time::Instant};
use tower::{BoxError, Service};

/// What goes wrong with a request.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ApiFault {
    /// It does not arrive.
    Lost,
    /// It arrives, and its answer does not.
    AnswerLost,
    /// It takes this long.
    Slow(Duration),
}

/// What goes wrong with a request, by its method and path.
type Judge = Box<dyn FnMut(&Method, &str) -> Option<ApiFault> + Send>;

/// What is shared by all engines' connections.
#[derive(Clone)]
pub(crate) struct Wire {
    state: Arc<Mutex<State>>,
    cuts: watch::Sender<u64>,
    since: Instant,
}

#[derive(Default)]
struct State {
    judge: Option<Judge>,
    /// How late news from watches is.
    lag: Duration,
    log: Vec<String>,
}

impl Wire {
    pub(crate) fn new() -> Wire {
        Wire {
            state: Arc::default(),
            cuts: watch::Sender::new(0),
            since: Instant::now(),
        }
    }

    pub(crate) fn judge(&self, judge: Option<Judge>) {
        self.state().judge = judge;
    }

    pub(crate) fn lag(&self, lag: Duration) {
        self.state().lag = lag;
    }

    /// Ends every watch.
    pub(crate) fn cut(&self) {
        self.cuts.send_modify(|count| *count += 1);
    }

    /// Every change that was asked of the API server, with its time.
    pub(crate) fn log(&self) -> Vec<String> {
        self.state().log.clone()
    }

    pub(crate) fn note(&self, line: &str) {
        let at = self.since.elapsed().as_millis();
        self.state().log.push(format!("{at} {line}"));
    }

    fn admit(&self, request: &Request<kube::client::Body>) -> (Option<ApiFault>, Duration) {
        let mut state = self.state();
        let (method, path) = (request.method(), request.uri().path());
        let fault = state.judge.as_mut().and_then(|judge| judge(method, path));
        let lag = state.lag;
        drop(state);
        // The names of events are chance.
        if method != Method::GET && !path.contains("/events") {
            self.note(&format!("{method} {path} {fault:?}"));
        }
        (fault, lag)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One engine's connection.
#[derive(Clone)]
pub(crate) struct Line {
    pub(crate) server: ApiService,
    pub(crate) wire: Wire,
}

impl Service<Request<kube::client::Body>> for Line {
    type Response = Response<Body>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, BoxError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<kube::client::Body>) -> Self::Future {
        let (fault, lag) = self.wire.admit(&request);
        let mut server = self.server.clone();
        let mut cuts = self.wire.cuts.subscribe();
        let query = request.uri().query().unwrap_or_default();
        let is_watch = query.contains("watch=true");
        Box::pin(async move {
            match fault {
                Some(ApiFault::Lost) => return Err("the request was lost".into()),
                Some(ApiFault::Slow(time)) => tokio::time::sleep(time).await,
                Some(ApiFault::AnswerLost) | None => {}
            }
            let Ok(response) = server.call(request).await;
            if matches!(fault, Some(ApiFault::AnswerLost)) {
                return Err("the answer was lost".into());
            }
            if !is_watch {
                return Ok(response);
            }
            let (parts, body) = response.into_parts();
            let late = body.into_data_stream().then(move |piece| async move {
                if !lag.is_zero() {
                    tokio::time::sleep(lag).await;
                }
                piece
            });
            let until_cut = late.take_until(async move {
                let _ = cuts.changed().await;
            });
            Ok(Response::from_parts(parts, Body::from_stream(until_cut)))
        })
    }
}
