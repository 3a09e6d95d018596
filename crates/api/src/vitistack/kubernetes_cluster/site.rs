//! Nodes and networks of a cluster, in the form of the documents.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema;
use crate::vitistack::kubernetes_provider::odd;

/// Nodes of the control plane.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterControlPlane {
    /// Number of nodes; odd, so that etcd keeps its quorum.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 99), transform = odd)]
    pub replicas: Option<i32>,
    /// MachineClass of the nodes; give either this or machineTemplate.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub machine_class: Option<String>,
    /// What machines of the control plane look like.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine_template: Option<MachineTemplateSpec>,
}

/// One group of worker nodes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterWorkers {
    /// Name of the group, unique within the cluster.
    #[schemars(length(min = 1, max = 63))]
    pub name: String,
    /// Number of nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub replicas: Option<i32>,
    /// MachineClass of the nodes; give either this or machineTemplate.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub machine_class: Option<String>,
    /// What machines of the group look like.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine_template: Option<MachineTemplateSpec>,
}

/// What machines look like.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MachineTemplateSpec {
    /// Spec of a Machine, kept as it is; it is judged when the machine is made.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = schema::free_object)]
    pub spec: BTreeMap<String, serde_json::Value>,
}

/// Address ranges of the cluster.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterNetworking {
    /// Address range of pods in CIDR notation.
    #[serde(rename = "podCIDR", skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::cidr)]
    pub pod_cidr: Option<String>,
    /// Address range of services in CIDR notation.
    #[serde(rename = "serviceCIDR", skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::cidr)]
    pub service_cidr: Option<String>,
}
