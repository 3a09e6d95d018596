//! What stands between the callers and the handlers: limits on how much happens at once, a time
//! for each request, compression, and a wall that a panic does not pass.
//!
//! Every request goes through here, from a socket and from within the process. What a request
//! means is left to `http`; how connections are held is left to `tls`.

mod body;
mod gzip;
mod limits;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::body::Body;
use futures::FutureExt as _;
use http::{Method, Request, Response};
use tokio::time::Instant;

pub(crate) use body::{BodyError, Held};
pub use limits::Limits;
pub(crate) use limits::{Gate, Permit};

use crate::auth::{Identity, MASTERS, authenticate};
use crate::core::Core;
use crate::http::{Query, of_old_watch, refusal};
use crate::status::ApiError;

/// Answers a request within the limits.
pub(crate) async fn handle(core: Arc<Core>, mut request: Request<Body>) -> Response<Body> {
    if *request.method() == Method::GET
        && let Some(address) = of_old_watch(request.uri())
    {
        *request.uri_mut() = address;
    }
    authenticate::identify(&core, &mut request);
    let identity = request.extensions().get::<Identity>();
    if is_watch(&request) {
        let client = identity.map_or("", |i| i.user.as_str()).to_owned();
        let Some(permit) = core.gate.watch(&client) else {
            return refusal(&ApiError::too_many_requests());
        };
        let answered = AssertUnwindSafe(crate::http::handle(core, request)).catch_unwind();
        let response = answered.await.unwrap_or_else(|_| after_panic());
        return response.map(|body| Held::wrap(body, permit));
    }
    let changes = !matches!(*request.method(), Method::GET | Method::HEAD);
    let permit = match core.gate.request(changes) {
        Some(permit) => Some(permit),
        None if identity.is_some_and(|i| i.groups.iter().any(|g| g == MASTERS)) => None,
        None => return refusal(&ApiError::too_many_requests()),
    };
    let gzip = !changes && gzip::is_wanted(request.headers());
    let deadline = Instant::now() + core.gate.limits.request_time;
    let response = if changes {
        change(core, request, permit, deadline).await
    } else {
        read(core, request, permit, deadline).await
    };
    if gzip {
        gzip::compress(response)
    } else {
        response
    }
}

async fn read(
    core: Arc<Core>,
    request: Request<Body>,
    permit: Option<Permit>,
    deadline: Instant,
) -> Response<Body> {
    let answered = AssertUnwindSafe(crate::http::handle(core, request)).catch_unwind();
    let response = match tokio::time::timeout_at(deadline, answered).await {
        Ok(answered) => answered.unwrap_or_else(|_| after_panic()),
        Err(_) => refusal(&ApiError::timeout()),
    };
    match permit {
        Some(permit) => response.map(|body| Held::wrap(body, permit)),
        None => response,
    }
}

/// A change that has begun goes on when its caller hangs up or waits no longer: it is done whole
/// or not at all. So it has a task of its own, which also keeps a panic to itself.
async fn change(
    core: Arc<Core>,
    request: Request<Body>,
    permit: Option<Permit>,
    deadline: Instant,
) -> Response<Body> {
    let reservation = Arc::new(core.gate.body());
    let request =
        request.map(|body| Body::new(body::Incoming::new(body, reservation.clone(), deadline)));
    let working = tokio::spawn(async move {
        let _counted = (reservation, permit);
        crate::http::handle(core, request).await
    });
    match tokio::time::timeout_at(deadline, working).await {
        Ok(answered) => answered.unwrap_or_else(|_| after_panic()),
        Err(_) => refusal(&ApiError::timeout()),
    }
}

fn after_panic() -> Response<Body> {
    tracing::error!("a request made its handler panic");
    refusal(&ApiError::internal(
        "this request made its handler panic; the log has the details",
    ))
}

/// Whether a request stays open: a watch is not counted among those that are answered soon.
pub(crate) fn is_watch<B>(request: &Request<B>) -> bool {
    *request.method() == Method::GET
        && request
            .uri()
            .query()
            .is_some_and(|query| query.contains("watch") && Query::parse(query).flag("watch"))
}

/// The answer to a body that was not read to its end.
pub(crate) fn body_refusal(error: &(dyn std::error::Error + 'static)) -> ApiError {
    let mut cause = Some(error);
    while let Some(error) = cause {
        match error.downcast_ref::<BodyError>() {
            Some(BodyError::Slow) => return ApiError::timeout(),
            Some(BodyError::Full) => return ApiError::too_many_requests(),
            Some(BodyError::Broken(_)) | None => cause = error.source(),
        }
    }
    ApiError::bad_request(format!("the body could not be read: {error}"))
}
