//! The Viti Stack dialect (`vitistack.io/v1alpha1`), in both of its documented shapes.

mod conditions;
mod credentials;
mod defaults;
mod demand;
mod disks;
mod error;
mod image;
mod lower;
mod network;
mod offer;
mod provider;
mod raise;
mod raise_platform;
mod raise_provider;
mod raise_resources;
mod raise_settings;
mod raise_stack;
mod raise_stock;
mod refusal;
mod size;
mod stack;
mod target;
mod verify;

pub use credentials::{CredentialsError, SecretData, SecretName, access, secret_names};
pub use defaults::fill_from_stack;
pub use demand::{demand, take};
pub use error::LowerError;
pub use lower::lower;
pub use offer::offer;
pub use provider::{ProviderQuery, ProviderRefError, located, lower_provider, provider_query};
pub use raise::{Times, raise};
pub use raise_platform::{
    FoundSecret, PlatformOutlook, raise_kubevirt, raise_proxmox, uses_config,
};
pub use raise_provider::{ProviderOutlook, raise_provider};
pub use raise_resources::Used;
pub use raise_settings::{Collected, Published};
pub use raise_stack::{FoundProvider, StackOutlook, Totals, raise_stack};
pub use refusal::refusal;
pub use stack::{counted, governing, inline_providers, limits, log_endpoint, monitoring_namespace};

pub use target::{Target, target, target_file};

/// Bytes of a Kubernetes quantity.
fn quantity_bytes(field: &str, text: &str) -> Result<u64, LowerError> {
    machinist_api::quantity::parse_bytes(text)
        .map_err(|error| LowerError::new(field, text, error.to_string()))
}
