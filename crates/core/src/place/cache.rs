//! All providers with how much of each is taken, kept up to date change by change: no look at all
//! machines is ever needed.
//!
//! A choice counts from the moment that it is made, before it is durable, so that many machines
//! placed at once do not all find the same last place. A machine whose binding never comes about
//! is chosen for again, or forgotten.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use crate::machine::Uid;

use super::{Demand, Offer, Placement, SiteName, Take, place, shared::Pool};

/// How much of a provider is taken.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Load {
    /// The machines that are bound to it, or about to be.
    pub machines: u64,
    /// What they take in all.
    pub taken: Take,
    /// How many of them are in each namespace.
    namespaces: HashMap<Arc<str>, u64>,
}

impl Load {
    /// How many machines are of one namespace.
    pub fn of_namespace(&self, namespace: &str) -> u64 {
        self.namespaces.get(namespace).copied().unwrap_or_default()
    }

    /// Counts one more machine; gives the name of its namespace, which its machines share.
    fn add(&mut self, namespace: &str, take: Take) -> Arc<str> {
        self.machines += 1;
        self.taken += take;
        let known = self.namespaces.get_key_value(namespace);
        let namespace = known.map_or_else(|| namespace.into(), |(known, _)| known.clone());
        *self.namespaces.entry(namespace.clone()).or_default() += 1;
        namespace
    }

    fn remove(&mut self, namespace: &str, take: Take) {
        self.machines = self.machines.saturating_sub(1);
        self.taken -= take;
        if let Some(count) = self.namespaces.get_mut(namespace) {
            *count -= 1;
            if *count == 0 {
                self.namespaces.remove(namespace);
            }
        }
    }
}

/// Where a machine is, and what it takes there.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Placed {
    site: Arc<SiteName>,
    namespace: Arc<str>,
    take: Take,
}

#[derive(Debug, Default)]
struct Site {
    offer: Option<Offer>,
    load: Load,
}

/// All providers, and where machines are.
#[derive(Debug, Default)]
pub struct Sites {
    sites: BTreeMap<Arc<SiteName>, Site>,
    placed: HashMap<Uid, Placed>,
    pool: Pool,
}

impl Sites {
    /// Takes what a provider offers now; whether that is news.
    pub fn offer(&mut self, name: SiteName, mut offer: Offer) -> bool {
        let site = self.sites.entry(Arc::new(name)).or_default();
        if site.offer.as_ref() == Some(&offer) {
            return false;
        }
        self.pool.share(&mut offer);
        if site.offer.replace(offer).is_some() {
            self.pool.prune();
        }
        true
    }

    /// A provider is gone; whether it was there.
    pub fn withdraw(&mut self, name: &SiteName) -> bool {
        let Some(site) = self.sites.get_mut(name) else {
            return false;
        };
        let was_there = site.offer.take().is_some();
        if site.load.machines == 0 {
            self.sites.remove(name);
        }
        self.pool.prune();
        was_there
    }

    /// A machine is bound to this provider.
    pub fn bound(&mut self, machine: &str, namespace: &str, name: &SiteName, take: Take) {
        // Until the platform says how large the machine became, the choice knows best.
        let known = self.placed.get(&Uid::of(machine));
        let known = known.filter(|placed| *placed.site == *name);
        let take = match (take == Take::default(), known) {
            (true, Some(placed)) => placed.take,
            _ => take,
        };
        self.forget(machine);
        self.put(machine, namespace, name, take);
    }

    /// A machine is gone, or not placed after all; whether it took a place.
    pub fn forget(&mut self, machine: &str) -> bool {
        let Some(placed) = self.placed.remove(&Uid::of(machine)) else {
            return false;
        };
        if let Some(site) = self.sites.get_mut(&placed.site) {
            site.load.remove(&placed.namespace, placed.take);
            if site.load.machines == 0 && site.offer.is_none() {
                self.sites.remove(&placed.site);
            }
        }
        true
    }

    /// Chooses for a machine, and counts it there. What it took before counts no more.
    pub fn choose(
        &mut self,
        machine: &str,
        demand: &Demand,
        namespaces: &[&str],
        objects: impl FnMut(&SiteName) -> Result<(), String>,
    ) -> Placement {
        self.forget(machine);
        let there = self.sites.iter().filter_map(|(name, site)| {
            let wanted = namespaces.contains(&name.0.as_str());
            wanted.then_some((name, site.offer.as_ref()?, &site.load))
        });
        let placement = place(demand, there, objects);
        if let Some(chosen) = &placement.chosen {
            let site = chosen.site.clone();
            self.put(machine, &demand.namespace, &site, chosen.take);
        }
        placement
    }

    /// How much of a provider is taken.
    pub fn load(&self, name: &SiteName) -> Option<&Load> {
        self.sites.get(name).map(|site| &site.load)
    }

    fn put(&mut self, machine: &str, namespace: &str, name: &SiteName, take: Take) {
        let site = match self.sites.get_key_value(name) {
            Some((site, _)) => site.clone(),
            None => Arc::new(name.clone()),
        };
        let entry = self.sites.entry(site.clone()).or_default();
        let placed = Placed {
            site,
            namespace: entry.load.add(namespace, take),
            take,
        };
        self.placed.insert(Uid::of(machine), placed);
    }
}
