//! How clusters are secured, watched and backed up, in the form of the shipped operators.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema;

/// How clusters are secured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterSecurity {
    /// Whether access is decided by roles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rbac: Option<bool>,
    /// Whether network policies are enforced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network_policies: Option<bool>,
    /// Whether pods are held to the pod security standards.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod_security_standards: Option<bool>,
    /// Which of them: privileged, baseline or restricted.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub pod_security_level: Option<String>,
    /// Whether images are scanned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_scanning: Option<bool>,
    /// What watches over running containers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runtime_security: Option<RuntimeSecurity>,
}

/// What watches over running containers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeSecurity {
    /// Whether anything does.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    pub enabled: Option<bool>,
    /// Which one, in its own name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub provider: Option<String>,
    /// Settings that only it knows.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = schema::string_map)]
    pub config: BTreeMap<String, String>,
}

/// What is recorded of clusters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Observability {
    /// What is recorded of logs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logging: Option<Telemetry>,
    /// What is recorded of metrics.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metrics: Option<Telemetry>,
    /// What is recorded of traces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tracing: Option<Tracing>,
}

/// What is recorded of logs or metrics.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Telemetry {
    /// Whether anything is recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    pub enabled: Option<bool>,
    /// Where it is recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub backend: Option<String>,
    /// Days that it is kept (1-365).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 365))]
    pub retention_days: Option<i32>,
    /// Settings that only the backend knows.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = schema::string_map)]
    pub config: BTreeMap<String, String>,
}

/// What is recorded of traces.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Tracing {
    /// Whether anything is recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    pub enabled: Option<bool>,
    /// Where it is recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub backend: Option<String>,
    /// Share of requests that are recorded, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 1, max = 32),
        regex(pattern = r"^(0(\.[0-9]+)?|1(\.0+)?)$")
    )]
    pub sampling_rate: Option<String>,
    /// Settings that only the backend knows.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = schema::string_map)]
    pub config: BTreeMap<String, String>,
}

/// How clusters are backed up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterBackup {
    /// Whether they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    pub enabled: Option<bool>,
    /// What makes the backups.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub provider: Option<String>,
    /// When backups are made, as a cron expression.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::cron)]
    pub schedule: Option<String>,
    /// Days that a backup is kept (1-365).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 365))]
    pub retention_days: Option<i32>,
    /// Where backups are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 2048))]
    pub storage_location: Option<String>,
    /// Settings that only the provider of backups knows.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = schema::string_map)]
    pub config: BTreeMap<String, String>,
}
