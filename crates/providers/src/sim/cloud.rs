//! The simulated platform itself: its machines, its clock and its account of every call.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use machinist_core::{
    machine::{Facts, MachineId, MachineKey, Power, PowerState, Want},
    provider::{Change, Health, ProviderError, ProviderResult},
};
use tokio::{sync::broadcast, time::sleep};

use super::{
    fault::{Admitted, Fault},
    machine::Machine,
    options::SimOptions,
};

/// A platform in memory; clones are the same platform.
#[derive(Debug, Clone)]
pub struct SimCloud {
    options: Arc<SimOptions>,
    state: Arc<Mutex<State>>,
    hints: broadcast::Sender<MachineKey>,
}

/// One verb of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verb {
    /// `probe`
    Probe,
    /// `find`
    Find,
    /// `list`
    List,
    /// `create`
    Create,
    /// `update`
    Update,
    /// `delete`
    Delete,
    /// `Console::output`
    Console,
}

/// One call that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Its number, from zero.
    pub index: u64,
    /// What was asked.
    pub verb: Verb,
    /// About which machine.
    pub key: Option<MachineKey>,
    /// What was made to go wrong.
    pub fault: Option<Fault>,
}

#[derive(Debug, Default)]
struct State {
    machines: BTreeMap<String, Machine>,
    /// What was there before the last change, for stale looks.
    before: Vec<Facts>,
    made: u64,
    calls: Vec<Call>,
    faults: HashMap<u64, Fault>,
    next: HashMap<Verb, Vec<Fault>>,
    peak: usize,
}

impl SimCloud {
    /// An empty platform.
    pub fn new(options: SimOptions) -> SimCloud {
        SimCloud {
            options: Arc::new(options),
            state: Arc::default(),
            hints: broadcast::Sender::new(1024),
        }
    }

    /// Makes call number `index` go wrong.
    pub fn fault_at(&self, index: u64, fault: Fault) {
        self.state().faults.insert(index, fault);
    }

    /// Makes the next call of this verb go wrong; several are used up in turn.
    pub fn fault_next(&self, verb: Verb, fault: Fault) {
        self.state().next.entry(verb).or_default().push(fault);
    }

    /// Every call so far.
    pub fn calls(&self) -> Vec<Call> {
        self.state().calls.clone()
    }

    /// How many machines exist.
    pub fn count(&self) -> usize {
        self.state().machines.len()
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

    /// Changes a machine behind everybody's back; it is removed when `change` says false.
    pub fn meddle(&self, id: &MachineId, change: impl FnOnce(Option<&mut Facts>) -> bool) {
        let mut state = self.state();
        let machine = state.machines.get_mut(id.as_str());
        let key = machine.as_ref().map(|machine| machine.facts.key.clone());
        let keep = change(machine.map(|machine| &mut machine.facts));
        if !keep {
            state.machines.remove(id.as_str());
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
        verb: Verb,
        key: Option<&MachineKey>,
    ) -> ProviderResult<Admitted> {
        let fault = {
            let mut state = self.state();
            let index = state.calls.len() as u64;
            let next = state.next.get_mut(&verb).filter(|queue| !queue.is_empty());
            let next = next.map(|queue| queue.remove(0));
            let fault = state.faults.remove(&index).or(next);
            state.calls.push(Call {
                index,
                verb,
                key: key.cloned(),
                fault,
            });
            fault
        };
        sleep(self.options.latency).await;
        Admitted::admit(format!("calling {verb:?} at the simulated platform"), fault).await
    }

    pub(super) fn health(&self) -> Health {
        Health {
            endpoint: format!("sim://{}", self.options.node),
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            ..Health::default()
        }
    }

    pub(super) fn look(&self, stale: bool, is_wanted: impl Fn(&MachineKey) -> bool) -> Vec<Facts> {
        let mut state = self.state();
        if stale {
            return state
                .before
                .iter()
                .filter(|facts| is_wanted(&facts.key))
                .cloned()
                .collect();
        }
        let mut changed = Vec::new();
        let ids: Vec<String> = state.machines.keys().cloned().collect();
        for id in ids {
            if let Some(machine) = state.machines.get_mut(&id)
                && is_wanted(&machine.facts.key)
                && machine.advance(true)
            {
                changed.push(machine.facts.key.clone());
            }
        }
        state.machines.retain(|_, machine| !machine.is_gone());
        let found = state.machines.values().map(|machine| &machine.facts);
        let found = found
            .filter(|facts| is_wanted(&facts.key))
            .cloned()
            .collect();
        drop(state);
        changed.iter().for_each(|key| self.hint(key));
        found
    }

    pub(super) fn create(&self, key: &MachineKey, want: &Want) -> ProviderResult<Facts> {
        if let (Some(images), Some(image)) = (&self.options.images, &want.image)
            && !images.contains(&image.reference)
        {
            let known: Vec<&str> = images.iter().map(String::as_str).collect();
            return Err(ProviderError::Rejected {
                field: "image",
                value: image.reference.clone(),
                reason: format!("no such image; this platform has {}", known.join(", ")),
            });
        }
        let mut state = self.state();
        if self.options.idempotent
            && let Some(machine) = state
                .machines
                .values()
                .find(|machine| machine.facts.key == *key)
        {
            return Ok(machine.facts.clone());
        }
        if let Some(capacity) = self.options.capacity
            && state.machines.len() >= capacity
        {
            return Err(ProviderError::NoCapacity {
                reason: format!("all {capacity} places are taken"),
            });
        }
        state.remember();
        state.made += 1;
        let id = format!("sim-{}", state.made);
        let mut machine = Machine::new(&id, key, want, &self.options.node, state.made);
        let goal = match want.power {
            Power::On => PowerState::Running,
            Power::Off => PowerState::Stopped,
        };
        machine.go(goal, self.options.transition);
        let facts = machine.facts.clone();
        state.machines.insert(id, machine);
        state.peak = state.peak.max(state.count_of(key));
        drop(state);
        self.hint(key);
        Ok(facts)
    }

    pub(super) fn update(
        &self,
        key: &MachineKey,
        id: &MachineId,
        change: &Change,
    ) -> ProviderResult<()> {
        let mut state = self.state();
        state.owned(key, id)?;
        state.remember();
        let transition = self.options.transition;
        let machine = state.owned(key, id)?;
        match change {
            Change::Power(Power::Off) if machine.facts.power != PowerState::Stopped => {
                machine.facts.power = PowerState::Stopping;
                machine.go(PowerState::Stopped, transition);
            }
            Change::Power(Power::On) if machine.facts.power != PowerState::Running => {
                machine.go(PowerState::Running, transition);
            }
            Change::Restart => {
                machine.facts.power = PowerState::Stopping;
                machine.go(PowerState::Running, transition);
            }
            Change::Power(_) => {}
        }
        drop(state);
        self.hint(key);
        Ok(())
    }

    pub(super) fn delete(&self, key: &MachineKey, id: &MachineId) -> ProviderResult<()> {
        let mut state = self.state();
        state.owned(key, id)?;
        state.remember();
        let transition = self.options.transition;
        let machine = state.owned(key, id)?;
        machine.leave(transition);
        state.machines.retain(|_, machine| !machine.is_gone());
        drop(state);
        self.hint(key);
        Ok(())
    }

    pub(super) fn console(&self, key: &MachineKey, id: &MachineId) -> ProviderResult<String> {
        let mut state = self.state();
        let machine = state.owned(key, id)?;
        machine.advance(false);
        Ok(machine.console.clone())
    }

    fn hint(&self, key: &MachineKey) {
        // Without a follower there is nobody to tell.
        let _ = self.hints.send(key.clone());
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn count_of(&self, key: &MachineKey) -> usize {
        self.machines
            .values()
            .filter(|machine| machine.facts.key == *key)
            .count()
    }

    fn remember(&mut self) {
        self.before = self
            .machines
            .values()
            .map(|machine| machine.facts.clone())
            .collect();
    }

    fn owned(&mut self, key: &MachineKey, id: &MachineId) -> ProviderResult<&mut Machine> {
        match self.machines.get_mut(id.as_str()) {
            None => Err(ProviderError::NotFound {
                what: format!("machine {id}"),
            }),
            Some(machine) if machine.facts.key != *key => Err(ProviderError::NotOwned {
                id: id.to_string(),
                key: key.to_string(),
            }),
            Some(machine) => Ok(machine),
        }
    }
}
