//! What a platform can do, and how it is.

use std::collections::BTreeMap;

/// What a platform can do, as far as the planner must know.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
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
    /// How far its lookup can be trusted.
    pub lookup: Lookup,
    /// What can be changed about a machine that exists.
    pub changes: Changes,
    /// The unit in bytes that sizes of disks are rounded up to; zero does not round.
    pub disk_unit: u64,
}

/// How far [`Provider::find`](super::Provider::find) can be trusted when it finds nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Lookup {
    /// What was made is found from then on: nothing found is proof of absence.
    #[default]
    Consistent,
    /// What was just made or removed may not show yet. Then `create` must know the key again
    /// (by the platform's own idempotency token), and `get` must be a read by id that is not
    /// behind the times.
    Eventual,
}

/// When each thing about a machine that exists can be changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Changes {
    /// Processors and memory, or the named size.
    pub resize: When,
    /// Making and attaching a disk.
    pub attach_disk: When,
    /// Detaching and removing a disk.
    pub detach_disk: When,
    /// Making a disk larger.
    pub grow_disk: When,
    /// Attaching and detaching an interface.
    pub nics: When,
}

/// The states of a machine in which something can be done to it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum When {
    /// In none: the machine would have to be made anew.
    #[default]
    Never,
    /// While it is stopped.
    Stopped,
    /// While it is stopped or running.
    Always,
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
    /// Memory in bytes that is free, where the platform says.
    pub memory_free: Option<u64>,
    /// Disk space in bytes in all, where the platform says.
    pub storage: Option<u64>,
    /// Disk space in bytes that is free, where the platform says.
    pub storage_free: Option<u64>,
    /// Facts for the provider's status, such as the accelerator; never a secret.
    pub details: BTreeMap<String, String>,
}
