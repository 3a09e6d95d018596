//! A connection that events may enter beside the HTTP machinery, and the seat of its watch.
//!
//! The answer to a watch over HTTP/1.1 is a body that comes in chunks, and between two of them nothing is
//! under way on the connection. Whoever has an event can then send it as a chunk of its own, without waking
//! the task of the connection and without what that task goes through for each piece of a body. Most of
//! the work of telling a thousand watchers is saved that way.
//!
//! # Guarantees
//! - An event is sent so only while the connection is free, so that no chunk gets into another one.
//! - Who sits on a lane, what they have seen, and the connection itself are behind one lock, so that an
//!   event goes either this way or through the body, and never both.
//! - A client that does not keep up is not waited for: its seat is taken away, and its watch goes on by
//!   itself, at the pace of its own reading.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use machinist_store::Revision;

/// The largest chunk that may be sent so.
pub(crate) const LARGEST: usize = 32 << 10;

/// A connection as events see it.
pub(crate) trait Channel: Send + 'static {
    /// Whether nothing is under way on it.
    fn is_free(&self) -> bool;

    /// Sends a chunk of HTTP/1.1, not larger than [`LARGEST`], on a connection that is free. False when it
    /// is no longer free after that: some is still to be sent, by the task of the connection.
    fn send(&mut self, chunk: &[u8]) -> bool;
}

/// Events for everybody who sits with a crew, as they go over the wire.
pub(super) struct Piece {
    /// The revisions of the first and the last of them.
    pub(super) first: Revision,
    pub(super) last: Revision,
    /// A chunk of HTTP/1.1.
    pub(super) chunk: Vec<u8>,
}

impl Piece {
    /// The revision up to which everything was told before.
    fn before(&self) -> Revision {
        Revision(self.first.0.saturating_sub(1))
    }
}

/// A connection and who may write to it.
pub(crate) struct Lane<C>(Mutex<Held<C>>);

/// What the lock of a lane is for.
pub(crate) struct Held<C> {
    pub(crate) channel: C,
    seat: Option<Seat>,
}

/// The place of a watch that is told by a crew.
struct Seat {
    crew: u64,
    /// Everything up to here has been sent, or is not of interest.
    seen: Revision,
    /// Whether the crew still tells it.
    taken: bool,
    /// Who wants to know when it does not.
    waker: Option<Waker>,
}

impl<C: Channel> Lane<C> {
    /// A connection on which nobody sits.
    pub(crate) fn new(channel: C) -> Self {
        Self(Mutex::new(Held {
            channel,
            seat: None,
        }))
    }

    /// The connection, for as long as the guard lives.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Held<C>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a crew tell what comes after a revision.
    pub(super) fn sit(&self, crew: u64, seen: Revision) {
        self.lock().seat = Some(Seat {
            crew,
            seen,
            taken: true,
            waker: None,
        });
    }

    /// Resolves when the crew no longer tells this watch.
    pub(super) fn poll_unseated(&self, crew: u64, cx: &Context<'_>) -> Poll<()> {
        match &mut self.lock().seat {
            Some(seat) if seat.crew == crew && seat.taken => {
                match &mut seat.waker {
                    Some(waker) => waker.clone_from(cx.waker()),
                    none => *none = Some(cx.waker().clone()),
                }
                Poll::Pending
            }
            _ => Poll::Ready(()),
        }
    }

    /// Gives a seat back; says up to where the watch was told, and whether it was still told.
    pub(super) fn rise(&self, crew: u64) -> Option<(Revision, bool)> {
        let mut held = self.lock();
        let seat = held.seat.take_if(|seat| seat.crew == crew)?;
        Some((seat.seen, seat.taken))
    }

    /// Takes a seat away from a watch, which then goes on by itself; everything up to a revision was sent
    /// before.
    pub(super) fn unseat(&self, crew: u64, sent: Revision) {
        self.lock().unseat(crew, sent);
    }

    /// Sends a piece, or has the watch tell it by itself; says whether it was sent.
    pub(super) fn offer(&self, crew: u64, piece: &Piece) -> bool {
        let held = &mut *self.lock();
        let Some(seat) = held.seat.as_mut().filter(|seat| seat.crew == crew) else {
            return false;
        };
        if !seat.taken || seat.seen >= piece.last {
            return false;
        }
        // Who joined in the middle of these events has seen some of them.
        let whole = seat.seen < piece.first;
        if !whole || piece.chunk.len() > LARGEST || !held.channel.is_free() {
            held.unseat(crew, piece.before());
            return false;
        }
        seat.seen = piece.last;
        if !held.channel.send(&piece.chunk) {
            held.unseat(crew, piece.last);
        }
        true
    }
}

impl<C> Held<C> {
    fn unseat(&mut self, crew: u64, sent: Revision) {
        // Who has lost the seat already goes on from there, and was told nothing since.
        let seat = self.seat.as_mut();
        if let Some(seat) = seat.filter(|seat| seat.crew == crew && seat.taken) {
            seat.seen = seat.seen.max(sent);
            seat.taken = false;
            if let Some(waker) = seat.waker.take() {
                waker.wake();
            }
        }
    }
}
