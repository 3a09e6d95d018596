//! The compute resources that a provider offers, its defaults and its limits.
//!
//! Choosing a provider by them is left to the scheduler.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema;

/// The provider's compute defaults, limits and options.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ComputeConfig {
    /// CPUs of machines that give none, such as 2.
    #[serde(rename = "defaultCPU", skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::positive_decimal)]
    pub default_cpu: Option<String>,
    /// Memory in GB of machines that give none, such as 4.0.
    #[serde(rename = "defaultMemoryGB", skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::positive_decimal)]
    pub default_memory_gb: Option<String>,
    /// Most CPUs that a machine may have.
    #[serde(rename = "maxCPU", skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::positive_decimal)]
    pub max_cpu: Option<String>,
    /// Most memory in GB that a machine may have.
    #[serde(rename = "maxMemoryGB", skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::positive_decimal)]
    pub max_memory_gb: Option<String>,
    /// What the provider's processors offer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_options: Option<CpuOptions>,
    /// What the provider's memory offers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_options: Option<MemoryOptions>,
    /// Which GPUs the provider has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu_support: Option<GpuSupport>,
}

/// What the provider's processors offer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CpuOptions {
    /// Whether a core runs more than one thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hyper_threading: Option<bool>,
    /// CPU architectures that are offered, such as x86_64 or arm64.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16), inner(length(min = 1, max = 63)), extend("x-kubernetes-list-type" = "set"))]
    pub supported_architectures: Vec<String>,
    /// CPU features that are offered, such as avx2.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), inner(length(min = 1, max = 63)), extend("x-kubernetes-list-type" = "set"))]
    pub cpu_features: Vec<String>,
}

/// What the provider's memory offers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryOptions {
    /// Whether huge pages are offered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub huge_pages_support: Option<bool>,
    /// Whether machines may be promised more memory than there is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_overcommit: Option<bool>,
    /// Whether the hosts swap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub swap_enabled: Option<bool>,
}

/// Which GPUs the provider has.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GpuSupport {
    /// Whether GPUs are offered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// GPU types that are offered, such as nvidia-tesla-v100.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(min = 1, max = 253)), extend("x-kubernetes-list-type" = "set"))]
    pub available_types: Vec<String>,
    /// Most GPUs that a machine may have.
    #[serde(rename = "maxGPUs", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub max_gpus: Option<i32>,
}
