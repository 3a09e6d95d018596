//! `vitistack.io/v1alpha1`: the superset of its documented shapes.
//!
//! The shapes share no path with different meanings, so every documented manifest is accepted as
//! it is printed. What is required follows from the shape that a manifest uses, and one concept in
//! two shapes is refused, both by the CEL rules beside each kind.

pub mod machine;
pub mod machine_provider;
pub mod v1beta1;

use kube::core::Rule;

use crate::names::NAME_PATTERN;

pub use machine::{Machine, MachinePhase, MachineSpec, MachineStatus, PowerState};
pub use machine_provider::{
    MachineProvider, MachineProviderSpec, MachineProviderStatus, ProviderPhase, ProviderType,
};

/// API group of the family.
pub const GROUP: &str = "vitistack.io";
/// Version of the family's kinds.
pub const VERSION: &str = "v1alpha1";

/// The rule that holds an object's name to the documented form.
fn metadata_name() -> Rule {
    // Names end up in host names and tags, so they are labels rather than subdomains.
    Rule::new(format!(
        "self.metadata.name.size() <= 63 && self.metadata.name.matches('{NAME_PATTERN}')"
    ))
    .message(
        "metadata.name must be at most 63 lower-case letters, digits and dashes, such as web-server-01",
    )
}
