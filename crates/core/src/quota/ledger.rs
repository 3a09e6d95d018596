//! The ledger of one namespace: what was counted, and what was promised since.
//!
//! A write that is admitted may still fail, or may not show for a while. So a promise counts until
//! a count shows the object, or until it is so old that its request is over. What was counted and
//! what is promised is together never less than what exists: two writers that agree on the ledger
//! (by compare and swap, or by being one process) never give the same place twice. A count takes
//! time; it may be put in if no other was put in since it was begun, because only a count takes
//! promises out.
//!
//! An object may be made and removed between two counts, and another may follow under its name. So
//! a promise keeps the identity that the API server gave the object of each write: one that was
//! seen before a count was begun and is not in it has gone, and one that was never seen may come.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};

use super::{
    Excess, Limits,
    promise::{Promise, UNKNOWN},
};

/// How long a promise counts without its object, in seconds: twice as long as any API server works
/// on a request.
const PATIENCE: i64 = 120;
/// How many writes that would make the same object are told apart.
const RIVALS: usize = 16;

/// What takes a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Thing {
    /// A machine.
    #[serde(rename = "m")]
    Machine,
    /// A network.
    #[serde(rename = "n")]
    Network,
}

/// What one write would take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// What it is.
    pub thing: Thing,
    /// Its name.
    pub name: String,
    /// Its identity, which no other object of its name ever has.
    pub uid: Option<String>,
    /// Whether the write makes it.
    pub new: bool,
    /// Its storage after the write, in bytes.
    pub storage: u64,
    /// Its storage before the write.
    pub before: u64,
    /// The provider that it names.
    pub provider: Option<String>,
}

/// One object that exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Existing {
    /// What it is.
    pub thing: Thing,
    /// Its name.
    pub name: String,
    /// Its identity.
    pub uid: Option<String>,
    /// Its storage, in bytes.
    pub storage: u64,
    /// The provider that it is on, or names.
    pub provider: Option<String>,
}

/// A count, from when it was begun until it is put in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Census {
    /// What exists; read after the census was begun.
    pub existing: Vec<Existing>,
    round: u64,
    pub(super) serial: u64,
    pub(super) landed: HashSet<String>,
}

/// What was counted, and what was promised since.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ledger {
    /// How often it was counted anew.
    #[serde(default)]
    round: u64,
    /// The number of the last promise.
    #[serde(default)]
    serial: u64,
    machines: u64,
    networks: u64,
    storage: u64,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    providers: BTreeMap<String, u64>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    promised: BTreeMap<String, Promise>,
    /// What is promised in all, so that no judgement looks at every promise.
    #[serde(skip)]
    sums: Sums,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Sums {
    machines: u64,
    networks: u64,
    storage: u64,
    providers: BTreeMap<String, u64>,
}

impl Ledger {
    /// A ledger that was kept as text; nothing when it is none.
    pub fn read(text: &str) -> Option<Ledger> {
        let mut ledger: Ledger = serde_json::from_str(text).ok()?;
        for (key, promise) in std::mem::take(&mut ledger.promised) {
            ledger.enter(key, promise);
        }
        Some(ledger)
    }

    /// The ledger as text.
    pub fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Begins a count. `was_seen` says of an identity whether its object was ever there.
    pub fn begin(&self, was_seen: impl Fn(&str) -> bool) -> Census {
        let promised = self.promised.values();
        let promised = promised.flat_map(|promise| promise.makes.iter().chain(&promise.grows));
        Census {
            existing: Vec::new(),
            round: self.round,
            serial: self.serial,
            landed: promised.filter(|uid| was_seen(uid)).cloned().collect(),
        }
    }

    /// Puts a count in, and says whether it could: not if another was put in since it was begun.
    /// Promises are kept until they are seen there, or known to be over, or too old.
    pub fn count(&mut self, census: &Census, now: i64) -> bool {
        if census.round != self.round {
            return false;
        }
        let mut promised = std::mem::take(&mut self.promised);
        promised.retain(|_, promise| now.saturating_sub(promise.since) < PATIENCE);
        *self = Ledger {
            round: self.round + 1,
            serial: self.serial,
            ..Ledger::default()
        };
        let mut seen: HashSet<String> = HashSet::new();
        for one in &census.existing {
            match one.thing {
                Thing::Machine => {
                    self.machines += 1;
                    self.storage = self.storage.saturating_add(one.storage);
                    if let Some(provider) = &one.provider {
                        *self.providers.entry(provider.clone()).or_default() += 1;
                    }
                }
                Thing::Network => self.networks += 1,
            }
            let key = key(one.thing, &one.name);
            if let Some(promise) = promised.get_mut(&key) {
                promise.is_there(one, census);
                seen.insert(key);
            }
        }
        for (key, mut promise) in promised {
            if !seen.contains(&key) {
                promise.is_absent(census);
            }
            if promise.new || promise.more > 0 || !promise.makes.is_empty() {
                self.enter(key, promise);
            }
        }
        true
    }

    /// An object is there that was promised: it counts as such from now on, without a count of all
    /// others. What is not as simple waits for one. A count that was begun before must not be put
    /// in after this, because it may lack the object.
    pub fn settle(&mut self, thing: Thing, name: &str, uid: &str) {
        let key = key(thing, name);
        let promised = self.promised.get(&key);
        if !promised.is_some_and(|promise| promise.is_to_make_alone(uid)) {
            return;
        }
        let Some(promise) = self.leave(&key) else {
            return;
        };
        self.storage = self.storage.saturating_add(promise.more);
        match thing {
            Thing::Machine => self.machines += 1,
            Thing::Network => self.networks += 1,
        }
        if let Some(provider) = promise.provider {
            *self.providers.entry(provider).or_default() += 1;
        }
    }

    /// Promises a place, or says what would be exceeded.
    ///
    /// # Errors
    /// Names the limit.
    pub fn promise(&mut self, claim: &Claim, limits: &Limits, now: i64) -> Result<(), Excess> {
        self.judge(claim, limits)?;
        let key = key(claim.thing, &claim.name);
        let earlier = self.leave(&key);
        let mut makes = earlier.as_ref().map_or_else(Vec::new, |p| p.makes.clone());
        if claim.new {
            let uid = claim.uid.as_deref().unwrap_or(UNKNOWN);
            match makes.len() < RIVALS {
                true => makes.push(uid.to_owned()),
                false => makes = vec![UNKNOWN.to_owned()],
            }
        }
        let grows = match claim.new {
            true => earlier.as_ref().and_then(|p| p.grows.clone()),
            false => claim.uid.clone(),
        };
        let (was_new, had, more) = earlier.map_or((false, 0, 0), |p| (p.new, p.storage, p.more));
        let growth = claim.storage.saturating_sub(claim.before);
        self.serial += 1;
        let promise = Promise {
            thing: claim.thing,
            serial: self.serial,
            new: claim.new || was_new,
            makes,
            grows,
            storage: claim.storage.max(had),
            more: match claim.new {
                // Of two that make the same object, one fails.
                true => growth.max(more),
                // What it grew by before may not have been counted yet.
                false => growth.saturating_add(more),
            },
            provider: claim.provider.clone(),
            since: now,
        };
        if promise.new || promise.more > 0 || !promise.makes.is_empty() {
            self.enter(key, promise);
        }
        Ok(())
    }

    /// Whether a write fits.
    ///
    /// # Errors
    /// Names the limit.
    pub fn judge(&self, claim: &Claim, limits: &Limits) -> Result<(), Excess> {
        // One name is one object, however often it is asked for.
        let own = self.promised.get(&key(claim.thing, &claim.name));
        let own_new = u64::from(own.is_some_and(|own| own.new));
        let reaches = |there: u64, limit: Option<u64>| {
            limit.filter(|limit| claim.new && there.saturating_sub(own_new) >= *limit)
        };
        if claim.thing == Thing::Network {
            let there = self.networks + self.sums.networks;
            return match reaches(there, limits.networks) {
                Some(limit) => Err(Excess::Networks { limit }),
                None => Ok(()),
            };
        }
        let grows = claim.storage > claim.before;
        if let Some(limit) = limits.per_machine.filter(|l| grows && claim.storage > *l) {
            let wanted = claim.storage;
            return Err(Excess::PerMachine { wanted, limit });
        }
        if let Some(limit) = reaches(self.machines + self.sums.machines, limits.machines) {
            return Err(Excess::Machines { limit });
        }
        if let Some(provider) = &claim.provider {
            let on = |counts: &BTreeMap<String, u64>| counts.get(provider).copied();
            let counted = on(&self.providers).unwrap_or_default();
            let mut promised = on(&self.sums.providers).unwrap_or_default();
            if own.is_some_and(|own| own.provider.as_ref() != Some(provider)) {
                promised += own_new;
            }
            if let Some(limit) = reaches(counted + promised, limits.per_provider) {
                let provider = provider.clone();
                return Err(Excess::PerProvider { provider, limit });
            }
        }
        // What another write adds that makes the same object is not added twice.
        let replaced = own.filter(|_| claim.new).map_or(0, |own| own.more);
        let wanted = self
            .storage
            .saturating_add(self.sums.storage - replaced)
            .saturating_add(claim.storage.saturating_sub(claim.before));
        match limits.storage.filter(|limit| grows && wanted > *limit) {
            Some(limit) => Err(Excess::Storage { wanted, limit }),
            None => Ok(()),
        }
    }

    fn enter(&mut self, key: String, promise: Promise) {
        self.sums.storage = self.sums.storage.saturating_add(promise.more);
        if promise.new {
            match promise.thing {
                Thing::Machine => self.sums.machines += 1,
                Thing::Network => self.sums.networks += 1,
            }
            if let Some(provider) = &promise.provider {
                *self.sums.providers.entry(provider.clone()).or_default() += 1;
            }
        }
        self.promised.insert(key, promise);
    }

    fn leave(&mut self, key: &str) -> Option<Promise> {
        let promise = self.promised.remove(key)?;
        self.sums.storage = self.sums.storage.saturating_sub(promise.more);
        if promise.new {
            let sum = match promise.thing {
                Thing::Machine => &mut self.sums.machines,
                Thing::Network => &mut self.sums.networks,
            };
            *sum = sum.saturating_sub(1);
            let provider = promise.provider.as_ref();
            if let Some(count) = provider.and_then(|p| self.sums.providers.get_mut(p)) {
                *count = count.saturating_sub(1);
            }
        }
        Some(promise)
    }

    /// How many promises are open.
    pub fn open(&self) -> usize {
        self.promised.len()
    }

    /// How many machines were counted.
    pub fn machines(&self) -> u64 {
        self.machines
    }
}

fn key(thing: Thing, name: &str) -> String {
    match thing {
        Thing::Machine => format!("m/{name}"),
        Thing::Network => format!("n/{name}"),
    }
}
