//! Which calls go wrong, and an account of all of them. It outlives the drivers that it strikes,
//! as a platform outlives the processes that call it.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use machinist_core::{
    machine::{Facts, MachineKey},
    provider::ProviderResult,
};

use super::{Admitted, Fault};

/// Decides what goes wrong with a call, given its number and verb.
pub type Chaos = Box<dyn FnMut(u64, Verb) -> Option<Fault> + Send>;

/// One verb of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verb {
    /// `probe`
    Probe,
    /// `inventory`
    Inventory,
    /// `find`
    Find,
    /// `get`
    Get,
    /// `find_all`
    FindAll,
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
    /// Whether the platform has done what was asked, be the answer lost or late.
    pub took_effect: bool,
}

/// Which calls go wrong; clones are the same script.
#[derive(Clone, Default)]
pub struct Script(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    made: u64,
    calls: Vec<Call>,
    /// Whether no call is written down.
    forgetful: bool,
    faults: HashMap<u64, Fault>,
    next: HashMap<Verb, Vec<Fault>>,
    chaos: Option<Chaos>,
    /// What the last look at each machine showed, and what was there before its last change.
    seen: HashMap<MachineKey, Vec<Facts>>,
    before: HashMap<MachineKey, Vec<Facts>>,
}

impl std::fmt::Debug for Script {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Script").finish_non_exhaustive()
    }
}

impl Script {
    /// One that counts calls and writes none of them down, for a platform that runs for long.
    pub(crate) fn forgetful() -> Script {
        let state = State {
            forgetful: true,
            ..State::default()
        };
        Script(Arc::new(Mutex::new(state)))
    }

    /// Makes call number `index` go wrong.
    pub fn fault_at(&self, index: u64, fault: Fault) {
        self.state().faults.insert(index, fault);
    }

    /// Makes the next call of this verb go wrong; several are used up in turn.
    pub fn fault_next(&self, verb: Verb, fault: Fault) {
        self.state().next.entry(verb).or_default().push(fault);
    }

    /// Has every call judged by this from now on; `None` lets all of them pass.
    pub fn set_chaos(&self, chaos: Option<Chaos>) {
        self.state().chaos = chaos;
    }

    /// Every call so far.
    pub fn calls(&self) -> Vec<Call> {
        self.state().calls.clone()
    }

    /// How many calls were made.
    pub fn count(&self) -> u64 {
        self.state().made
    }

    /// The first call that was made to go wrong.
    pub fn struck(&self) -> Option<Call> {
        let state = self.state();
        state.calls.iter().find(|c| c.fault.is_some()).cloned()
    }

    /// Writes a call down, and judges it.
    pub(crate) fn begin(&self, verb: Verb, key: Option<&MachineKey>) -> Call {
        let mut state = self.state();
        let index = state.made;
        state.made += 1;
        let next = state.next.get_mut(&verb).filter(|queue| !queue.is_empty());
        let next = next.map(|queue| queue.remove(0));
        let chaos = state.chaos.as_mut().and_then(|chaos| chaos(index, verb));
        let call = Call {
            index,
            verb,
            key: key.cloned(),
            fault: state.faults.remove(&index).or(next).or(chaos),
            took_effect: false,
        };
        if !state.forgetful {
            state.calls.push(call.clone());
        }
        call
    }

    /// Lets a call through to the platform of this name, or refuses it.
    pub(crate) async fn admit(&self, call: &Call, platform: &str) -> ProviderResult<Admitted> {
        if let Some(Fault::Held(time)) = call.fault {
            tokio::time::sleep(time).await;
        }
        let what = format!("calling {:?} at the {platform} platform", call.verb);
        Admitted::admit(self.clone(), call, what)
    }

    pub(crate) fn took_effect(&self, index: u64) {
        let index = usize::try_from(index).unwrap_or(usize::MAX);
        if let Some(call) = self.state().calls.get_mut(index) {
            call.took_effect = true;
        }
    }

    /// Keeps what a look showed.
    pub(super) fn saw(&self, key: &MachineKey, facts: &[Facts]) {
        self.state().seen.insert(key.clone(), facts.to_vec());
    }

    /// Something about this machine is about to change: what was seen last is old from now on.
    pub(super) fn changes(&self, key: &MachineKey) {
        let mut state = self.state();
        let seen = state.seen.get(key).cloned().unwrap_or_default();
        state.before.insert(key.clone(), seen);
    }

    /// What was there before the last change.
    pub(super) fn before(&self, key: &MachineKey) -> Vec<Facts> {
        self.state().before.get(key).cloned().unwrap_or_default()
    }

    /// Shows of each of these machines what was there before its last change.
    pub(super) fn turn_back(&self, found: &mut Vec<Facts>, among: impl Fn(&MachineKey) -> bool) {
        let state = self.state();
        found.retain(|facts| !state.before.contains_key(&facts.key));
        let before = state.before.iter().filter(|(key, _)| among(key));
        found.extend(before.flat_map(|(_, facts)| facts.iter().cloned()));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
