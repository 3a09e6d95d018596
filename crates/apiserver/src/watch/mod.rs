//! Watches: a stream of events, one JSON document a line, pulled by the client's own reading.
//!
//! Watches that are told the same share the work where their connections allow it (`room`).
//!
//! Nothing is queued for a slow client beyond one batch: it falls behind in the store's ring, and
//! when the ring no longer has what it needs, it is told so (410) and lists again.

mod crew;
mod event;
mod hands;
mod lane;
#[cfg(test)]
mod laws;
mod piece;
mod room;
mod shared;
mod stream;

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use http::Response;
use http::header::{CONTENT_TYPE, HeaderValue};
use machinist_store::Revision;
use tokio::time::Instant;

use crate::core::Core;
use crate::http::{Call, Query, View};
use crate::registry::Kind;
use crate::selector::Selector;
use crate::status::{ApiError, Cause};
use event::Writer;
#[cfg(test)]
pub(crate) use lane::LARGEST;
pub(crate) use lane::{Channel, Lane};
pub(crate) use room::Rooms;
pub(crate) use shared::Lines;
use stream::{Beginning, Stream};

/// The shortest time a watch lasts when the client does not say; upstream has the same.
const DEFAULT_TIMEOUT: u64 = 1800;

/// Where a watch begins.
enum Start {
    /// With what there is now, then with what follows.
    Now { initial: bool },
    /// After a revision.
    After(Revision),
}

/// Starts a watch as the query asks for.
pub(crate) fn start(
    call: &Call,
    kind: Arc<Kind>,
    namespace: Option<&str>,
    selector: Selector,
    view: View,
) -> Result<Response<Body>, ApiError> {
    let (core, query) = (&call.core, &call.query);
    let prefix = match selector.only_name() {
        // Other names may begin with this one; the selector sorts them out.
        Some(name) if namespace.is_some() || !kind.namespaced => {
            kind.key(namespace.unwrap_or_default(), name)
        }
        _ => kind.keys_in(namespace),
    };
    let bookmarks = query.flag("allowWatchBookmarks");
    let (initial, watch) = match start_of(core, query)? {
        Start::Now { initial } => {
            let page = core.store.list(&prefix, None, None);
            let entries = if initial { page.entries } else { Vec::new() };
            (entries, core.store.watch(&prefix, page.revision))
        }
        Start::After(revision) => (Vec::new(), core.store.watch(&prefix, revision)),
    };
    let beginning = Beginning {
        initial,
        watch,
        bookmarks,
        announce: query.flag("sendInitialEvents") && bookmarks,
        deadline: Instant::now() + timeout(query),
    };
    let stream = Stream::new(call, Writer::new(kind, selector, view), beginning);
    let mut response = Response::new(stream.into_body());
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}

fn start_of(core: &Core, query: &Query) -> Result<Start, ApiError> {
    const MATCH: &str = "resourceVersionMatch";
    let version = query.resource_version()?;
    let matching = query.get(MATCH);
    if query.has("sendInitialEvents") {
        if matching != "NotOlderThan" {
            let why = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
            let mut causes = vec![Cause::forbidden(MATCH, why)];
            if !matching.is_empty() {
                let shown = format!("{matching:?}");
                causes.push(Cause::unsupported(MATCH, &shown, &["NotOlderThan"]));
            }
            return Err(query.refuse(&causes));
        }
        let current = core.store.revision().0;
        if let Some(asked) = version.filter(|asked| *asked > current) {
            return Err(ApiError::too_large_resource_version(asked, current));
        }
        if query.flag("sendInitialEvents") {
            return Ok(Start::Now { initial: true });
        }
        return Ok(match version {
            None | Some(0) => Start::Now { initial: false },
            Some(version) => Start::After(Revision(version)),
        });
    }
    if !matching.is_empty() {
        let why =
            "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
        return Err(query.refuse(&[Cause::forbidden(MATCH, why)]));
    }
    Ok(match version {
        None | Some(0) => Start::Now { initial: true },
        Some(version) => Start::After(Revision(version)),
    })
}

fn timeout(query: &Query) -> Duration {
    match query.get("timeoutSeconds").parse::<u64>() {
        Ok(seconds) if seconds > 0 => Duration::from_secs(seconds.min(24 * 3600)),
        _ => {
            // Watches that began together should not all come back together.
            let jitter = uuid::Uuid::new_v4().as_u64_pair().0 % DEFAULT_TIMEOUT;
            Duration::from_secs(DEFAULT_TIMEOUT + jitter)
        }
    }
}
