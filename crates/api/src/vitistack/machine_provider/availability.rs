//! What a provider has left, in the third documented form of its status.
//!
//! Only the reporter writes it; nothing reads it back to decide.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema;

/// How much of the platform's quotas is used.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuotaStatus {
    /// Most CPU cores.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub cpu_quota: Option<i64>,
    /// CPU cores in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub cpu_used: Option<i64>,
    /// Most memory, in GB.
    #[serde(rename = "memoryQuotaGB", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub memory_quota_gb: Option<i64>,
    /// Memory in use, in GB.
    #[serde(rename = "memoryUsedGB", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub memory_used_gb: Option<i64>,
    /// Most storage, in GB.
    #[serde(rename = "storageQuotaGB", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub storage_quota_gb: Option<i64>,
    /// Storage in use, in GB.
    #[serde(rename = "storageUsedGB", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub storage_used_gb: Option<i64>,
    /// Most machines.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub instance_quota: Option<i64>,
    /// Machines in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub instance_used: Option<i64>,
    /// Most of each network resource, by its name at the platform.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("maxProperties" = 64))]
    pub network_quota: BTreeMap<String, i64>,
    /// Network resources in use, by their name at the platform.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("maxProperties" = 64))]
    pub network_used: BTreeMap<String, i64>,
}

/// What the platform was found to offer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AvailableResources {
    /// Machine classes that were found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1024), extend("x-kubernetes-list-type" = "atomic"))]
    pub machine_classes: Vec<String>,
    /// Availability zones that were found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "atomic"))]
    pub zones: Vec<String>,
    /// Storage types that were found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "atomic"))]
    pub storage_types: Vec<String>,
    /// Images that were found, by ID.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 512), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["id"]))]
    pub images: Vec<FoundImage>,
    /// Limits that the platform tells of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<FoundLimits>,
}

/// One image that was found at the platform.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FoundImage {
    /// The platform's own ID of the image.
    #[schemars(length(min = 1, max = 4096))]
    pub id: String,
    /// Name of the image.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    pub name: Option<String>,
    /// Family of the operating system on the image.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    pub os_family: Option<String>,
    /// Distribution of the operating system on the image.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    pub os_distribution: Option<String>,
    /// Version of the operating system on the image.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    pub os_version: Option<String>,
    /// CPU architecture that the image is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    pub architecture: Option<String>,
    /// Whether everybody may use the image.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    pub public: Option<bool>,
    /// When the image was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub creation_date: Option<Time>,
}

/// Limits that the platform tells of.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FoundLimits {
    /// Most machines in one availability zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub max_machines_per_zone: Option<i64>,
    /// Most storage of one machine, in GB.
    #[serde(
        rename = "maxStoragePerMachineGB",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(range(min = 0))]
    pub max_storage_per_machine_gb: Option<i64>,
    /// Most network interfaces of one machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub max_network_interfaces: Option<i64>,
    /// Rates that the platform allows, by what they limit.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = schema::string_map)]
    pub rate_limits: BTreeMap<String, String>,
}
