//! Nodes of a cluster, in the form of the shipped operators.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rules;
use crate::schema;
use crate::vitistack::kubernetes_provider::odd;
use crate::vitistack::machine::Architecture;

/// Nodes of the cluster.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterTopology {
    /// Version of Kubernetes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, length(min = 1, max = 253))]
    pub version: Option<String>,
    /// Nodes of the control plane.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    pub controlplane: Option<TopologyControlPlane>,
    /// Worker nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    pub workers: Option<TopologyWorkers>,
}

/// Nodes of the control plane.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TopologyControlPlane {
    /// Number of nodes; odd, so that etcd keeps its quorum.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, range(min = 1, max = 99), transform = odd)]
    pub replicas: Option<i32>,
    /// Version of Kubernetes on the nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, length(min = 1, max = 253))]
    pub version: Option<String>,
    /// Provider that the nodes run on, such as kubevirt.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, length(min = 1, max = 253))]
    pub provider: Option<String>,
    /// MachineClass of the nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, length(min = 1, max = 253))]
    pub machine_class: Option<String>,
    /// Labels and annotations of the nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    pub metadata: Option<NodeMetadata>,
    /// Disks of the nodes, the boot disk first.
    #[schemars(required, length(max = 32), extend("x-kubernetes-list-type" = "atomic"))]
    pub storage: Vec<NodeStorage>,
    /// CPU architecture of the nodes; amd64 unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "amd64"))]
    pub architecture: Option<Architecture>,
}

/// Worker nodes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TopologyWorkers {
    /// Groups of worker nodes, by name.
    #[schemars(required, length(max = 64), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub node_pools: Vec<TopologyNodePool>,
}

/// One group of worker nodes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TopologyNodePool {
    /// Name of the group, unique within the cluster.
    #[schemars(length(min = 1, max = 63))]
    pub name: String,
    /// Number of nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, range(min = 0))]
    pub replicas: Option<i32>,
    /// Version of Kubernetes on the nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, length(min = 1, max = 253))]
    pub version: Option<String>,
    /// Provider that the nodes run on, such as kubevirt.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, length(min = 1, max = 253))]
    pub provider: Option<String>,
    /// MachineClass of the nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, length(min = 1, max = 253))]
    pub machine_class: Option<String>,
    /// How the group grows and shrinks by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    pub autoscaling: Option<PoolScaling>,
    /// Labels and annotations of the nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    pub metadata: Option<NodeMetadata>,
    /// Taints of the nodes.
    #[schemars(required, length(max = 64), extend("x-kubernetes-list-type" = "atomic"))]
    pub taint: Vec<NodeTaint>,
    /// Disks of the nodes, the boot disk first.
    #[schemars(required, length(max = 32), extend("x-kubernetes-list-type" = "atomic"))]
    pub storage: Vec<NodeStorage>,
    /// CPU architecture of the nodes; amd64 unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "amd64"))]
    pub architecture: Option<Architecture>,
}

/// How a group of nodes grows and shrinks by itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rules::scaling)]
pub struct PoolScaling {
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
    /// Rules that it goes by.
    #[schemars(required, length(max = 64), inner(length(min = 1, max = 253)), extend("x-kubernetes-list-type" = "atomic"))]
    pub scaling_rules: Vec<String>,
}

/// Labels and annotations of nodes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeMetadata {
    /// Labels of the nodes.
    #[schemars(required, transform = schema::string_map)]
    pub labels: BTreeMap<String, String>,
    /// Annotations of the nodes.
    #[schemars(required, transform = schema::string_map)]
    pub annotations: BTreeMap<String, String>,
}

/// One disk of a node.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeStorage {
    /// Storage class of the disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, length(min = 1, max = 253))]
    pub class: Option<String>,
    /// Path that the disk is mounted at.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, length(min = 1, max = 4096))]
    pub path: Option<String>,
    /// Size of the disk as a Kubernetes quantity, such as 50Gi.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, transform = schema::quantity)]
    pub size: Option<String>,
}

/// Keeps pods away from nodes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeTaint {
    /// Key of the taint.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, length(min = 1, max = 253))]
    pub key: Option<String>,
    /// Value of the taint.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, length(max = 63))]
    pub value: Option<String>,
    /// What happens to pods that do not tolerate it, such as NoSchedule.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, length(min = 1, max = 253))]
    pub effect: Option<String>,
}
