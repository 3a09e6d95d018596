//! What is known about an installation, in the vocabulary of both forms.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::infrastructure::Location;
use crate::wire_enum::wire_enum;

/// What is known about the installation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VitistackStatus {
    /// Generation of the spec that this status answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Where the installation is in its life: Pending, Active or Failed, or Initializing, Provisioning, Ready, Degraded or Deleting in the words of the shipped operators.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<StackPhase>,
    /// Detailed conditions, by type, such as Ready, ProvidersHealthy, NetworkingReady and QuotaAvailable.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
    /// Providers as they were found, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub providers: Vec<ProviderStatus>,
    /// How much is used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<StackResources>,
    /// Name of the installation for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// Region that the installation is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// Availability zone that the installation is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    /// The word that the shipped operators write, such as prod.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub infrastructure: Option<String>,
    /// What the installation is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Where on earth the installation is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
    /// MachineProviders that were found, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub machine_providers: Vec<ProviderSummary>,
    /// KubernetesProviders that were found, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub kubernetes_providers: Vec<ProviderSummary>,
    /// Clusters that were found, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1024), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub clusters: Vec<ClusterSummary>,
    /// MachineClasses that were found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), extend("x-kubernetes-list-type" = "atomic"))]
    pub machine_classes: Vec<String>,
    /// Number of MachineProviders.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub machine_provider_count: Option<i32>,
    /// Number of KubernetesProviders.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub kubernetes_provider_count: Option<i32>,
    /// Number of machines.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub active_machines: Option<i32>,
    /// Number of clusters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub active_clusters: Option<i32>,
    /// How much of each resource is used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_usage: Option<StackUsage>,
    /// Providers as they were found, in the form of the shipped operators.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub provider_statuses: Vec<ProviderStatus>,
    /// When the installation was last looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_reconcile_time: Option<Time>,
}

wire_enum! {
    /// Where an installation is in its life.
    #[derive(Default)]
    StackPhase {
        /// Nobody has looked at it yet.
        #[default]
        Pending = "Pending",
        /// It works.
        Active = "Active",
        /// It does not work.
        Failed = "Failed",
        /// Nobody has looked at it yet, as the shipped operators say it.
        Initializing = "Initializing",
        /// It is being made.
        Provisioning = "Provisioning",
        /// It works, as the shipped operators say it.
        Ready = "Ready",
        /// Some of it works.
        Degraded = "Degraded",
        /// It is being removed.
        Deleting = "Deleting",
    }
}

/// One provider as it was found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProviderStatus {
    /// Name of the provider.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// What it makes: machine or kubernetes.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_: Option<ProviderKind>,
    /// Where it is in its life.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// Whether it works.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub healthy: Option<bool>,
    /// What it waits for or suffers from, in one sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Number of objects that it manages.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub resources_managed: Option<i32>,
    /// When it was last tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_health_check: Option<Time>,
}

wire_enum! {
    /// What a provider makes.
    ProviderKind {
        /// Machines.
        Machine = "machine",
        /// Clusters.
        Kubernetes = "kubernetes",
    }
}

/// How much is used.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StackResources {
    /// Number of machines.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub machines: Option<i32>,
    /// Number of networks.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub networks: Option<i32>,
    /// Storage, as a Kubernetes quantity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub storage: Option<String>,
}

/// One provider object that was found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProviderSummary {
    /// Name of the provider object.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Namespace of the provider object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Type of the provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_type: Option<String>,
    /// Region of the provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// Availability zone of the provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    /// Whether it can be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready: Option<bool>,
    /// When it was first found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub discovered_at: Option<Time>,
}

/// One cluster that was found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterSummary {
    /// Name of the cluster.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Namespace of the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Where the cluster is in its life.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// Version of Kubernetes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Nodes of the control plane.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub control_plane_replicas: Option<i32>,
    /// Worker nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub worker_replicas: Option<i32>,
    /// Whether the cluster can be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready: Option<bool>,
    /// When it was first found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub discovered_at: Option<Time>,
}

/// How much of each resource is used.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StackUsage {
    /// CPU cores that there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub cpu_cores_total: Option<i64>,
    /// CPU cores that are used.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub cpu_cores_used: Option<i64>,
    /// Memory that there is, in GB.
    #[serde(rename = "memoryGBTotal", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub memory_gb_total: Option<i64>,
    /// Memory that is used, in GB.
    #[serde(rename = "memoryGBUsed", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub memory_gb_used: Option<i64>,
    /// Storage that there is, in GB.
    #[serde(rename = "storageGBTotal", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub storage_gb_total: Option<i64>,
    /// Storage that is used, in GB.
    #[serde(rename = "storageGBUsed", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub storage_gb_used: Option<i64>,
    /// Network interfaces that there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub network_interfaces_total: Option<i64>,
    /// Network interfaces that are used.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub network_interfaces_used: Option<i64>,
}
