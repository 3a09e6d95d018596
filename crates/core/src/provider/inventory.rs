//! What a platform has to offer by name, and how far its own quotas go.
//!
//! It changes seldom and may be long, so that it is asked for apart from a probe. What the provider's
//! owner declares is not part of it.

use jiff::Timestamp;

/// What a platform has to offer. An empty list says that the platform does not tell.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inventory {
    /// Images that machines can be made from.
    pub images: Vec<StockImage>,
    /// Names of sizes.
    pub sizes: Vec<String>,
    /// Zones that machines can be in.
    pub zones: Vec<String>,
    /// Disk types or storage classes.
    pub storage: Vec<String>,
    /// The platform's own quotas.
    pub quotas: Vec<Quota>,
}

/// One image of a platform.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StockImage {
    /// What a machine may name it by.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// The system on it, as far as the platform knows.
    pub os: Option<String>,
    /// Its instruction set, as far as the platform knows.
    pub architecture: Option<String>,
    /// Whether everybody may use it.
    pub public: bool,
    /// When it was made.
    pub created: Option<Timestamp>,
}

/// One quota of a platform.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quota {
    /// What is counted.
    pub resource: Counted,
    /// How much there may be.
    pub limit: u64,
    /// How much there is, where the platform says; others may use it too.
    pub used: Option<u64>,
}

/// What a quota counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Counted {
    /// Machines.
    Machines,
    /// Something of the network, by the platform's name for it.
    Network(String),
}
