//! How a declared provider becomes a connected one.

use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

use async_trait::async_trait;

use super::{Access, Courtesy, Provider, ProviderResult, Trust};

/// A declared provider with its references resolved; what a driver is built from.
#[derive(Debug, Clone, PartialEq)]
pub struct ProviderSpec {
    /// Name of the declaring object.
    pub name: String,
    /// Its namespace.
    pub namespace: String,
    /// Its UID.
    pub uid: String,
    /// The platform: `qemu`, `aws`, …
    pub kind: String,
    /// Region or site.
    pub region: Option<String>,
    /// Where its API is.
    pub endpoint: Option<String>,
    /// How long a call may take; `None` takes the engine's own limit.
    pub timeout: Option<Duration>,
    /// How gently it is treated.
    pub courtesy: Courtesy,
    /// Image references by the names that machines may use.
    pub images: BTreeMap<String, String>,
    /// Settings that only the platform understands.
    pub settings: BTreeMap<String, String>,
    /// Whether link-local addresses and metadata services may be asked.
    pub link_local: bool,
    /// What the certificate of its endpoint is checked against.
    pub trust: Trust,
    /// With what the driver proves who it is.
    pub access: Access,
    /// What the referenced Secrets hold, by key.
    pub credentials: Credentials,
}

/// Secret values by name. Never printed.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Credentials(BTreeMap<String, Vec<u8>>);

impl Credentials {
    /// Wraps what Secrets hold.
    pub fn new(values: BTreeMap<String, Vec<u8>>) -> Credentials {
        Credentials(values)
    }

    /// The value under a name.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.0.get(name).map(Vec::as_slice)
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// Builds drivers. The engine knows no platform; the binary hands it one of these.
#[async_trait]
pub trait Connect: Send + Sync + 'static {
    /// A driver for the declared provider.
    async fn connect(&self, spec: &ProviderSpec) -> ProviderResult<Arc<dyn Provider>>;
}
