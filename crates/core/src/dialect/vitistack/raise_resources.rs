//! What is used of a provider, what is left, and what its platform has to offer by name, in the words
//! of all documented shapes.
//!
//! What is declared to be held back is nobody's: it is taken from every limit.

use machinist_api::vitistack::{
    machine::Machine,
    machine_provider::{
        CapacityStatus, MachineProvider, QuotaStatus, ResourceLimits, ResourceQuota,
        ResourceQuotaStatus, ResourceStatus, ResourceUsage,
    },
};

use super::{offer, raise_provider::ProviderOutlook};
use crate::{
    place::Room,
    provider::{Counted, Health, Quota},
};

const GIB: u64 = 1 << 30;

/// What machines of a provider use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Used {
    cpus: u64,
    memory: u64,
    storage: u64,
}

impl Used {
    /// What one machine was seen to have.
    pub fn by(machine: &Machine) -> Used {
        let Some(status) = &machine.status else {
            return Used::default();
        };
        let whole = |value: i64| u64::try_from(value).unwrap_or_default();
        let sizes = status.disks.iter().filter_map(|disk| disk.size_gb);
        Used {
            cpus: status.cpus.map_or(0, |cpus| whole(cpus.into())),
            memory: status.memory.map_or(0, whole),
            storage: sizes.map(whole).sum::<u64>().saturating_mul(GIB),
        }
    }

    fn sum(machines: &[Used]) -> Used {
        machines.iter().fold(Used::default(), |sum, used| Used {
            cpus: sum.cpus.saturating_add(used.cpus),
            memory: sum.memory.saturating_add(used.memory),
            storage: sum.storage.saturating_add(used.storage),
        })
    }
}

/// What the machines of a provider use, and how much there may be where that is known.
pub(super) struct Account {
    machines: Line,
    cpus: Line,
    memory: Line,
    storage: Line,
    network: Vec<(String, Line)>,
    health: Option<Health>,
}

/// How much is used of one thing. Processors and disks may be promised more often than they are there.
#[derive(Clone, Copy)]
struct Line {
    used: u64,
    limit: Option<u64>,
}

impl Line {
    fn left(self) -> Option<u64> {
        self.limit.map(|limit| limit.saturating_sub(self.used))
    }
}

/// Adds everything up.
pub(super) fn account(provider: &MachineProvider, outlook: &ProviderOutlook<'_>) -> Account {
    let used = Used::sum(outlook.machines);
    let health = outlook.outcome.as_ref().ok().map(|(_, health)| *health);
    let Room {
        cpus,
        memory,
        storage,
    } = offer::room(provider, health);
    let quotas = outlook.inventory.map(|stock| stock.quotas.as_slice());
    let (of_machines, network) = quotas_of(quotas.unwrap_or_default());
    let declared = offer::max_machines(&provider.spec);
    Account {
        machines: Line {
            used: outlook.machines.len() as u64,
            limit: declared.into_iter().chain(of_machines).min(),
        },
        cpus: Line {
            used: used.cpus,
            limit: cpus,
        },
        memory: Line {
            used: used.memory,
            limit: memory,
        },
        storage: Line {
            used: used.storage,
            limit: storage,
        },
        network,
        health: health.cloned(),
    }
}

/// What the platform itself sets: how many machines more there may be, counted from ours, and the rest.
fn quotas_of(quotas: &[Quota]) -> (Option<u64>, Vec<(String, Line)>) {
    let (mut machines, mut network) = (None, Vec::new());
    for quota in quotas {
        match &quota.resource {
            Counted::Machines => machines = Some(quota.limit),
            Counted::Network(name) => {
                let line = Line {
                    used: quota.used.unwrap_or_default(),
                    limit: Some(quota.limit),
                };
                network.push((name.clone(), line));
            }
        }
    }
    (machines, network)
}

impl Account {
    /// Usage, limits and quotas, in the first shape.
    pub(super) fn resources(&self) -> ResourceStatus {
        ResourceStatus {
            usage: Some(ResourceUsage {
                machines: small(Some(self.machines.used)),
                total_cpu: Some(self.cpus.used.to_string()),
                total_memory_gb: Some(gigabytes(self.memory.used)),
                total_storage_gb: Some(gigabytes(self.storage.used)),
            }),
            limits: self.health.as_ref().map(|_| ResourceLimits {
                max_machines: small(self.machines.limit),
                max_cpu: self.cpus.limit.map(|cpus| cpus.to_string()),
                max_memory_gb: self.memory.limit.map(gigabytes),
                max_storage_gb: self.storage.limit.map(gigabytes),
            }),
            quotas: self.quotas(),
        }
    }

    fn quotas(&self) -> Vec<ResourceQuotaStatus> {
        let count: fn(u64) -> String = |count| count.to_string();
        let own = [
            ("instances", self.machines, "machines", count),
            ("cpu", self.cpus, "cores", count),
            ("memory", self.memory, "GiB", gigabytes),
            ("storage", self.storage, "GiB", gigabytes),
        ];
        let network = self.network.iter();
        let network = network.map(|(name, line)| (name.as_str(), *line, "objects", count));
        let one = |(name, line, unit, words): (&str, Line, &str, fn(u64) -> String)| {
            Some(ResourceQuotaStatus {
                resource: name.into(),
                used: Some(words(line.used)),
                limit: Some(words(line.limit?)),
                available: line.left().map(words),
                unit: Some(unit.into()),
            })
        };
        own.into_iter().chain(network).filter_map(one).collect()
    }

    /// The same in the second shape. What the host says to be free is closer than a difference.
    pub(super) fn capacity(&self) -> Option<CapacityStatus> {
        let health = self.health.as_ref()?;
        let bytes = |value: Option<u64>| value.map(|bytes| bytes.to_string());
        let large = |value: Option<u64>| value.and_then(|value| i64::try_from(value).ok());
        Some(CapacityStatus {
            total: Some(ResourceQuota {
                cpu: large(health.cpus),
                memory: bytes(health.memory),
                storage: bytes(health.storage),
                machines: small(self.machines.limit),
            }),
            available: Some(ResourceQuota {
                cpu: large(self.cpus.left()),
                memory: bytes(health.memory_free.or(self.memory.left())),
                storage: bytes(health.storage_free.or(self.storage.left())),
                machines: small(self.machines.left()),
            }),
            used: Some(ResourceQuota {
                cpu: large(Some(self.cpus.used)),
                memory: bytes(Some(self.memory.used)),
                storage: Some(format!("{}Gi", self.storage.used / GIB)),
                machines: small(Some(self.machines.used)),
            }),
        })
    }

    /// The same in the third shape, in whole gigabytes: no more than there is, no less than is used.
    pub(super) fn quota(&self) -> QuotaStatus {
        let large = |value: u64| i64::try_from(value).ok();
        let all = |pick: fn(&Line) -> Option<u64>| {
            let network = self.network.iter();
            network
                .filter_map(|(name, line)| Some((name.clone(), large(pick(line)?)?)))
                .collect()
        };
        QuotaStatus {
            cpu_quota: self.cpus.limit.and_then(large),
            cpu_used: large(self.cpus.used),
            memory_quota_gb: self.memory.limit.and_then(|bytes| large(bytes / GIB)),
            memory_used_gb: large(self.memory.used.div_ceil(GIB)),
            storage_quota_gb: self.storage.limit.and_then(|bytes| large(bytes / GIB)),
            storage_used_gb: large(self.storage.used.div_ceil(GIB)),
            instance_quota: self.machines.limit.and_then(large),
            instance_used: large(self.machines.used),
            network_quota: all(|line| line.limit),
            network_used: all(|line| Some(line.used)),
        }
    }
}

fn small(value: Option<u64>) -> Option<i32> {
    value.and_then(|value| i32::try_from(value).ok())
}

fn gigabytes(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / GIB as f64)
}
