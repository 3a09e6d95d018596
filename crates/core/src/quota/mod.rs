//! Quotas: how much a namespace may have, and the ledger that keeps writes at the same time from
//! taking the same last place.
//!
//! Pure: keeping a [`Ledger`] durable, and finding out what exists, is left to the engine.

mod ledger;
mod promise;

use std::fmt;

pub use ledger::{Census, Claim, Existing, Ledger, Thing};

/// How much a namespace may have; what is not given has no limit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Limits {
    /// Machines.
    pub machines: Option<u64>,
    /// Machines on one provider.
    pub per_provider: Option<u64>,
    /// Storage of all machines, in bytes.
    pub storage: Option<u64>,
    /// Storage of one machine, in bytes.
    pub per_machine: Option<u64>,
    /// Networks.
    pub networks: Option<u64>,
}

impl Limits {
    /// Whether there is any.
    pub fn is_any(&self) -> bool {
        *self != Limits::default()
    }
}

/// Which limit a write would exceed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Excess {
    /// The number of machines.
    Machines {
        /// How many there may be.
        limit: u64,
    },
    /// The number of machines on one provider.
    PerProvider {
        /// The provider.
        provider: String,
        /// How many there may be.
        limit: u64,
    },
    /// The storage of all machines.
    Storage {
        /// What there would be, in bytes.
        wanted: u64,
        /// What there may be.
        limit: u64,
    },
    /// The storage of one machine.
    PerMachine {
        /// What it would have, in bytes.
        wanted: u64,
        /// What it may have.
        limit: u64,
    },
    /// The number of networks.
    Networks {
        /// How many there may be.
        limit: u64,
    },
}

impl Excess {
    /// The field of the Vitistack that sets the limit.
    pub fn field(&self) -> &'static str {
        match self {
            Excess::Machines { .. } => "spec.quotas.machines.total",
            Excess::PerProvider { .. } => "spec.quotas.machines.perProvider",
            Excess::Storage { .. } => "spec.quotas.storage.total",
            Excess::PerMachine { .. } => "spec.quotas.storage.perMachine",
            Excess::Networks { .. } => "spec.quotas.network.maxNetworks",
        }
    }
}

impl fmt::Display for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Excess::Machines { limit } => write!(f, "there may be {limit} machines"),
            Excess::PerProvider { provider, limit } => {
                write!(f, "there may be {limit} machines on provider {provider}")
            }
            Excess::Storage { wanted, limit } => {
                write!(
                    f,
                    "machines may have {limit} bytes of storage, and would have {wanted}"
                )
            }
            Excess::PerMachine { wanted, limit } => {
                write!(
                    f,
                    "a machine may have {limit} bytes of storage, and this would have {wanted}"
                )
            }
            Excess::Networks { limit } => write!(f, "there may be {limit} networks"),
        }
    }
}
