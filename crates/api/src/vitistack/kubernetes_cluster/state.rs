//! A cluster as it really is, in the form of the shipped operators.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::quantity::QuantityValue;
use crate::schema;

/// The cluster as it really is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterStateStatus {
    /// Size and price of the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<ClusterFacts>,
    /// Versions of what the cluster is made of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub versions: Vec<ClusterVersion>,
    /// Where the cluster is reached.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub endpoints: Vec<NamedEndpoint>,
    /// Address that traffic to the outside comes from.
    #[serde(rename = "egressIP", skip_serializing_if = "Option::is_none")]
    pub egress_ip: Option<String>,
    /// When the cluster was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<Time>,
    /// When this was last changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_updated: Option<Time>,
    /// Who changed it last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_updated_by: Option<String>,
}

/// Size and price of the cluster.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterFacts {
    /// ID of the cluster at whatever made it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external_id: Option<String>,
    /// What the cluster costs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<ClusterPrice>,
    /// What the cluster has, and what it uses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<ClusterResources>,
    /// The control plane as it really is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub controlplane: Option<ClusterControlPlaneState>,
    /// Groups of worker nodes as they really are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub nodepools: Vec<ClusterNodePoolState>,
}

/// What a cluster costs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterPrice {
    /// In a month.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub monthly: Option<i32>,
    /// In a year.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub yearly: Option<i32>,
}

/// What there is, and what is used.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterResources {
    /// Processors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<ResourceShare>,
    /// Main memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<ResourceShare>,
    /// Graphics accelerators.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu: Option<ResourceShare>,
    /// Disk space.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk: Option<ResourceShare>,
}

/// How much there is of a resource, and how much is used.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResourceShare {
    /// How much there is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, transform = schema::amount)]
    pub capacity: Option<QuantityValue>,
    /// How much is used.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, transform = schema::amount)]
    pub used: Option<QuantityValue>,
    /// Share that is used, in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, range(min = 0))]
    pub percentage: Option<i32>,
}

/// The control plane as it really is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterControlPlaneState {
    /// State of the control plane.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// What it waits for or suffers from, in one sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Number of nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub scale: Option<i32>,
    /// MachineClass of the nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine_class: Option<String>,
    /// What the nodes have, and what they use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<ClusterResources>,
    /// Names of the nodes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 128), extend("x-kubernetes-list-type" = "atomic"))]
    pub nodes: Vec<String>,
}

/// One group of worker nodes as it really is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterNodePoolState {
    /// Name of the group.
    #[schemars(length(min = 1, max = 63))]
    pub name: String,
    /// State of the group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// What it waits for or suffers from, in one sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Number of nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub scale: Option<i32>,
    /// MachineClass of the nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine_class: Option<String>,
    /// How the group grows and shrinks by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub autoscaling: Option<PoolScalingState>,
    /// What the nodes have, and what they use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<ClusterResources>,
    /// Names of the nodes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1024), extend("x-kubernetes-list-type" = "atomic"))]
    pub nodes: Vec<String>,
}

/// How a group of nodes grows and shrinks by itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PoolScalingState {
    /// Whether it does so.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    pub enabled: Option<bool>,
    /// Least nodes in the group.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, range(min = 0))]
    pub min_replicas: Option<i32>,
    /// Most nodes in the group.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, range(min = 0))]
    pub max_replicas: Option<i32>,
}

/// Version of one thing that the cluster is made of.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterVersion {
    /// Name of it.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Version of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    pub version: Option<String>,
    /// Branch that the version is from.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    pub branch: Option<String>,
}

/// One address of the cluster.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NamedEndpoint {
    /// What the address is for.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// The address.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    pub address: Option<String>,
}
