//! `vitistack.io/v1beta1`: one shape for each concept, where v1alpha1 has up to three.
//!
//! `docs/explanation/v1beta1.md` says why each field is as it is. How the two versions become each
//! other is in [`crate::convert`].

pub mod machine;
pub mod machine_provider;

pub use machine::{Machine, MachineSpec, MachineStatus};
pub use machine_provider::{MachineProvider, MachineProviderSpec, MachineProviderStatus};

/// Version of the kinds here.
pub const VERSION: &str = "v1beta1";
