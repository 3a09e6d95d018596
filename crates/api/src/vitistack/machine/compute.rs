//! How large a machine is: CPU, memory and GPUs, in both documented forms.
//!
//! What an absent number means (the instance type's or one) is left to the domain model.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::enums::GpuType;
use crate::schema;

/// Processor layout of the machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cpu {
    /// Number of CPU cores (1-256).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 256))]
    pub cores: Option<i32>,
    /// Threads of each core (1-8).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 8))]
    pub threads_per_core: Option<i32>,
    /// Number of CPU sockets (1-16).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 16))]
    pub sockets: Option<i32>,
}

/// Processor, memory and accelerators of the machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Resources {
    /// Processor layout of the machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<ResourcesCpu>,
    /// Main memory of the machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<ResourcesMemory>,
    /// Graphics accelerators attached to the machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu: Option<Gpu>,
}

/// Processor layout; each count is one unless given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResourcesCpu {
    /// Number of CPU cores (1-128).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 128), extend("default" = 1))]
    pub cores: Option<i32>,
    /// Threads of each core (1-2).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 2), extend("default" = 1))]
    pub threads: Option<i32>,
    /// Number of CPU sockets (1-4).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 4), extend("default" = 1))]
    pub sockets: Option<i32>,
}

/// Main memory of the machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResourcesMemory {
    /// Memory size as a Kubernetes quantity from 128Mi to 1024Gi, such as 4Gi.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, transform = schema::memory_size)]
    pub size: Option<String>,
}

/// Graphics accelerators of one type.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Gpu {
    /// Maker of the GPU: nvidia, amd or intel.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_: Option<GpuType>,
    /// Number of GPUs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub count: Option<i32>,
    /// Specific GPU model, in the platform's own naming.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub model: Option<String>,
}
