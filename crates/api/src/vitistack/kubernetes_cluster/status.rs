//! What is known about a cluster, in the vocabulary of every form.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::state::ClusterStateStatus;

/// What is known about the cluster.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KubernetesClusterStatus {
    /// Generation of the spec that this status answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Where the cluster is in its life, such as Pending, Provisioning, Running, Ready or Failed, or a step of whatever makes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// What the cluster waits for or suffers from, in one sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Detailed conditions, by type.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
    /// Number of worker nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub workers: Option<i32>,
    /// The cluster as it really is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<ClusterStateStatus>,
    /// Version of Kubernetes that runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kubernetes_version: Option<String>,
    /// Whether the control plane answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control_plane_ready: Option<bool>,
    /// Number of nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub nodes: Option<i32>,
    /// Number of worker nodes that are ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub workers_ready: Option<i32>,
    /// Number of machines that the cluster is made of.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub machine_count: Option<i32>,
    /// When this status was last changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_updated: Option<Time>,
}
