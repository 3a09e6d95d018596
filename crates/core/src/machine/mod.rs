//! The one domain model of a machine, and the decisions about it.
//!
//! [`Want`] is what was declared, [`Facts`] what a platform reports; [`plan`] compares
//! the two and names at most one step. Dialects translate to and from their own words.

mod change;
mod conditions;
mod defaults;
mod difference;
mod facts;
mod key;
mod plan;
mod status;
mod uid;
mod want;

pub use change::{Change, Size};
pub use defaults::Defaults;
pub use difference::Refusal;
pub(crate) use difference::{Difference, differences};
pub use facts::{DiskFacts, Facts, GuestFacts, NicFacts, PowerState};
pub use key::{KeyError, MachineId, MachineKey};
pub use plan::{Absence, Seen, Situation, Stall, Step, Waiting, needs_restart, plan};
pub use status::{Condition, Outlook, Phase, Trouble, Truth};
pub use uid::Uid;
pub use want::{Architecture, Cpu, Disk, Firmware, Image, InitData, Nic, Power, SeedFormat, Want};
