//! Where machines that name no provider are placed, and which of them wait for a place.
//!
//! It keeps the scheduler's view of all providers up to date from what the controllers see. The
//! choice itself is the scheduler's, and making it durable is the machine controller's.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use kube::{
    ResourceExt,
    runtime::{reflector::ObjectRef, watcher},
};
use machinist_api::vitistack::{Machine, MachineProvider};
use machinist_core::{
    dialect::vitistack::{ProviderQuery, demand, offer},
    machine::Uid,
    place::{Demand, Placement, Sites, Standing},
    provider::Health,
};

use crate::{
    connections::ProviderName,
    packed::{self, Packed},
};

/// The scheduler's view.
#[derive(Default)]
pub(crate) struct Placing {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    sites: Sites,
    /// What the last look at each provider gave.
    looks: HashMap<ProviderName, (Standing, Option<Health>)>,
    /// The most machines of a namespace on one provider.
    per_provider: HashMap<String, u64>,
    /// Machines without a place, by UID.
    waiting: HashMap<Uid, ObjectRef<Packed>>,
}

/// Machines that may have a place now.
pub(crate) type Woken = Vec<ObjectRef<Packed>>;

impl Placing {
    /// A provider's declaration came, changed or went.
    pub(crate) fn provider_event(&self, event: &watcher::Event<MachineProvider>) -> Woken {
        let mut state = self.lock();
        let news = match event {
            watcher::Event::InitApply(provider) | watcher::Event::Apply(provider) => {
                let name = name_of(provider);
                let (standing, health) = state.looks.get(&name).cloned().unwrap_or_default();
                let offer = offer(provider, standing, health.as_ref());
                state.sites.offer(name, offer)
            }
            watcher::Event::Delete(provider) => {
                let name = name_of(provider);
                state.looks.remove(&name);
                state.sites.withdraw(&name)
            }
            watcher::Event::Init | watcher::Event::InitDone => false,
        };
        state.woken(news)
    }

    /// A provider was looked at.
    pub(crate) fn looked(
        &self,
        provider: &MachineProvider,
        standing: Standing,
        health: Option<&Health>,
    ) -> Woken {
        let mut state = self.lock();
        let name = name_of(provider);
        let offer = offer(provider, standing.clone(), health);
        let news = state.sites.offer(name.clone(), offer);
        state.looks.insert(name, (standing, health.cloned()));
        state.woken(news)
    }

    /// A machine came, changed or went.
    pub(crate) fn machine_event(&self, event: &watcher::Event<Packed>) -> Woken {
        match event {
            watcher::Event::InitApply(machine) | watcher::Event::Apply(machine) => {
                let provider = machine.provider().and_then(|bound| bound.split_once('/'));
                if let (Some((namespace, name)), Some(uid)) = (provider, machine.uid()) {
                    let site = (namespace.to_owned(), name.to_owned());
                    let own = machine.namespace().unwrap_or_default();
                    let mut state = self.lock();
                    state.sites.bound(&uid, &own, &site, machine.take());
                    state.waiting.remove(&Uid::of(&uid));
                }
                Woken::new()
            }
            watcher::Event::Delete(machine) => self.forget(&machine.uid().unwrap_or_default()),
            watcher::Event::Init | watcher::Event::InitDone => Woken::new(),
        }
    }

    /// A namespace may have so many machines on one provider.
    pub(crate) fn limit(&self, namespace: &str, per_provider: Option<u64>) {
        let mut state = self.lock();
        match per_provider {
            Some(most) => state.per_provider.insert(namespace.to_owned(), most),
            None => state.per_provider.remove(namespace),
        };
    }

    /// How many machines a provider has.
    pub(crate) fn machines(&self, provider: &ProviderName) -> u64 {
        let state = self.lock();
        state.sites.load(provider).map_or(0, |load| load.machines)
    }

    /// A machine is gone, and its place is free.
    pub(crate) fn forget(&self, uid: &str) -> Woken {
        let mut state = self.lock();
        state.waiting.remove(&Uid::of(uid));
        let freed = state.sites.forget(uid);
        state.woken(freed)
    }

    /// Chooses a provider for a machine, which counts there from now on. Without one the machine
    /// waits until something changes.
    pub(crate) fn choose(
        &self,
        machine: &Machine,
        query: &ProviderQuery,
        objects: impl FnMut(&ProviderName) -> Result<(), String>,
    ) -> (Demand, Placement) {
        let uid = machine.uid().unwrap_or_default();
        let own = machine.namespace().unwrap_or_default();
        let mut state = self.lock();
        let demand = Demand {
            per_provider: state.per_provider.get(&own).copied(),
            ..demand(machine, query)
        };
        let placement = state
            .sites
            .choose(&uid, &demand, &query.namespaces(&own), objects);
        match placement.chosen {
            Some(_) => state.waiting.remove(&Uid::of(&uid)),
            None => {
                let reference = packed::reference(machine);
                state.waiting.insert(Uid::of(&uid), reference)
            }
        };
        (demand, placement)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn woken(&mut self, news: bool) -> Woken {
        match news {
            // With its room: a crowd that waited once may never do so again.
            true => std::mem::take(&mut self.waiting).into_values().collect(),
            false => Woken::new(),
        }
    }
}

fn name_of(provider: &MachineProvider) -> ProviderName {
    (
        provider.namespace().unwrap_or_default(),
        provider.name_any(),
    )
}
