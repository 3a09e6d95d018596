//! Machine templates and the share of a provider that machines may use.
//!
//! Holding machines to it is left to the scheduler.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema;

/// A named size that machines can be made in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MachineTemplate {
    /// Name of the template, unique within the provider.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Resources of a machine of this size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<ResourceAmounts>,
}

/// How much of the provider machines may use.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Capacity {
    /// Most machines at the same time.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub max_machines: Option<i32>,
    /// Resources that machines never get.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reserved_resources: Option<ResourceAmounts>,
}

/// Amounts of CPU, memory and storage.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResourceAmounts {
    /// CPU cores.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub cpu: Option<i32>,
    /// Memory as a Kubernetes quantity, such as 8Gi.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::quantity)]
    pub memory: Option<String>,
    /// Storage as a Kubernetes quantity, such as 100Gi.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::quantity)]
    pub storage: Option<String>,
}
