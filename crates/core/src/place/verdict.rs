//! What came of a placement, and its words for people.

use std::{fmt::Write, sync::Arc};

use super::{Demand, Reason, Score, SiteName, Take};

/// What came of a placement.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Placement {
    /// The provider that was chosen.
    pub chosen: Option<Chosen>,
    /// All others, each with its reason, in no particular order.
    pub rejected: Vec<Rejected>,
}

/// The provider that was chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    /// Its namespace and name.
    pub site: Arc<SiteName>,
    /// Its score.
    pub score: Score,
    /// The machines that it had.
    pub machines: u64,
    /// What the machine takes there.
    pub take: Take,
}

/// A provider that was not chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected {
    /// Its namespace and name.
    pub site: Arc<SiteName>,
    /// Why.
    pub reason: Reason,
}

impl Placement {
    pub(super) fn reject(&mut self, site: &Arc<SiteName>, reason: Reason) {
        let site = site.clone();
        self.rejected.push(Rejected { site, reason });
    }

    /// Whether only providers that nobody has asked yet stand in the way.
    pub fn is_early(&self) -> bool {
        self.chosen.is_none() && self.rejected.iter().any(|r| r.reason == Reason::Untried)
    }

    /// One stable word for why there is no place.
    pub fn word(&self) -> &'static str {
        // Providers elsewhere were not asked for, and say nothing about those that were.
        let words = self.rejected.iter().map(|rejected| rejected.reason.word());
        let mut words = words.filter(|word| *word != "ProviderNotFound");
        match words.next() {
            Some(first) if words.all(|word| word == first) => first,
            Some(_) => "NoProviderFits",
            None => "ProviderNotFound",
        }
    }

    /// The choice, and each other provider with its reason, in at most so many bytes.
    pub fn explain(&self, demand: &Demand, limit: usize) -> String {
        let mut text = match &self.chosen {
            Some(chosen) => {
                let (namespace, name) = &*chosen.site;
                format!(
                    "MachineProvider {namespace}/{name} was chosen, with {} points.",
                    chosen.score.points
                )
            }
            None if self.rejected.is_empty() => return "There is no MachineProvider.".into(),
            None => "No MachineProvider fits.".into(),
        };
        let mut rejected: Vec<&Rejected> = self.rejected.iter().collect();
        rejected.sort_by(|a, b| a.site.cmp(&b.site));
        for (index, Rejected { site, reason }) in rejected.iter().enumerate() {
            let before = text.len();
            let mark = if index == 0 { "" } else { ";" };
            let why = reason.say(demand);
            let _ = write!(text, "{mark} {}/{} {why}", site.0, site.1);
            if text.len() > limit.saturating_sub(40) {
                text.truncate(before);
                let _ = write!(text, "{mark} and {} more", rejected.len() - index);
                break;
            }
        }
        if !rejected.is_empty() {
            text.push('.');
        }
        text
    }
}

impl Reason {
    /// A stable word.
    pub fn word(&self) -> &'static str {
        match self {
            Reason::Platform(_) | Reason::Region(_) => "ProviderNotFound",
            Reason::Zone => "ZoneNotOffered",
            Reason::Operation(_) => "OperationNotOffered",
            Reason::Os => "OperatingSystemNotOffered",
            Reason::Architecture => "ArchitectureNotOffered",
            Reason::InstanceType => "InstanceTypeNotOffered",
            Reason::Image => "ImageNotOffered",
            Reason::Network(_) => "NetworkNotOffered",
            Reason::StorageClass(_) => "StorageClassNotOffered",
            Reason::Cpus { .. } | Reason::Memory { .. } | Reason::Storage { .. } => "TooLarge",
            Reason::Gpus(_) => "TooManyGPUs",
            Reason::Untried | Reason::NotReady(_) => "ProviderNotReady",
            Reason::Leaving => "ProviderLeaving",
            Reason::Full(_) | Reason::NoMemory { .. } => "NoCapacity",
            Reason::Quota(_) => "QuotaReached",
            Reason::Unfit(_) => "Invalid",
            Reason::Outscored(_) => "Outscored",
        }
    }

    /// The reason in words that follow the provider's name.
    pub fn say(&self, demand: &Demand) -> String {
        let asked = |value: &Option<String>| value.clone().unwrap_or_default();
        match self {
            Reason::Platform(is) => format!("is of type {is}, not {}", asked(&demand.platform)),
            Reason::Region(Some(is)) => {
                format!("is in region {is}, not {}", asked(&demand.region))
            }
            Reason::Region(None) => format!("is in no region, not {}", asked(&demand.region)),
            Reason::Zone => format!("does not offer zone {}", asked(&demand.zone)),
            Reason::Operation(operation) => format!("does not offer to {operation} machines"),
            Reason::Os => format!("does not offer {}", asked(&demand.os)),
            Reason::Architecture => format!(
                "does not offer architecture {}",
                demand.architecture.unwrap_or_default()
            ),
            Reason::InstanceType => format!(
                "does not offer instance type {}",
                asked(&demand.instance_type)
            ),
            Reason::Image => format!("does not offer image {}", asked(&demand.image)),
            Reason::Network(index) => {
                let network = demand.networks.get(*index).cloned();
                format!("does not offer network {}", network.unwrap_or_default())
            }
            Reason::StorageClass(index) => {
                let class = demand.storage_classes.get(*index).cloned();
                format!("does not offer storage class {}", class.unwrap_or_default())
            }
            Reason::Cpus { wanted, most } => {
                format!("offers {most} processors at most, not {wanted}")
            }
            Reason::Memory { wanted, most } => {
                format!("offers {most} bytes of memory at most, not {wanted}")
            }
            Reason::Storage { wanted, most } => {
                format!("offers {most} bytes of storage at most, not {wanted}")
            }
            Reason::Gpus(most) => format!("offers {most} GPUs at most, not {}", demand.gpus),
            Reason::Untried => "has not been asked yet".into(),
            Reason::NotReady(why) => format!("is not ready: {}", why.trim_end_matches('.')),
            Reason::Leaving => "is being deleted".into(),
            Reason::Full(most) => format!("has {most} machines, which is all that it may have"),
            Reason::Quota(most) => format!(
                "has {most} machines of namespace {}, which is all that its Vitistack allows",
                demand.namespace
            ),
            Reason::NoMemory { wanted, left } => {
                format!("has {left} bytes of memory left, not {wanted}")
            }
            Reason::Unfit(words) => format!("cannot carry it out: {words}"),
            Reason::Outscored(score) => format!("fits with {} points", score.points),
        }
    }
}
