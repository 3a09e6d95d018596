//! What the passes last saw of each machine, so that one list tells which of them changed.
//!
//! A machine that is as declared is not looked at again by itself: its provider's machines are
//! listed once in a while, and a pass is asked for over those that differ from what their last
//! pass saw. So the calls to a provider do not grow with the number of its machines.

use std::{
    collections::{HashMap, HashSet},
    hash::{DefaultHasher, Hash, Hasher},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use kube::{Resource, runtime::reflector::ObjectRef};
use machinist_api::vitistack::Machine;
use machinist_core::machine::{Facts, Uid};
use tokio::sync::{Notify, futures::Notified};

use crate::{connections::ProviderName, packed::Packed};

/// How many machines that are on their way somewhere are looked at each by itself.
const FEW: usize = 16;

/// What was last seen.
#[derive(Default)]
pub(crate) struct Notices {
    known: Mutex<Known>,
    /// Rings when a provider has become busy.
    busy: Notify,
}

#[derive(Default)]
struct Known {
    /// The objects by their UIDs.
    machines: HashMap<Uid, Named>,
    /// The names of their namespaces, which they share.
    namespaces: HashSet<Arc<str>>,
    fleets: HashMap<ProviderName, Fleet>,
}

/// What an object is called.
struct Named {
    namespace: Arc<str>,
    name: Box<str>,
}

impl Named {
    fn reference(&self) -> ObjectRef<Packed> {
        ObjectRef::new(&self.name).within(&self.namespace)
    }
}

/// The machines of one provider, by their objects' UIDs.
#[derive(Default)]
struct Fleet {
    notices: HashMap<Uid, Notice>,
    lively: usize,
}

struct Notice {
    seen: u64,
    /// The version of the object that the pass left behind.
    version: u64,
    /// Another version of it that the last list found in the view.
    suspect: Option<u64>,
    /// Whether it is expected to change soon.
    lively: bool,
}

impl Fleet {
    fn put(&mut self, uid: Uid, notice: Notice) {
        self.lively += usize::from(notice.lively);
        if let Some(before) = self.notices.insert(uid, notice) {
            self.lively -= usize::from(before.lively);
        }
    }

    fn forget(&mut self, uid: Uid) {
        if let Some(before) = self.notices.remove(&uid) {
            self.lively -= usize::from(before.lively);
        }
    }

    fn is_busy(&self) -> bool {
        self.lively > FEW
    }
}

impl Notices {
    /// A pass over a machine begins: whoever has a hint about it from now on is heard.
    pub(crate) fn meet(&self, machine: &impl Resource) {
        let meta = machine.meta();
        let uid = uid_of(machine);
        let mut known = self.lock();
        if known.machines.contains_key(&uid) {
            return;
        }
        let namespace = meta.namespace.as_deref().unwrap_or_default();
        let shared = match known.namespaces.get(namespace) {
            Some(shared) => shared.clone(),
            None => {
                let shared: Arc<str> = namespace.into();
                known.namespaces.insert(shared.clone());
                shared
            }
        };
        let named = Named {
            namespace: shared,
            name: meta.name.as_deref().unwrap_or_default().into(),
        };
        known.machines.insert(uid, named);
    }

    /// Keeps what a pass saw. True when so many machines of the provider are expected to change
    /// that they are better listed than looked at one by one.
    pub(crate) fn put(
        &self,
        machine: &Machine,
        provider: &ProviderName,
        seen: &[Facts],
        lively: bool,
    ) -> bool {
        let notice = Notice {
            seen: sum(seen.iter()),
            version: version(machine),
            suspect: None,
            lively,
        };
        let mut known = self.lock();
        let fleet = known.fleets.entry(provider.clone()).or_default();
        let before = fleet.is_busy();
        fleet.put(uid_of(machine), notice);
        if fleet.is_busy() && !before {
            self.busy.notify_waiters();
        }
        fleet.is_busy() && lively
    }

    /// A pass came no further than the object, and left it behind like this.
    pub(crate) fn left(&self, machine: &Machine, provider: &ProviderName) {
        let mut known = self.lock();
        let fleet = known.fleets.get_mut(provider);
        let uid = uid_of(machine);
        if let Some(notice) = fleet.and_then(|fleet| fleet.notices.get_mut(&uid)) {
            notice.version = version(machine);
            notice.suspect = None;
        }
    }

    /// The machines of a provider whose objects are not as their last pass left them, and were so
    /// at the last list already: somebody else wrote what only the engine knows. One list alone
    /// may find a view that is behind.
    pub(crate) fn overwritten(
        &self,
        provider: &ProviderName,
        view: impl Fn(&ObjectRef<Packed>) -> Option<Arc<Packed>>,
    ) -> Vec<ObjectRef<Packed>> {
        let known = &mut *self.lock();
        let notices = known.fleets.get_mut(provider).into_iter();
        let notices = notices.flat_map(|fleet| &mut fleet.notices);
        let overwritten = notices.filter_map(|(uid, notice)| {
            let reference = known.machines.get(uid)?.reference();
            let now = version(view(&reference)?.as_ref());
            let before = notice.suspect.take();
            if now == notice.version {
                return None;
            }
            notice.suspect = Some(now);
            (before == Some(now)).then_some(reference)
        });
        overwritten.collect()
    }

    /// The object is gone.
    pub(crate) fn forget(&self, uid: &str) {
        let (mut known, uid) = (self.lock(), Uid::of(uid));
        known.machines.remove(&uid);
        known
            .fleets
            .values_mut()
            .for_each(|fleet| fleet.forget(uid));
    }

    /// The object of this UID, if a pass over it has begun.
    pub(crate) fn machine(&self, uid: &str) -> Option<ObjectRef<Packed>> {
        let known = self.lock();
        known.machines.get(&Uid::of(uid)).map(Named::reference)
    }

    /// Whether more than a few machines of a provider are expected to change.
    pub(crate) fn is_busy(&self, provider: &ProviderName) -> bool {
        self.lock().fleets.get(provider).is_some_and(Fleet::is_busy)
    }

    /// Resolves when some provider becomes busy after this was called.
    pub(crate) fn becomes_busy(&self) -> Notified<'_> {
        self.busy.notified()
    }

    /// The machines of a provider that a list shows otherwise than their last pass saw them.
    pub(crate) fn changed(
        &self,
        provider: &ProviderName,
        listed: &[Facts],
    ) -> Vec<ObjectRef<Packed>> {
        let mut shown: HashMap<Uid, u64> = HashMap::with_capacity(listed.len());
        for facts in listed {
            let sum = shown.entry(Uid::of(facts.key.machine())).or_default();
            *sum = sum.wrapping_add(print(facts));
        }
        let known = self.lock();
        let notices = known
            .fleets
            .get(provider)
            .into_iter()
            .flat_map(|f| &f.notices);
        let changed = notices
            .filter(|(uid, notice)| shown.get(uid).copied().unwrap_or_default() != notice.seen);
        changed
            .filter_map(|(uid, _)| known.machines.get(uid).map(Named::reference))
            .collect()
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn uid_of(machine: &impl Resource) -> Uid {
    Uid::of(machine.meta().uid.as_deref().unwrap_or_default())
}

/// Stands for the version of an object.
fn version(machine: &impl Resource) -> u64 {
    let mut hasher = DefaultHasher::new();
    machine.meta().resource_version.hash(&mut hasher);
    hasher.finish()
}

/// A sum over what was seen, whatever its order; nothing seen is zero.
fn sum<'a>(seen: impl Iterator<Item = &'a Facts>) -> u64 {
    seen.fold(0, |sum, facts| sum.wrapping_add(print(facts)))
}

fn print(facts: &Facts) -> u64 {
    let mut hasher = DefaultHasher::new();
    facts.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests;
