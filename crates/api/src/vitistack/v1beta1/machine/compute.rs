//! How large a machine is, v1beta1: CPU, memory and GPUs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema;
use crate::vitistack::machine::GpuType;

/// Processor, memory and accelerators of the machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Resources {
    /// Processor layout of the machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<Cpu>,
    /// Main memory as a Kubernetes quantity, such as 4Gi.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::quantity)]
    pub memory: Option<String>,
    /// Graphics accelerators attached to the machine.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16), extend("x-kubernetes-list-type" = "atomic"))]
    pub gpus: Vec<Gpu>,
}

/// Processor layout of the machine; each count is one unless given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cpu {
    /// Number of CPU cores of each socket (1-256).
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

/// Graphics accelerators of one model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Gpu {
    /// Maker of the GPU: nvidia, amd or intel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vendor: Option<GpuType>,
    /// GPU model, in the platform's own naming.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub model: Option<String>,
    /// Number of GPUs; one when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub count: Option<i32>,
}
