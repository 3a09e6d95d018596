//! `ipam.ironcore.dev`: ranges of addresses, and the parts of them that were handed out.

mod prefix;
mod prefix_allocation;

pub use prefix::{Prefix, PrefixPhase, PrefixSpec, PrefixStatus, PrefixTemplate};
pub use prefix_allocation::{
    PrefixAllocation, PrefixAllocationPhase, PrefixAllocationSpec, PrefixAllocationStatus,
};

/// API group of these kinds.
pub const GROUP: &str = "ipam.ironcore.dev";
