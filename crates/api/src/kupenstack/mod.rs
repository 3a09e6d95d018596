//! `kupenstack.io/v1alpha1`: virtual machines and what they need, in OpenStack's terms.
//!
//! VirtualMachine, VirtualNetwork and Volume are as their design documents print them; Image,
//! Flavor and KeyPair are as the project shipped them. How they come to be is left to the engine.

mod flavor;
mod image;
mod key_pair;
mod usage;
mod virtual_machine;
mod virtual_network;
mod volume;

pub use flavor::{Flavor, FlavorSpec, FlavorStatus};
pub use image::{DiskFormat, Image, ImageSpec, ImageStatus};
pub use key_pair::{KeyPair, KeyPairSpec, KeyPairStatus, PrivateKey};
pub use usage::Usage;
pub use virtual_machine::{
    DiskAttachment, VirtualMachine, VirtualMachinePhase, VirtualMachineSpec, VirtualMachineStatus,
};
pub use virtual_network::{
    AllocationPool, VirtualNetwork, VirtualNetworkSpec, VirtualNetworkStatus,
};
pub use volume::{Volume, VolumeSource, VolumeSpec, VolumeStatus};

/// API group of the family.
pub const GROUP: &str = "kupenstack.io";
/// Version of the family's kinds.
pub const VERSION: &str = "v1alpha1";

/// Short name of VirtualMachine, which KubeVirt's kind of that name has as well.
pub const VM_SHORT_NAME: &str = "vm";
