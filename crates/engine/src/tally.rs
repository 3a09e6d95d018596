//! How much each namespace has, kept up to date machine by machine, and which namespaces changed.

use std::{
    collections::{HashMap, HashSet},
    sync::{Mutex, MutexGuard, PoisonError},
};

use kube::{ResourceExt, runtime::watcher};
use machinist_core::dialect::vitistack::Totals;
use tokio::sync::Notify;

use crate::packed::Packed;

/// How much each namespace has.
#[derive(Default)]
pub(crate) struct Tally {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    /// Namespace and storage of each machine, by UID.
    machines: HashMap<String, (String, u64)>,
    namespaces: HashMap<String, Totals>,
    changed: HashSet<String>,
}

impl Tally {
    /// A machine came, changed or went.
    pub(crate) fn machine_event(&self, event: &watcher::Event<Packed>) {
        let (machine, stays) = match event {
            watcher::Event::InitApply(machine) | watcher::Event::Apply(machine) => (machine, true),
            watcher::Event::Delete(machine) => (machine, false),
            watcher::Event::Init | watcher::Event::InitDone => return,
        };
        let uid = machine.uid().unwrap_or_default();
        let namespace = machine.namespace().unwrap_or_default();
        let now = stays.then(|| (namespace.clone(), machine.take().storage));
        let mut state = self.lock();
        let before = match &now {
            Some(now) => state.machines.insert(uid, now.clone()),
            None => state.machines.remove(&uid),
        };
        if before == now {
            return;
        }
        let totals = state.namespaces.entry(namespace.clone()).or_default();
        if let Some((_, storage)) = before {
            totals.machines = totals.machines.saturating_sub(1);
            totals.storage = totals.storage.saturating_sub(storage);
        }
        if let Some((_, storage)) = now {
            totals.machines += 1;
            totals.storage = totals.storage.saturating_add(storage);
        }
        drop(state);
        self.touch(namespace);
    }

    /// Something else about a namespace changed.
    pub(crate) fn touch(&self, namespace: String) {
        self.lock().changed.insert(namespace);
        self.changed.notify_one();
    }

    /// What a namespace has.
    pub(crate) fn totals(&self, namespace: &str) -> Totals {
        let state = self.lock();
        state.namespaces.get(namespace).cloned().unwrap_or_default()
    }

    /// Waits until a namespace changed.
    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// The namespaces that changed; the empty name stands for all.
    pub(crate) fn take_changed(&self) -> HashSet<String> {
        std::mem::take(&mut self.lock().changed)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
