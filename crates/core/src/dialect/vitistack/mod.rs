//! The Viti Stack dialect (`vitistack.io/v1alpha1`), in both of its documented shapes.

mod disks;
mod error;
mod image;
mod lower;
mod network;
mod provider;
mod raise;
mod size;

pub use error::LowerError;
pub use lower::{lower, restart_requested};
pub use provider::{ProviderQuery, ProviderRefError, lower_provider, provider_query, secret_names};
pub use raise::{Times, raise};
