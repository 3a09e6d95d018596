//! The snapshot of the store, for whoever may have everything: it holds every Secret.

use std::convert::Infallible;

use axum::body::Body;
use futures::StreamExt as _;
use http::Response;
use http::header::{CONTENT_TYPE, HeaderValue};

use crate::core::Core;

/// Where the snapshot is. Like any path that is no resource, it is allowed by a rule with
/// `nonResourceURLs`; of the roles that there are at the start, only `cluster-admin` has one.
pub const BACKUP_PATH: &str = "/backup";

/// Everything at one revision, while writes go on.
pub(super) fn answer(core: &Core) -> Response<Body> {
    let pieces = futures::stream::iter(core.store.snapshot());
    // Between the pieces others get their turn, however fast the client reads.
    let pieces = pieces.then(|piece| async {
        tokio::task::yield_now().await;
        Ok::<_, Infallible>(piece)
    });
    let mut response = Response::new(Body::from_stream(pieces));
    let octets = HeaderValue::from_static("application/octet-stream");
    response.headers_mut().insert(CONTENT_TYPE, octets);
    response
}
