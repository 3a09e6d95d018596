//! Why a provider does not fit: the first reason, from what never changes to what changes often.

use std::sync::Arc;

use super::{Demand, Load, Names, Offer, Score, Standing, Take};

/// Why a provider was not chosen. Cheap to make and to keep: the words are made when asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// It is of another platform.
    Platform(Arc<str>),
    /// It is in another region, or in none.
    Region(Option<Arc<str>>),
    /// It does not have the zone.
    Zone,
    /// It does not offer this operation.
    Operation(&'static str),
    /// It does not offer the operating system.
    Os,
    /// It does not offer the instruction set.
    Architecture,
    /// It does not offer the named size.
    InstanceType,
    /// It does not offer the image.
    Image,
    /// It does not have this network, by its place among the demanded.
    Network(usize),
    /// It does not have this storage class, by its place among the demanded.
    StorageClass(usize),
    /// It does not offer so many processors.
    Cpus {
        /// What the machine would take.
        wanted: u64,
        /// The most that one machine may have.
        most: u64,
    },
    /// It does not offer so much memory.
    Memory {
        /// What the machine would take, in bytes.
        wanted: u64,
        /// The most that one machine may have.
        most: u64,
    },
    /// It does not offer so much storage.
    Storage {
        /// What the machine would take, in bytes.
        wanted: u64,
        /// The most that one machine may have.
        most: u64,
    },
    /// It does not offer so many graphics processors.
    Gpus(u64),
    /// Nobody has asked it yet.
    Untried,
    /// It does not answer.
    NotReady(Arc<str>),
    /// It is to go.
    Leaving,
    /// It has as many machines as it may have.
    Full(u64),
    /// The namespace has as many machines there as it may have.
    Quota(u64),
    /// Not enough memory is left.
    NoMemory {
        /// What the machine would take, in bytes.
        wanted: u64,
        /// What is left.
        left: u64,
    },
    /// A closer look showed that it cannot carry the declaration out.
    Unfit(Arc<str>),
    /// It fits, and another fits better.
    Outscored(Score),
}

impl Offer {
    /// Why what the provider declares does not fit, if it does not.
    pub fn misfit(&self, demand: &Demand) -> Option<Reason> {
        self.elsewhere(demand)
            .or_else(|| self.unsuited(demand))
            .or_else(|| self.too_large(demand, self.take(demand)))
    }

    /// Why it is not where the machine is to be.
    pub(super) fn elsewhere(&self, demand: &Demand) -> Option<Reason> {
        if demand
            .platform
            .as_deref()
            .is_some_and(|p| p != &*self.platform)
        {
            return Some(Reason::Platform(self.platform.clone()));
        }
        if demand.region.is_some() && demand.region.as_deref() != self.region.as_deref() {
            return Some(Reason::Region(self.region.clone()));
        }
        lacks(&self.zones, demand.zone.as_deref()).then_some(Reason::Zone)
    }

    /// Why it does not have what the machine asks for by name.
    pub fn unsuited(&self, demand: &Demand) -> Option<Reason> {
        let missing = |operation: &&&str| {
            !self.operations.is_empty() && !self.operations.contains(**operation)
        };
        if let Some(operation) = demand.operations.iter().find(missing) {
            return Some(Reason::Operation(operation));
        }
        if lacks(&self.os_types, demand.os.as_deref()) {
            return Some(Reason::Os);
        }
        if lacks(&self.architectures, demand.architecture) {
            return Some(Reason::Architecture);
        }
        if self.preset(demand).is_none()
            && lacks(&self.instance_types, demand.instance_type.as_deref())
        {
            return Some(Reason::InstanceType);
        }
        if lacks(&self.images, demand.image.as_deref()) {
            return Some(Reason::Image);
        }
        let mut networks = demand.networks.iter();
        let foreign = networks.position(|network| lacks(&self.networks, Some(network)));
        if let Some(foreign) = foreign {
            return Some(Reason::Network(foreign));
        }
        let mut classes = demand.storage_classes.iter();
        let foreign = classes.position(|class| lacks(&self.storage_classes, Some(class)));
        foreign.map(Reason::StorageClass)
    }

    /// Why one machine may not take so much.
    pub(super) fn too_large(&self, demand: &Demand, take: Take) -> Option<Reason> {
        let least = |declared: Option<u64>, there: Option<u64>| match (declared, there) {
            (Some(declared), Some(there)) => Some(declared.min(there)),
            (declared, there) => declared.or(there),
        };
        let over = |wanted: u64, most: Option<u64>| most.filter(|most| wanted > *most);
        let memory = self.room.memory.filter(|_| !self.overcommit);
        // Processors are shared: a guest may have more of them than its host.
        if let Some(most) = over(take.cpus, self.most.cpus) {
            let wanted = take.cpus;
            return Some(Reason::Cpus { wanted, most });
        }
        if let Some(most) = over(take.memory, least(self.most.memory, memory)) {
            let wanted = take.memory;
            return Some(Reason::Memory { wanted, most });
        }
        // Disks are thin on most platforms: they may be promised more than there is room for now.
        if let Some(most) = over(take.storage, self.most.storage) {
            let wanted = take.storage;
            return Some(Reason::Storage { wanted, most });
        }
        (demand.gpus > self.gpus).then_some(Reason::Gpus(self.gpus))
    }
}

impl Load {
    /// Why a provider that would fit has no place just now for a machine that takes this much.
    pub fn misfit(&self, demand: &Demand, offer: &Offer, take: Take) -> Option<Reason> {
        match &offer.standing {
            Standing::Untried => return Some(Reason::Untried),
            Standing::NotReady(why) => return Some(Reason::NotReady(why.clone())),
            Standing::Leaving => return Some(Reason::Leaving),
            Standing::Ready(_) => {}
        }
        if let Some(most) = offer.max_machines.filter(|most| self.machines >= *most) {
            return Some(Reason::Full(most));
        }
        // Where there are fewer machines in all, no namespace has more.
        if let Some(most) = demand.per_provider
            && self.machines >= most
            && self.of_namespace(&demand.namespace) >= most
        {
            return Some(Reason::Quota(most));
        }
        let memory = offer.room.memory.filter(|_| !offer.overcommit)?;
        let (wanted, left) = (take.memory, memory.saturating_sub(self.taken.memory));
        (wanted > left).then_some(Reason::NoMemory { wanted, left })
    }
}

/// Whether something is offered, and not this.
fn lacks(offered: &Names, wanted: Option<&str>) -> bool {
    !offered.is_empty() && wanted.is_some_and(|wanted| !offered.contains(wanted))
}
