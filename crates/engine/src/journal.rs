//! What is told of objects, for the log collectors that Vitistacks name.
//!
//! Everything that becomes an event, and every phase that a machine enters, is also an entry here
//! where the Vitistack of the namespace has logs collected. Telling never waits: what does not fit
//! into the queue is dropped and counted. Where entries go from there is left to the program around
//! it, which says how that went.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use jiff::Timestamp;
use kube::runtime::reflector::Store;
use machinist_api::vitistack::Vitistack;
use machinist_core::dialect::vitistack::{governing, log_endpoint};
use tokio::sync::mpsc;

use crate::{Metrics, trace::TraceId};

/// How many endpoints are remembered: one that nobody names any more is forgotten with all others.
const REMEMBERED: usize = 256;

/// One thing that was told of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// When.
    pub at: Timestamp,
    /// Whether somebody should look into it.
    pub warning: bool,
    /// The object's kind.
    pub kind: String,
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its UID.
    pub uid: String,
    /// A stable word for what happened.
    pub reason: String,
    /// A stable word for what was done, if anything was.
    pub action: Option<String>,
    /// What happened, for people.
    pub note: String,
    /// The trace that it is part of.
    pub trace: Option<TraceId>,
}

/// An entry on its way to an endpoint.
#[derive(Debug)]
pub struct Letter {
    /// Where it goes, as it is declared.
    pub endpoint: Arc<str>,
    /// What it says.
    pub entry: Entry,
}

/// Takes entries; off by default, and cheap to clone.
#[derive(Clone, Default)]
pub struct Journal(Option<Arc<Inner>>);

struct Inner {
    queue: mpsc::Sender<Letter>,
    /// How the last letters to each endpoint fared.
    standings: Mutex<HashMap<Arc<str>, Standing>>,
    metrics: Metrics,
}

/// How the last letters to an endpoint fared: they arrived, or why they did not.
pub type Standing = Result<(), String>;

impl Journal {
    /// One that is on, and the queue from which its letters are to be taken, which holds so many.
    pub fn new(capacity: usize, metrics: Metrics) -> (Journal, mpsc::Receiver<Letter>) {
        let (queue, letters) = mpsc::channel(capacity);
        let inner = Inner {
            queue,
            standings: Mutex::default(),
            metrics,
        };
        (Journal(Some(Arc::new(inner))), letters)
    }

    /// Whoever sends letters says how those to an endpoint fared, and how many they were.
    pub fn fared(&self, endpoint: &Arc<str>, standing: Standing, count: usize) {
        let Some(inner) = &self.0 else {
            return;
        };
        let outcome = if standing.is_ok() { "sent" } else { "refused" };
        inner.metrics.logs(outcome, count);
        let mut standings = inner.standings();
        if standings.len() >= REMEMBERED && !standings.contains_key(endpoint) {
            standings.clear();
        }
        standings.insert(endpoint.clone(), standing);
    }

    /// So many letters were thrown away, because those before them are still under way.
    pub fn dropped(&self, count: usize) {
        if let Some(inner) = &self.0 {
            inner.metrics.logs("dropped", count);
        }
    }

    /// How the last letters to an endpoint fared; nothing when none was sent.
    pub(crate) fn standing(&self, endpoint: &str) -> Option<Standing> {
        let inner = self.0.as_ref()?;
        inner.standings().get(endpoint).cloned()
    }

    /// Sends an entry to where the Vitistack of its namespace has logs collected.
    pub(crate) fn tell(&self, stacks: &Store<Vitistack>, entry: impl FnOnce() -> Entry) {
        let Some(inner) = &self.0 else {
            return;
        };
        let all = stacks.state();
        // Most have no logs collected, and make no entry.
        if all.iter().all(|stack| log_endpoint(stack).is_none()) {
            return;
        }
        let entry = entry();
        let here = all.iter().map(AsRef::as_ref);
        let here = here.filter(|stack| stack.metadata.namespace.as_ref() == Some(&entry.namespace));
        let Some(endpoint) = governing(here).and_then(log_endpoint) else {
            return;
        };
        let letter = Letter {
            endpoint: endpoint.into(),
            entry,
        };
        if inner.queue.try_send(letter).is_err() {
            self.dropped(1);
        }
    }
}

impl Inner {
    fn standings(&self) -> MutexGuard<'_, HashMap<Arc<str>, Standing>> {
        self.standings
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
