//! What is known about a provider, in the vocabulary of both documented forms.
//!
//! Only the reporter writes it; nothing reads it back to decide.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::availability::{AvailableResources, QuotaStatus};
use super::enums::{AuthenticationState, ConnectivityState, HealthState, ProviderPhase};
use crate::schema;

/// What was last seen of the provider.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MachineProviderStatus {
    /// Generation of the spec that this status answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Overall state of the provider: Ready, NotReady, Error or Initializing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<ProviderPhase>,
    /// Detailed conditions, by type, such as Ready, Authenticated and NetworkConfigured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
    /// Whether the platform's API can be reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connectivity: Option<ConnectivityStatus>,
    /// Whether the platform accepts the credentials.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authentication: Option<AuthenticationStatus>,
    /// What is used and what is left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<ResourceStatus>,
    /// How well the platform has been answering.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub health: Option<HealthStatus>,
    /// Which declared capabilities were found to be true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<CapabilityStatus>,
    /// Whether machines can be made, in the second documented form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready: Option<bool>,
    /// Resources in the second documented form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity: Option<CapacityStatus>,
    /// Number of machines that the provider runs now.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub machines: Option<i32>,
    /// What the provider is doing or waiting for, in one sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// When the provider was last tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_verified: Option<Time>,
    /// Number of machines that the provider runs now, in the third documented form; the same as machines.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub active_machines: Option<i32>,
    /// How much of the platform's quotas is used, in the third documented form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quota: Option<QuotaStatus>,
    /// What the platform was found to offer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub available_resources: Option<AvailableResources>,
    /// Status that only this provider knows, passed on as it is.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = schema::string_map)]
    pub provider_status: BTreeMap<String, String>,
}

/// Whether the platform's API can be reached.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConnectivityStatus {
    /// Connected, Disconnected or Error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<ConnectivityState>,
    /// When the platform was last asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_checked: Option<Time>,
    /// Endpoint that was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// Time that the answer took, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub latency_ms: Option<i32>,
}

/// Whether the platform accepts the credentials.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuthenticationStatus {
    /// Valid, Invalid, Expired or Error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<AuthenticationState>,
    /// When the credentials were last tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_verified: Option<Time>,
    /// When the credentials stop being valid, where the platform tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Time>,
}

/// What is used of the provider and what is left.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResourceStatus {
    /// What machines use now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<ResourceUsage>,
    /// What the provider can give at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<ResourceLimits>,
    /// The platform's own quotas, by resource.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["resource"]))]
    pub quotas: Vec<ResourceQuotaStatus>,
}

/// What machines use now.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResourceUsage {
    /// Number of machines managed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub machines: Option<i32>,
    /// CPUs allocated to machines.
    #[serde(rename = "totalCPU", skip_serializing_if = "Option::is_none")]
    pub total_cpu: Option<String>,
    /// Memory allocated to machines, in GB.
    #[serde(rename = "totalMemoryGB", skip_serializing_if = "Option::is_none")]
    pub total_memory_gb: Option<String>,
    /// Storage allocated to machines, in GB.
    #[serde(rename = "totalStorageGB", skip_serializing_if = "Option::is_none")]
    pub total_storage_gb: Option<String>,
}

/// What the provider can give at most.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResourceLimits {
    /// Most machines.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub max_machines: Option<i32>,
    /// Most CPUs.
    #[serde(rename = "maxCPU", skip_serializing_if = "Option::is_none")]
    pub max_cpu: Option<String>,
    /// Most memory, in GB.
    #[serde(rename = "maxMemoryGB", skip_serializing_if = "Option::is_none")]
    pub max_memory_gb: Option<String>,
    /// Most storage, in GB.
    #[serde(rename = "maxStorageGB", skip_serializing_if = "Option::is_none")]
    pub max_storage_gb: Option<String>,
}

/// One of the platform's own quotas.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResourceQuotaStatus {
    /// What is counted: cpu, memory, storage, instances or another resource of the platform.
    pub resource: String,
    /// How much is used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used: Option<String>,
    /// How much there is in all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
    /// How much is left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub available: Option<String>,
    /// Unit of the three amounts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
}

/// How well the platform has been answering.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HealthStatus {
    /// Health score from 0 (dead) to 100 (well).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100))]
    pub score: Option<i32>,
    /// When the score was last computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_checked: Option<Time>,
    /// What the score is computed from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metrics: Option<HealthMetrics>,
    /// Healthy, Degraded or Unhealthy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<HealthState>,
    /// Whether the platform's API can be reached, in the third documented form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_connectivity: Option<String>,
    /// Whether the platform accepts the credentials, in the third documented form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authentication: Option<String>,
    /// Which services are available, by region or zone.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = schema::string_map)]
    pub service_availability: BTreeMap<String, String>,
    /// When the platform was last asked, in the third documented form; the same as lastChecked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_check: Option<Time>,
    /// Time that the answer took, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub response_time_ms: Option<i32>,
}

/// What the health score is computed from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HealthMetrics {
    /// Share of requests that succeeded, in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub success_rate: Option<String>,
    /// Average time that an answer took, such as 42ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub avg_response_time: Option<String>,
    /// Share of requests that failed, in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_rate: Option<String>,
}

/// Which declared capabilities were found to be true.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CapabilityStatus {
    /// Capabilities that were found to be true.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), extend("x-kubernetes-list-type" = "atomic"))]
    pub verified: Vec<String>,
    /// Features that were found to be missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), extend("x-kubernetes-list-type" = "atomic"))]
    pub unsupported: Vec<String>,
    /// When the capabilities were last looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_verified: Option<Time>,
}

/// Resources of the provider, in the second documented form.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CapacityStatus {
    /// All resources of the provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<ResourceQuota>,
    /// Resources that are free now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub available: Option<ResourceQuota>,
    /// Resources that are in use now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used: Option<ResourceQuota>,
}

/// Amounts of resources.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResourceQuota {
    /// CPU cores.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub cpu: Option<i64>,
    /// Memory as a Kubernetes quantity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<String>,
    /// Storage as a Kubernetes quantity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub storage: Option<String>,
    /// Number of machines.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub machines: Option<i32>,
}
