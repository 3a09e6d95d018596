//! Rooms: watches that are told the same, word for word, share the work of telling it.
//!
//! A watch over HTTP/1.1 without a selector sits down with a crew of its room when it has told everything
//! there is. It rises again to say something of its own (a bookmark, its end), and whenever the crew
//! cannot tell it: because it does not keep up, or because an event is too large.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use machinist_store::{Revision, Watch};
use tokio::task::AbortHandle;

use super::crew::{self, Crew, Seated, Telling};
use super::event::Writer;
use super::hands::Hands;
use crate::core::Core;
use crate::http::Shape;
use crate::registry::Kind;
use crate::tls::{Tls, TlsLane};

/// All rooms of a server, as long as somebody is in them.
#[derive(Default)]
pub(crate) struct Rooms {
    open: Mutex<HashMap<Key, Weak<Room>>>,
    pub(super) hands: Hands<Telling>,
}

/// What decides what is told, and how.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    prefix: Box<str>,
    /// The address of a kind, which a room keeps: a definition that changes is a new kind.
    kind: usize,
    shape: Shape,
}

/// Watches that are told the same, and their crew, which ends with it.
struct Room {
    crew: Arc<Crew<Tls>>,
    task: AbortHandle,
}

impl Drop for Room {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A place in a room, which lasts as long as somebody has one.
pub(super) struct Place {
    // Dropped first, so that a room that ends is empty.
    seated: Seated<Tls>,
    _room: Arc<Room>,
}

impl Place {
    /// Resolves when the watch has to go on by itself.
    pub(super) async fn lost(&self) {
        self.seated.unseated().await;
    }

    /// Says up to where the watch was told, and tells no more.
    pub(super) fn leave(self) -> Revision {
        self.seated.rise()
    }
}

/// A place for a watch that has told everything there is, or none if it has to go on by itself for now.
pub(super) fn enter(
    core: &Arc<Core>,
    lane: &Arc<TlsLane>,
    watch: &Watch,
    writer: &Writer,
) -> Option<Place> {
    let room = find(core, watch, writer)?;
    let seated = room.crew.admit(lane, watch.progress())?;
    Some(Place {
        seated,
        _room: room,
    })
}

/// The room of a watch, opened if there is none.
fn find(core: &Arc<Core>, watch: &Watch, writer: &Writer) -> Option<Arc<Room>> {
    let twin = writer.twin()?;
    let key = Key {
        prefix: watch.prefix().into(),
        kind: std::ptr::from_ref::<Kind>(writer.kind()).addr(),
        shape: writer.shape(),
    };
    let mut open = core
        .rooms
        .open
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    let found = open.get(&key).and_then(Weak::upgrade);
    if let Some(room) = found.filter(|room| !room.crew.has_ended()) {
        return Some(room);
    }
    let after = watch.progress();
    let events = core.store.watch(watch.prefix(), after).ok()?;
    let crew = Arc::new(Crew::new(after));
    let task = tokio::spawn(crew::run(crew.clone(), core.clone(), events, twin));
    let room = Arc::new(Room {
        crew,
        task: task.abort_handle(),
    });
    open.retain(|_, room| room.strong_count() > 0);
    open.insert(key, Arc::downgrade(&room));
    Some(room)
}
