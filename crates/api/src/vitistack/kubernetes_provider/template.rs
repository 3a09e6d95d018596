//! What clusters get unless they say otherwise, in the documented form.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rules;
use crate::schema;
use crate::vitistack::machine::Resources;
use crate::wire_enum::wire_enum;

/// What clusters get unless they say otherwise.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterTemplate {
    /// Version of Kubernetes, such as 1.34.0.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 1, max = 64),
        regex(pattern = r"^v?[0-9]+\.[0-9]+(\.[0-9]+)?(-[0-9A-Za-z.-]+)?$")
    )]
    pub kubernetes_version: Option<String>,
    /// Network plug-in of clusters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cni: Option<Cni>,
    /// Nodes of the control plane.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control_plane: Option<ControlPlaneTemplate>,
    /// Groups of worker nodes, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub workers: Vec<WorkerTemplate>,
}

/// Network plug-in of clusters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cni {
    /// Type of the plug-in: calico, flannel or cilium.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_: Option<CniType>,
    /// Configuration that only this plug-in knows.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = schema::free_object)]
    pub config: BTreeMap<String, serde_json::Value>,
}

wire_enum! {
    /// Type of a network plug-in.
    CniType {
        /// Calico.
        Calico = "calico",
        /// Flannel.
        Flannel = "flannel",
        /// Cilium.
        Cilium = "cilium",
    }
}

/// Nodes of the control plane.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ControlPlaneTemplate {
    /// Number of nodes; odd, so that etcd keeps its quorum.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 99), transform = rules::odd)]
    pub replicas: Option<i32>,
    /// What machines of the control plane look like.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine_template: Option<MachineResources>,
}

/// One group of worker nodes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkerTemplate {
    /// Name of the group, unique within the cluster.
    #[schemars(length(min = 1, max = 63))]
    pub name: String,
    /// Number of nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub replicas: Option<i32>,
    /// What machines of the group look like.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine_template: Option<MachineResources>,
}

/// What machines look like.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MachineResources {
    /// Processor, memory and accelerators of a machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<Resources>,
}

/// Address ranges and DNS domain of clusters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TemplateNetworking {
    /// Address range of pods in CIDR notation.
    #[serde(rename = "podCIDR", skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::cidr)]
    pub pod_cidr: Option<String>,
    /// Address range of services in CIDR notation.
    #[serde(rename = "serviceCIDR", skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::cidr)]
    pub service_cidr: Option<String>,
    /// DNS domain of the cluster, such as cluster.local.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::domain)]
    pub dns_domain: Option<String>,
}
