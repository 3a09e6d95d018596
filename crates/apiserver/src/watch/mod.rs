//! Watches: a stream of events, one JSON document a line, pulled by the client's own reading.
//!
//! Nothing is queued for a slow client beyond one batch: it falls behind in the store's ring, and
//! when the ring no longer has what it needs, it is told so (410) and lists again.

mod event;
mod shared;

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use futures::StreamExt as _;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use http::Response;
use http::header::{CONTENT_TYPE, HeaderValue};
use machinist_store::{Entry, Event, Revision, Watch, WatchError};
use tokio::sync::watch::Receiver;
use tokio::time::{Instant, Sleep};

use crate::core::{Closing, Core};
use crate::http::{Call, Query, View};
use crate::registry::Kind;
use crate::selector::Selector;
use crate::status::{ApiError, Cause};
use event::Writer;
pub(crate) use shared::Lines;

/// How many events go into one piece of the stream at most.
const BATCH: usize = 64;
/// How often a quiet watch says how far it has come.
const BOOKMARK_EVERY: Duration = Duration::from_secs(60);
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
    let start = start_of(core, query)?;
    let announce = query.flag("sendInitialEvents") && bookmarks;
    let writer = Writer::new(kind, selector, view);
    let mut pending = VecDeque::new();
    let mut initial = VecDeque::new();
    let watched = match start {
        Start::Now { initial: wanted } => {
            let page = core.store.list(&prefix, None, None);
            if wanted {
                initial = page.entries.into();
            }
            core.store.watch(&prefix, page.revision)
        }
        Start::After(revision) => core.store.watch(&prefix, revision),
    };
    let watch = match watched {
        Ok(watch) => Some(watch),
        Err(error) => {
            pending.push_back(writer.error(&watch_error(error)));
            None
        }
    };
    let deadline = Instant::now() + timeout(query);
    let changes = core.registry.changes();
    let ending = call.closing.as_ref().is_some_and(Closing::is_closed) || core.is_stopped();
    let watch = watch.filter(|_| !ending);
    let stream = Stream {
        bookmark: announce
            .then(|| watch.as_ref().map(Watch::progress))
            .flatten(),
        deadline,
        timer: Box::pin(tokio::time::sleep_until(next_time(bookmarks, deadline))),
        bookmarks,
        closing: call.closing.clone(),
        changes: [changed(changes)].into_iter().collect(),
        open: Open::new(core.clone()),
        initial,
        pending,
        watch,
        writer,
    };
    let body = Body::from_stream(futures::stream::unfold(stream, |mut stream| async move {
        stream
            .next()
            .await
            .map(|piece| (Ok::<_, Infallible>(piece), stream))
    }));
    let mut response = Response::new(body);
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}

/// When a watch has something to say or do by itself.
fn next_time(bookmarks: bool, deadline: Instant) -> Instant {
    match bookmarks {
        true => deadline.min(Instant::now() + BOOKMARK_EVERY),
        false => deadline,
    }
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

/// A watch whose revision lies ahead belongs to another life of the store; like one that lies too
/// far back, it can only list again.
fn watch_error(error: WatchError) -> ApiError {
    match error {
        WatchError::Compacted { oldest } => {
            ApiError::expired(format!("too old resource version ({oldest})"))
        }
        WatchError::Future { current } => ApiError::expired(format!(
            "the resource version lies ahead of the newest one ({current})"
        )),
        WatchError::Closed => ApiError::internal("the store is closed"),
    }
}

/// Counts the watch for as long as it is open.
struct Open(Arc<Core>);

impl Open {
    fn new(core: Arc<Core>) -> Self {
        core.metrics.watch_opened();
        Self(core)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.metrics.watch_closed();
    }
}

/// The changes of the registry, or none when it is gone.
type Changes = Option<Receiver<u64>>;

/// Resolves with the next change.
fn changed(mut changes: Receiver<u64>) -> BoxFuture<'static, Changes> {
    Box::pin(async move { changes.changed().await.is_ok().then_some(changes) })
}

struct Stream {
    /// Absent when the watch has ended and only what is pending is left.
    watch: Option<Watch>,
    writer: Writer,
    initial: VecDeque<Entry>,
    pending: VecDeque<Bytes>,
    /// The bookmark that ends the initial events.
    bookmark: Option<Revision>,
    bookmarks: bool,
    deadline: Instant,
    /// The next bookmark, or the end. It is set anew when it has rung and not for each event,
    /// since all watches share the clock behind it.
    timer: Pin<Box<Sleep>>,
    /// The way by which the call came.
    closing: Option<Closing>,
    /// The changes of the registry, and nudges: a watch ends with its kind, its listener and its
    /// server. It waits for all of these in one place, which is looked at when it is woken itself
    /// and not for every event.
    changes: FuturesUnordered<BoxFuture<'static, Changes>>,
    open: Open,
}

impl Stream {
    /// Tells the client of events.
    async fn tell(&mut self, events: Vec<Event>) {
        let core = &self.open.0;
        match core.present_events(self.writer.kind(), events).await {
            Ok(events) => {
                let piece = self.writer.events(&core.lines, &events);
                if !piece.is_empty() {
                    self.pending.push_back(piece);
                }
            }
            Err(error) => self.fail(&error),
        }
    }

    /// Ends the watch with an error.
    fn fail(&mut self, error: &ApiError) {
        self.initial.clear();
        self.pending.push_back(self.writer.error(error));
        self.watch = None;
    }

    /// The next piece of the stream.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(piece) = self.pending.pop_front() {
                return Some(piece);
            }
            if !self.initial.is_empty() {
                let count = self.initial.len().min(BATCH);
                let entries = self.initial.drain(..count).collect();
                let core = self.open.0.clone();
                let piece = match core.present(self.writer.kind(), entries).await {
                    Ok(entries) => self.writer.initial(entries.into_iter()),
                    Err(error) => {
                        self.fail(&error);
                        continue;
                    }
                };
                if piece.is_empty() {
                    continue;
                }
                return Some(piece);
            }
            if let Some(revision) = self.bookmark.take() {
                return Some(self.writer.bookmark(revision, true));
            }
            let watch = self.watch.as_mut()?;
            tokio::select! {
                biased;
                Some(changes) = self.changes.next() => {
                    let is_gone = changes.is_none();
                    self.changes.extend(changes.map(changed));
                    let closing = self.closing.as_ref().is_some_and(Closing::is_closed);
                    if closing || self.open.0.is_stopped() {
                        self.watch = None;
                        continue;
                    }
                    // What was written before the end of the kind is still told.
                    let ended = is_gone || !self.writer.is_served(&self.open.0);
                    if ended {
                        let mut last = Vec::new();
                        while let Ok(Some(event)) = watch.try_next() {
                            last.push(event);
                        }
                        self.watch = None;
                        self.tell(last).await;
                    }
                }
                event = watch.next() => {
                    let mut events = Vec::with_capacity(1);
                    let mut failed = event.map(|event| events.push(event)).err();
                    while failed.is_none() && events.len() < BATCH {
                        match watch.try_next() {
                            Ok(Some(event)) => events.push(event),
                            Ok(None) => break,
                            Err(error) => failed = Some(error),
                        }
                    }
                    self.tell(events).await;
                    if let Some(error) = failed {
                        if error != WatchError::Closed {
                            self.pending.push_back(self.writer.error(&watch_error(error)));
                        }
                        self.watch = None;
                    }
                }
                () = &mut self.timer => {
                    // At the end as well, so that the client goes on from here and not from long
                    // ago.
                    let progress = watch.progress();
                    if self.bookmarks {
                        self.pending.push_back(self.writer.bookmark(progress, false));
                    }
                    if Instant::now() >= self.deadline {
                        self.watch = None;
                    } else {
                        let next = next_time(self.bookmarks, self.deadline);
                        self.timer.as_mut().reset(next);
                    }
                }
            }
        }
    }
}
