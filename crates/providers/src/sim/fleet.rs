//! The machines of the simulated platform, found by id and by key without a walk over all.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
};

use jiff::Timestamp;
use machinist_core::machine::{Facts, MachineId, MachineKey};

use super::machine::Machine;

/// Which machines are meant.
#[derive(Debug, Clone, Copy)]
pub(super) enum Among<'a> {
    /// Those that carry this key.
    Key(&'a MachineKey),
    /// Those that carry one of these keys.
    Keys(&'a HashSet<&'a MachineKey>),
    /// Those whose key is of this cluster.
    Cluster(&'a str),
}

impl Among<'_> {
    fn has(self, key: &MachineKey) -> bool {
        match self {
            Among::Key(wanted) => key == wanted,
            Among::Keys(wanted) => wanted.contains(key),
            Among::Cluster(cluster) => key.cluster() == cluster,
        }
    }
}

/// The machines. Those whose removal is over are not there, even if nobody has looked since.
#[derive(Debug, Default)]
pub(super) struct Fleet {
    by_id: BTreeMap<MachineId, Machine>,
    ids: HashMap<MachineKey, Vec<MachineId>>,
    /// The machine that was changed last, and what it was before, for stale looks.
    last: Option<(MachineId, Option<Facts>)>,
    /// The tags of the machine that came last.
    tags: Option<Arc<BTreeMap<String, String>>>,
}

impl Fleet {
    pub(super) fn insert(&mut self, mut machine: Machine) {
        machine.share(&mut self.tags);
        let (id, key) = (machine.bare.id.clone(), machine.bare.key.clone());
        let twins = self.ids.entry(key);
        // Nearly all have none: a list of one takes a quarter of what an empty one would grow to.
        twins
            .or_insert_with(|| Vec::with_capacity(1))
            .push(id.clone());
        self.by_id.insert(id, machine);
    }

    pub(super) fn remove(&mut self, id: &MachineId) {
        let Some(machine) = self.by_id.remove(id) else {
            return;
        };
        let key = machine.bare.key;
        if let Some(ids) = self.ids.get_mut(&key) {
            ids.retain(|of| of != id);
            if ids.is_empty() {
                self.ids.remove(&key);
            }
        }
    }

    /// Takes a machine away when its removal is over.
    pub(super) fn clear_away(&mut self, id: &MachineId) {
        if self.by_id.get(id).is_some_and(Machine::is_gone) {
            self.remove(id);
        }
    }

    pub(super) fn get_mut(&mut self, id: &MachineId) -> Option<&mut Machine> {
        self.by_id.get_mut(id).filter(|machine| !machine.is_gone())
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &Machine> {
        self.by_id.values().filter(|machine| !machine.is_gone())
    }

    /// The machines that carry a key.
    pub(super) fn of(&self, key: &MachineKey) -> impl Iterator<Item = &Machine> {
        let ids = self.ids.get(key).into_iter().flatten();
        ids.filter_map(|id| self.by_id.get(id))
            .filter(|machine| !machine.is_gone())
    }

    /// Keeps what a machine is now, before it is changed.
    pub(super) fn remember(&mut self, id: &MachineId) {
        let now = self.by_id.get(id).map(|machine| machine.facts());
        self.last = Some((id.clone(), now));
    }

    /// What there was before the last change.
    pub(super) fn before(&self, among: Among<'_>) -> Vec<Facts> {
        let changed = self.last.as_ref().map(|(id, _)| id);
        let others = self.values();
        let others = others.filter(|machine| Some(&machine.bare.id) != changed);
        let others = others.filter(|machine| among.has(&machine.bare.key));
        let old = self.last.iter().filter_map(|(_, before)| before.clone());
        let old = old.filter(|facts| among.has(&facts.key));
        others.map(Machine::facts).chain(old).collect()
    }

    /// Looks at machines, which lets those move on that count the looks; the keys are of those
    /// that changed by it.
    pub(super) fn look(
        &mut self,
        among: Among<'_>,
        now: Timestamp,
    ) -> (Vec<Facts>, Vec<MachineKey>) {
        let ids: Vec<MachineId> = match among {
            Among::Key(key) => self.ids.get(key).cloned().unwrap_or_default(),
            Among::Keys(keys) => {
                let ids = keys.iter().filter_map(|key| self.ids.get(key));
                ids.flatten().cloned().collect()
            }
            Among::Cluster(_) => self.by_id.keys().cloned().collect(),
        };
        let (mut found, mut changed) = (Vec::new(), Vec::new());
        for id in ids {
            let Some(machine) = self.by_id.get_mut(&id) else {
                continue;
            };
            if !among.has(&machine.bare.key) {
                continue;
            }
            if machine.advance(true, now) {
                changed.push(machine.bare.key.clone());
            }
            match machine.is_gone() {
                true => self.remove(&id),
                false => found.push(machine.facts()),
            }
        }
        (found, changed)
    }
}
