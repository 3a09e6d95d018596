//! How much each namespace has, kept up to date machine by machine, and which namespaces changed.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use kube::{Resource, runtime::watcher};
use machinist_core::{dialect::vitistack::Totals, machine::Uid};
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
    /// Namespace and storage of each machine.
    machines: HashMap<Uid, (Arc<str>, u64)>,
    namespaces: HashMap<Arc<str>, Totals>,
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
        let uid = machine.short_uid();
        let namespace = machine.meta().namespace.as_deref().unwrap_or_default();
        let mut state = self.lock();
        // Machines share the name of their namespace.
        let known = state.namespaces.get_key_value(namespace);
        let shared = known.map_or_else(|| namespace.into(), |(known, _)| known.clone());
        let now = stays.then(|| (shared.clone(), machine.take().storage));
        let before = match &now {
            Some(now) => state.machines.insert(uid, now.clone()),
            None => state.machines.remove(&uid),
        };
        if before == now {
            return;
        }
        let totals = state.namespaces.entry(shared).or_default();
        if let Some((_, storage)) = before {
            totals.machines = totals.machines.saturating_sub(1);
            totals.storage = totals.storage.saturating_sub(storage);
        }
        if let Some((_, storage)) = now {
            totals.machines += 1;
            totals.storage = totals.storage.saturating_add(storage);
        }
        drop(state);
        self.touch(namespace.to_owned());
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
