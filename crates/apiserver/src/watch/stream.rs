//! One watch as the body of an answer: what it has to say next, and who says it.

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
use machinist_store::{Entry, Event, Revision, Watch, WatchError};
use tokio::sync::watch::Receiver;
use tokio::time::{Instant, Sleep};

use super::event::Writer;
use super::room;
use crate::core::{Closing, Core};
use crate::http::Call;
use crate::status::ApiError;
use crate::tls::TlsLane;

/// How many events go into one piece of the stream at most.
const BATCH: usize = 64;
/// How often a quiet watch says how far it has come.
const BOOKMARK_EVERY: Duration = Duration::from_secs(60);

/// When a watch has something to say or do by itself.
fn next_time(bookmarks: bool, deadline: Instant) -> Instant {
    match bookmarks {
        true => deadline.min(Instant::now() + BOOKMARK_EVERY),
        false => deadline,
    }
}

/// A watch whose revision lies ahead belongs to another life of the store; like one that lies too
/// far back, it can only list again.
fn watch_error(error: &WatchError) -> ApiError {
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

/// What a watch that has nothing to say waits for.
enum Turn {
    /// Kinds came or went, or something closes.
    Changed(Changes),
    /// There is an event to tell, or there will be none.
    Event(Result<Event, WatchError>),
    /// Others no longer tell its events.
    Lost,
    /// It is time for a bookmark, or for the end.
    Time,
}

/// How a watch begins.
pub(super) struct Beginning {
    /// What there is, if that is asked for.
    pub(super) initial: Vec<Entry>,
    /// What follows.
    pub(super) watch: Result<Watch, WatchError>,
    /// Whether the client wants to know how far the watch has come.
    pub(super) bookmarks: bool,
    /// Whether it wants to know when it has been told what there is.
    pub(super) announce: bool,
    /// When the watch ends by itself.
    pub(super) deadline: Instant,
}

/// A watch that is open.
pub(super) struct Stream {
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
    /// The connection, if others may tell events on it.
    lane: Option<Arc<TlsLane>>,
    /// The changes of the registry, and nudges: a watch ends with its kind, its listener and its
    /// server. It waits for all of these in one place, which is looked at when it is woken itself
    /// and not for every event.
    changes: FuturesUnordered<BoxFuture<'static, Changes>>,
    open: Open,
}

impl Stream {
    /// The watch that a call asks for.
    pub(super) fn new(call: &Call, writer: Writer, beginning: Beginning) -> Self {
        let core = &call.core;
        let Beginning {
            initial,
            watch,
            bookmarks,
            announce,
            deadline,
        } = beginning;
        let refused = watch.as_ref().err();
        let pending = refused.map(|error| writer.error(&watch_error(error)));
        let ending = call.closing.as_ref().is_some_and(Closing::is_closed) || core.is_stopped();
        let watch = watch.ok().filter(|_| !ending);
        let first = watch.as_ref().filter(|_| announce);
        Self {
            bookmark: first.map(Watch::progress),
            deadline,
            timer: Box::pin(tokio::time::sleep_until(next_time(bookmarks, deadline))),
            bookmarks,
            closing: call.closing.clone(),
            lane: call.lane.clone(),
            changes: [changed(core.registry.changes())].into_iter().collect(),
            open: Open::new(core.clone()),
            initial: initial.into(),
            pending: pending.into_iter().collect(),
            watch,
            writer,
        }
    }

    /// The pieces, one after the other, as they are asked for.
    pub(super) fn into_body(self) -> Body {
        Body::from_stream(futures::stream::unfold(self, |mut stream| async move {
            // What it was given before, which is the head of the answer at first, is still to be sent; and
            // only within what follows do others get leave to send.
            stream.unsettle();
            let piece = stream.next().await;
            piece.map(|piece| (Ok::<_, Infallible>(piece), stream))
        }))
    }

    /// Says that what was given out before may not have been sent.
    fn unsettle(&self) {
        if let Some(lane) = &self.lane {
            lane.unsettle();
        }
    }

    /// Waits for something to do, among those who are told the same where that is possible.
    async fn turn(&mut self) -> Option<Turn> {
        let watch = self.watch.as_mut()?;
        let lane = self.lane.as_ref().filter(|_| watch.is_current());
        let place = lane.and_then(|lane| room::enter(&self.open.0, lane, watch, &self.writer));
        let Some(place) = place else {
            return Some(tokio::select! {
                biased;
                Some(changes) = self.changes.next() => Turn::Changed(changes),
                event = watch.next() => Turn::Event(event),
                () = &mut self.timer => Turn::Time,
            });
        };
        let turn = tokio::select! {
            biased;
            Some(changes) = self.changes.next() => Turn::Changed(changes),
            () = place.lost() => Turn::Lost,
            () = &mut self.timer => Turn::Time,
        };
        watch.resume_after(place.leave());
        Some(turn)
    }

    /// Tells the client of events.
    async fn tell(&mut self, events: Vec<Event>) {
        let core = &self.open.0;
        match core.present_events(self.writer.kind(), events).await {
            Ok(events) => {
                let piece = self.writer.events(&core.lines, &events);
                if !piece.is_empty() {
                    core.metrics.told_alone();
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
            let turn = self.turn().await?;
            let watch = self.watch.as_mut()?;
            match turn {
                Turn::Changed(changes) => {
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
                Turn::Event(event) => {
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
                            self.pending
                                .push_back(self.writer.error(&watch_error(&error)));
                        }
                        self.watch = None;
                    }
                }
                Turn::Lost => {}
                Turn::Time => {
                    // At the end as well, so that the client goes on from here and not from long
                    // ago.
                    let progress = watch.progress();
                    if self.bookmarks {
                        self.pending
                            .push_back(self.writer.bookmark(progress, false));
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
