//! What a platform can do, and how it is.

use std::collections::BTreeMap;

/// What a platform can do, as far as the planner must know.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// Can stop a machine and start it again with its disks.
    pub power: bool,
    /// Has a serial console to read.
    pub console: bool,
    /// Keeps tags that a user declares.
    pub tags: bool,
    /// Pushes changes, so that polling is only a safety net.
    pub watch: bool,
    /// Has sizes by name (`t3.medium`); otherwise processors and memory must be declared.
    pub instance_types: bool,
}

/// How a platform is, as seen by one probe.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Health {
    /// What answered: an endpoint, a host name, a binary with its version.
    pub endpoint: String,
    /// What the platform says of itself.
    pub version: Option<String>,
    /// Processors in all, where the platform says.
    pub cpus: Option<u64>,
    /// Memory in bytes in all, where the platform says.
    pub memory: Option<u64>,
    /// Disk space in bytes in all, where the platform says.
    pub storage: Option<u64>,
    /// Disk space in bytes that is free, where the platform says.
    pub storage_free: Option<u64>,
    /// Facts for the provider's status, such as the accelerator; never a secret.
    pub details: BTreeMap<String, String>,
}
