//! How much at once: requests, changes, watches and bytes of bodies, with a permit for each that
//! gives its place back when it is dropped.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// What a server takes at once, and how long it waits.
///
/// The numbers of requests are those of kube-apiserver. Callers in the group `system:masters` pass
/// them, as there; watches and bytes are bounded for everybody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Requests that only read.
    pub reads: usize,
    /// Requests that change something.
    pub changes: usize,
    /// Open watches.
    pub watches: usize,
    /// Open watches of one client.
    pub watches_per_client: usize,
    /// Bytes of request bodies that are held in memory.
    pub body_bytes: usize,
    /// Open connections; more wait in the system's queue.
    pub connections: usize,
    /// The time of one request, from its headers to its answer; watches have their own.
    pub request_time: Duration,
    /// The time for a TLS handshake.
    pub handshake_time: Duration,
    /// The time for the headers of a request.
    pub header_time: Duration,
    /// How long a connection may stay open without a request.
    pub idle_time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            reads: 400,
            changes: 200,
            watches: 16_384,
            watches_per_client: 8_192,
            body_bytes: 64 * 1024 * 1024,
            connections: 4096,
            request_time: Duration::from_secs(60),
            handshake_time: Duration::from_secs(10),
            header_time: Duration::from_secs(32),
            idle_time: Duration::from_secs(90),
        }
    }
}

/// A number of places.
#[derive(Debug)]
struct Places {
    taken: AtomicUsize,
    all: usize,
}

impl Places {
    fn new(all: usize) -> Arc<Self> {
        Arc::new(Self {
            taken: AtomicUsize::new(0),
            all,
        })
    }

    fn try_take(self: &Arc<Self>, count: usize) -> bool {
        let take = |taken: usize| taken.checked_add(count).filter(|taken| *taken <= self.all);
        self.taken
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take)
            .is_ok()
    }

    fn give_back(&self, count: usize) {
        self.taken.fetch_sub(count, Ordering::Relaxed);
    }
}

/// One place among [`Places`], until it is dropped.
#[derive(Debug)]
pub(crate) struct Permit(Arc<Places>);

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.give_back(1);
    }
}

/// A watch's place, in all and among its client's.
#[derive(Debug)]
pub(crate) struct WatchPermit {
    _place: Permit,
    client: String,
    clients: Arc<Clients>,
}

impl Drop for WatchPermit {
    fn drop(&mut self) {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = clients.get_mut(&self.client) {
            *open -= 1;
            if *open == 0 {
                clients.remove(&self.client);
            }
        }
    }
}

type Clients = Mutex<HashMap<String, usize>>;

/// The bytes of one request's body, which count until this is dropped.
#[derive(Debug)]
pub(crate) struct Reservation {
    places: Arc<Places>,
    bytes: AtomicUsize,
}

impl Reservation {
    /// Counts more bytes; false when there is no room for them.
    pub(crate) fn grow(&self, bytes: usize) -> bool {
        let taken = self.places.try_take(bytes);
        if taken {
            self.bytes.fetch_add(bytes, Ordering::Relaxed);
        }
        taken
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.places.give_back(self.bytes.load(Ordering::Relaxed));
    }
}

/// The state of all limits of one server.
#[derive(Debug)]
pub(crate) struct Gate {
    pub(crate) limits: Limits,
    reads: Arc<Places>,
    changes: Arc<Places>,
    watches: Arc<Places>,
    clients: Arc<Clients>,
    bytes: Arc<Places>,
}

impl Gate {
    /// A gate through which nobody has gone yet.
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            reads: Places::new(limits.reads),
            changes: Places::new(limits.changes),
            watches: Places::new(limits.watches),
            clients: Arc::default(),
            bytes: Places::new(limits.body_bytes),
            limits,
        }
    }

    /// A place for a request that is answered soon.
    pub(crate) fn request(&self, changes: bool) -> Option<Permit> {
        let places = if changes { &self.changes } else { &self.reads };
        places.try_take(1).then(|| Permit(places.clone()))
    }

    /// A place for a watch of this client.
    pub(crate) fn watch(&self, client: &str) -> Option<WatchPermit> {
        let place = self
            .watches
            .try_take(1)
            .then(|| Permit(self.watches.clone()))?;
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        let open = clients.entry(client.to_owned()).or_default();
        if *open >= self.limits.watches_per_client {
            return None;
        }
        *open += 1;
        Some(WatchPermit {
            _place: place,
            client: client.to_owned(),
            clients: self.clients.clone(),
        })
    }

    /// Room for a body that is about to be read.
    pub(crate) fn body(&self) -> Reservation {
        Reservation {
            places: self.bytes.clone(),
            bytes: AtomicUsize::new(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_given_back() {
        let gate = Gate::new(Limits {
            reads: 1,
            changes: 0,
            watches: 3,
            watches_per_client: 2,
            body_bytes: 10,
            ..Limits::default()
        });
        let first = gate.request(false);
        assert!(first.is_some() && gate.request(false).is_none() && gate.request(true).is_none());
        drop(first);
        assert!(gate.request(false).is_some());

        let watches = [gate.watch("a"), gate.watch("a")];
        assert!(watches.iter().all(Option::is_some) && gate.watch("a").is_none());
        let other = gate.watch("b");
        assert!(other.is_some() && gate.watch("c").is_none());
        drop((watches, other));
        assert!(gate.watch("a").is_some());
        assert!(gate.clients.lock().unwrap().is_empty());

        let body = gate.body();
        assert!(body.grow(6) && !body.grow(5) && body.grow(4));
        assert!(!gate.body().grow(1) && !gate.body().grow(usize::MAX));
        drop(body);
        assert!(gate.body().grow(10));
    }
}
