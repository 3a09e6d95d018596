//! Those who tell many watches the same: a crew reads events once, writes each once, and sends it to
//! every connection that sits with it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use machinist_store::{Revision, Watch};

use super::event::Writer;
use super::hands::{Job, Work};
use super::lane::{Channel, Lane, Piece};
use super::piece;
use crate::core::Core;
use crate::tls::Tls;

/// How many are told before others have their turn.
const TURN: usize = 16;
/// Events that are taken up at once.
const BATCH: usize = 64;

/// The connections that are told together.
pub(super) struct Crew<C> {
    /// Tells crews apart.
    id: u64,
    benches: Mutex<Benches<C>>,
    /// Everything up to here was sent to all who sat here then.
    done: AtomicU64,
}

struct Benches<C> {
    /// What is being sent, or was sent last; nobody who has seen less can sit down any more.
    at: Revision,
    slots: Vec<Option<Arc<Lane<C>>>>,
    free: Vec<usize>,
}

impl<C: Channel> Crew<C> {
    /// A crew that tells what comes after a revision.
    pub(super) fn new(after: Revision) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            benches: Mutex::new(Benches {
                at: after,
                slots: Vec::new(),
                free: Vec::new(),
            }),
            done: AtomicU64::new(after.0),
        }
    }

    fn benches(&self) -> MutexGuard<'_, Benches<C>> {
        self.benches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the crew has ended.
    pub(super) fn has_ended(&self) -> bool {
        self.benches().at == Revision(u64::MAX)
    }

    /// Takes a watch in that has seen everything up to a revision, if nothing after it was sent already.
    pub(super) fn admit(
        self: &Arc<Self>,
        lane: &Arc<Lane<C>>,
        seen: Revision,
    ) -> Option<Seated<C>> {
        let mut benches = self.benches();
        if seen < benches.at {
            return None;
        }
        let slot = benches.free.pop().unwrap_or(benches.slots.len());
        if slot == benches.slots.len() {
            benches.slots.push(None);
        }
        lane.sit(self.id, seen);
        benches.slots[slot] = Some(lane.clone());
        Some(Seated {
            crew: self.clone(),
            lane: lane.clone(),
            slot,
        })
    }

    /// Begins to tell a piece; says among how many places.
    pub(super) fn begin(&self, piece: &Piece) -> usize {
        let mut benches = self.benches();
        benches.at = piece.last;
        benches.slots.len()
    }

    /// Tells a piece at some of the places; says to how many it was sent.
    pub(super) fn tell(&self, piece: &Piece, from: usize, to: usize) -> usize {
        let lanes: Vec<Arc<Lane<C>>> = {
            let benches = self.benches();
            benches.slots[from..to].iter().flatten().cloned().collect()
        };
        let sent = lanes.iter().filter(|lane| lane.offer(self.id, piece));
        sent.count()
    }

    /// Everything up to a revision was told at all places.
    pub(super) fn finish(&self, revision: Revision) {
        self.done.store(revision.0, Ordering::Release);
    }

    /// Has everybody go on alone.
    pub(super) fn end(&self) {
        let lanes: Vec<Arc<Lane<C>>> = {
            let mut benches = self.benches();
            benches.at = Revision(u64::MAX);
            benches.slots.iter().flatten().cloned().collect()
        };
        let done = Revision(self.done.load(Ordering::Acquire));
        for lane in lanes {
            lane.unseat(self.id, done);
        }
    }
}

/// Tells events until the store ends or nobody can be told this way any more.
pub(super) async fn run(
    crew: Arc<Crew<Tls>>,
    core: Arc<Core>,
    mut watch: Watch,
    mut writer: Writer,
) {
    let crew = Ending(crew);
    loop {
        let mut events = Vec::new();
        while events.len() < BATCH {
            match watch.try_next() {
                Ok(Some(event)) => events.push(event),
                Ok(None) => break,
                // Each finds out by itself and tells its client.
                Err(_) => return,
            }
        }
        if events.is_empty() {
            crew.0.finish(watch.progress());
            if watch.stirred().await.is_err() {
                return;
            }
            continue;
        }
        let Ok(events) = core.present_events(writer.kind(), events).await else {
            return;
        };
        for piece in piece::pieces(&events, |event| writer.line(&core.lines, event)) {
            let (count, last) = (crew.0.begin(&piece), piece.last);
            let telling = Telling {
                core: core.clone(),
                crew: crew.0.clone(),
                piece,
            };
            let job = Arc::new(Job::new(telling, count, TURN));
            core.rooms.hands.call(&job);
            while job.turn() {
                tokio::task::yield_now().await;
            }
            // What comes next must not overtake this anywhere.
            job.finished().await;
            crew.0.finish(last);
        }
    }
}

/// A piece on its way to everybody.
pub(super) struct Telling {
    core: Arc<Core>,
    crew: Arc<Crew<Tls>>,
    piece: Piece,
}

impl Work for Telling {
    fn turn(&self, from: usize, to: usize) {
        let sent = self.crew.tell(&self.piece, from, to);
        self.core.metrics.told_together(sent);
    }
}

/// Ends a crew with its task, however that ends.
struct Ending(Arc<Crew<Tls>>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// A watch that is told by a crew, until it rises or this is dropped.
pub(super) struct Seated<C: Channel> {
    crew: Arc<Crew<C>>,
    lane: Arc<Lane<C>>,
    slot: usize,
}

impl<C: Channel> Seated<C> {
    /// Resolves when the watch has to go on by itself.
    pub(super) async fn unseated(&self) {
        std::future::poll_fn(|cx| self.lane.poll_unseated(self.crew.id, cx)).await;
    }

    /// Says up to where the watch was told, and tells no more.
    pub(super) fn rise(self) -> Revision {
        // Before the seat is given back: what is done after that, this watch was not told.
        let done = Revision(self.crew.done.load(Ordering::Acquire));
        match self.lane.rise(self.crew.id) {
            Some((seen, true)) => seen.max(done),
            Some((seen, false)) => seen,
            None => Revision(0),
        }
    }
}

impl<C: Channel> Drop for Seated<C> {
    fn drop(&mut self) {
        self.lane.rise(self.crew.id);
        let mut benches = self.crew.benches();
        benches.slots[self.slot] = None;
        benches.free.push(self.slot);
    }
}
