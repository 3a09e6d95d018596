//! `vitistack.io/v1alpha1`: the superset of its documented shapes.
//!
//! The shapes share no path with different meanings, so every documented manifest is accepted as
//! it is printed. What is required follows from the shape that a manifest uses, and one concept in
//! two shapes is refused, both by the CEL rules beside each kind.

pub mod machine;
pub mod machine_provider;

use crate::schema::metadata_name;

pub use machine::{Machine, MachinePhase, MachineSpec, MachineStatus, PowerState};
pub use machine_provider::{
    MachineProvider, MachineProviderSpec, MachineProviderStatus, ProviderPhase, ProviderType,
};

/// API group of the family.
pub const GROUP: &str = "vitistack.io";
/// Version of the family's kinds.
pub const VERSION: &str = "v1alpha1";
