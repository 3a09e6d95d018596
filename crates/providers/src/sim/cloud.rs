//! The simulated platform itself: its machines, its clock and its account of every call.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use jiff::Timestamp;
use machinist_core::{
    machine::{Facts, MachineId, MachineKey},
    provider::{Counted, Health, Inventory, ProviderError, ProviderResult, Quota, StockImage},
};
use tokio::{
    sync::{Semaphore, broadcast},
    time::{Instant, sleep},
};

use super::{
    Token,
    fleet::{Among, Fleet},
    machine::Machine,
    options::SimOptions,
};
use crate::fault::{Admitted, Call, Chaos, Fault, Script, Verb};

/// A platform in memory; clones are the same platform.
#[derive(Debug, Clone)]
pub struct SimCloud {
    pub(super) options: Arc<SimOptions>,
    state: Arc<Mutex<State>>,
    script: Script,
    hints: broadcast::Sender<MachineKey>,
    born: (Timestamp, Instant),
    places: Option<Arc<Semaphore>>,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) machines: Fleet,
    pub(super) made: u64,
    /// The images that it has; `None` has every image.
    pub(super) images: Option<BTreeSet<String>>,
    /// What a driver must show; `None` lets everybody in.
    token: Option<Token>,
    pub(super) peak: usize,
}

impl SimCloud {
    /// An empty platform.
    pub fn new(options: SimOptions) -> SimCloud {
        SimCloud {
            born: (options.epoch.unwrap_or_else(Timestamp::now), Instant::now()),
            places: options.concurrency.map(Semaphore::new).map(Arc::new),
            script: match options.record {
                true => Script::default(),
                false => Script::forgetful(),
            },
            state: Arc::new(Mutex::new(State {
                images: options.images.clone(),
                ..State::default()
            })),
            options: Arc::new(options),
            hints: broadcast::Sender::new(1024),
        }
    }

    /// The platform's own time; it goes by tokio's clock, which a test may pause.
    pub(super) fn now(&self) -> Timestamp {
        let (epoch, since) = self.born;
        epoch.checked_add(since.elapsed()).unwrap_or(Timestamp::MAX)
    }

    /// Which calls go wrong, and what was called.
    pub fn script(&self) -> &Script {
        &self.script
    }

    /// Has every call judged by this from now on; `None` lets all of them pass.
    pub fn set_chaos(&self, chaos: Option<Chaos>) {
        self.script.set_chaos(chaos);
    }

    /// Everything that exists, as it is now.
    pub fn snapshot(&self) -> Vec<Facts> {
        let state = self.state();
        state.machines.values().map(|m| m.facts()).collect()
    }

    /// Makes call number `index` go wrong.
    pub fn fault_at(&self, index: u64, fault: Fault) {
        self.script.fault_at(index, fault);
    }

    /// Makes the next call of this verb go wrong; several are used up in turn.
    pub fn fault_next(&self, verb: Verb, fault: Fault) {
        self.script.fault_next(verb, fault);
    }

    /// Every call so far.
    pub fn calls(&self) -> Vec<Call> {
        self.script.calls()
    }

    /// How many machines exist.
    pub fn count(&self) -> usize {
        self.state().machines.values().count()
    }

    /// How many machines carry this key.
    pub fn count_of(&self, key: &MachineKey) -> usize {
        self.state().count_of(key)
    }

    /// The most machines that ever carried one key at the same time.
    pub fn peak_duplicates(&self) -> usize {
        self.state().peak
    }

    /// How many machines were ever made.
    pub fn made(&self) -> u64 {
        self.state().made
    }

    /// How often machines were restarted on request.
    pub fn restarts(&self) -> u64 {
        self.state().machines.values().map(|m| m.restarts).sum()
    }

    /// Has these images from now on; `None` has every image.
    pub fn set_images(&self, images: Option<BTreeSet<String>>) {
        self.state().images = images;
    }

    /// Lets in only drivers with this token from now on; `None` lets in all.
    pub fn require(&self, token: Option<String>) {
        self.state().token = token.map(Token::new);
    }

    /// Makes another machine with the same key behind everybody's back.
    pub fn duplicate(&self, id: &MachineId) {
        let mut state = self.state();
        let Some(mut twin) = state.machines.get_mut(id).cloned() else {
            return;
        };
        state.made += 1;
        let key = twin.bare.key.clone();
        twin.bare.id = MachineId::new(format!("sim-{}", state.made));
        state.machines.insert(twin);
        drop(state);
        self.hint(&key);
    }

    /// Changes a machine behind everybody's back; it is removed when `change` says false.
    pub fn meddle(&self, id: &MachineId, change: impl FnOnce(Option<&mut Facts>) -> bool) {
        let mut state = self.state();
        let machine = state.machines.get_mut(id);
        let key = machine.as_ref().map(|machine| machine.bare.key.clone());
        let keep = match machine {
            Some(machine) => machine.change(|facts| change(Some(facts))),
            None => change(None),
        };
        if !keep {
            state.machines.remove(id);
        }
        drop(state);
        if let Some(key) = key {
            self.hint(&key);
        }
    }

    pub(super) fn hints(&self) -> broadcast::Receiver<MachineKey> {
        self.hints.subscribe()
    }

    pub(super) async fn begin(
        &self,
        token: Option<&Token>,
        verb: Verb,
        key: Option<&MachineKey>,
    ) -> ProviderResult<Admitted> {
        let place = match &self.places {
            // The places are never closed.
            Some(places) => places.clone().acquire_owned().await.ok(),
            None => None,
        };
        let call = self.script.begin(verb, key);
        sleep(self.options.latency).await;
        let admitted = self.script.admit(&call, "simulated").await?.hold(place);
        let state = self.state();
        match &state.token {
            Some(wanted) if token != Some(wanted) => Err(ProviderError::Credentials {
                reason: "the token is not the one that the platform expects; write the right one \
                         into the Secret that the provider refers to"
                    .to_owned(),
            }),
            _ => Ok(admitted),
        }
    }

    pub(super) fn health(&self) -> Health {
        Health {
            endpoint: format!("sim://{}", self.options.node),
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            cpus: self.options.cpus,
            memory: self.options.memory,
            storage: self.options.storage,
            ..Health::default()
        }
    }

    pub(super) fn inventory(&self) -> Inventory {
        let state = self.state();
        let image = |name: &String| StockImage {
            id: name.clone(),
            name: name.clone(),
            ..StockImage::default()
        };
        let count = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        Inventory {
            images: state.images.iter().flatten().map(image).collect(),
            quotas: Vec::from_iter(self.options.capacity.map(|capacity| Quota {
                resource: Counted::Machines,
                limit: count(capacity),
                used: Some(count(state.machines.values().count())),
            })),
            ..Inventory::default()
        }
    }

    /// What the platform shows of these machines; each machine notices that it was looked at.
    pub(super) fn look(&self, stale: bool, among: Among<'_>) -> Vec<Facts> {
        let now = self.now();
        let mut state = self.state();
        if stale {
            return state.machines.before(among);
        }
        let (found, changed) = state.machines.look(among, now);
        drop(state);
        changed.iter().for_each(|key| self.hint(key));
        found
    }

    pub(super) fn console(&self, key: &MachineKey, id: &MachineId) -> ProviderResult<String> {
        let now = self.now();
        let mut state = self.state();
        let machine = state.owned(key, id)?;
        machine.advance(false, now);
        Ok(machine.console.clone())
    }

    pub(super) fn hint(&self, key: &MachineKey) {
        // Without a follower there is nobody to tell.
        let _ = self.hints.send(key.clone());
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    pub(super) fn count_of(&self, key: &MachineKey) -> usize {
        self.machines.of(key).count()
    }

    pub(super) fn owned(
        &mut self,
        key: &MachineKey,
        id: &MachineId,
    ) -> ProviderResult<&mut Machine> {
        match self.machines.get_mut(id) {
            None => Err(ProviderError::NotFound {
                what: format!("machine {id}"),
            }),
            Some(machine) if machine.bare.key != *key => Err(ProviderError::NotOwned {
                id: id.to_string(),
                key: key.to_string(),
            }),
            Some(machine) => Ok(machine),
        }
    }
}
