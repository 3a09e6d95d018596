//! The connected providers, by the object that declares them.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, RwLock},
};

use jiff::Timestamp;
use machinist_core::{machine::Trouble, provider::Provider};
use tokio::task::AbortHandle;

use crate::track::Track;

/// Namespace and name of a MachineProvider.
pub(crate) type ProviderName = (String, String);

/// One connected provider.
#[derive(Clone)]
pub(crate) struct Connection {
    /// What it was declared as; another fingerprint means another connection, which is news to
    /// machines.
    pub(crate) fingerprint: String,
    /// The versions of the Secrets that it was built from; others mean another connection too, and
    /// are no machine's business.
    pub(crate) secrets: Vec<Option<String>>,
    /// When what the Secrets hold stops being valid, where that is known.
    pub(crate) expires: Option<Timestamp>,
    /// The driver, metered.
    pub(crate) provider: Arc<dyn Provider>,
    /// Forward the platform's hints and look for changes; they end with the connection.
    #[expect(dead_code, reason = "held for its Drop")]
    pub(crate) watching: Vec<Watching>,
}

/// A task that watches the platform, ended when the last holder lets go.
#[derive(Clone)]
pub(crate) struct Watching(#[expect(dead_code, reason = "held for its Drop")] Arc<AbortOnDrop>);

struct AbortOnDrop(AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Watching {
    pub(crate) fn new(task: AbortHandle) -> Watching {
        Watching(Arc::new(AbortOnDrop(task)))
    }
}

/// How the last try to connect ended.
pub(crate) type Attempt = Result<Connection, Trouble>;

/// The connected providers, and those that could not be.
#[derive(Default)]
pub(crate) struct Connections {
    by_name: RwLock<HashMap<ProviderName, Attempt>>,
    tracks: Mutex<HashMap<ProviderName, Arc<Track>>>,
}

impl Connections {
    /// How the last try ended; nothing when there was none yet.
    pub(crate) fn get(&self, name: &ProviderName) -> Option<Attempt> {
        self.by_name
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(name)
            .cloned()
    }

    pub(crate) fn put(&self, name: ProviderName, attempt: Attempt) {
        self.by_name
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(name, attempt);
    }

    pub(crate) fn remove(&self, name: &ProviderName) {
        self.by_name
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(name);
        self.tracks
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(name);
    }

    /// What is remembered of the calls to a provider.
    pub(crate) fn track(&self, name: &ProviderName) -> Arc<Track> {
        let mut tracks = self.tracks.lock().unwrap_or_else(PoisonError::into_inner);
        tracks.entry(name.clone()).or_default().clone()
    }
}
