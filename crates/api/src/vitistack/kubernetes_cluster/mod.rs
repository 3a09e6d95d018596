//! KubernetesCluster: one Kubernetes cluster, made of machines.
//!
//! Three forms live side by side: that of the shipped operators (`data`, `topology`), that of the
//! documents (`providerRef`, `controlPlane`, `workers`, `networking`) and that of Talos
//! (`clusterName`, `talosVersion`, `talosConfig`, …), which shares `controlPlane` and `workers` with
//! the second.

mod data;
mod rules;
mod site;
mod state;
mod status;
mod talos;
mod topology;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use data::ClusterData;
pub use site::{ClusterControlPlane, ClusterNetworking, ClusterWorkers, MachineTemplateSpec};
pub use state::{
    ClusterControlPlaneState, ClusterFacts, ClusterNodePoolState, ClusterPrice, ClusterResources,
    ClusterStateStatus, ClusterVersion, NamedEndpoint, PoolScalingState, ResourceShare,
};
pub use status::KubernetesClusterStatus;
pub use talos::{
    CertificatePair, TalosCluster, TalosConfig, TalosControlPlane, TalosInstall, TalosMachine,
    TalosNetwork,
};
pub use topology::{
    ClusterTopology, NodeMetadata, NodeStorage, NodeTaint, PoolScaling, TopologyControlPlane,
    TopologyNodePool, TopologyWorkers,
};

use crate::schema;
use crate::vitistack::common::ObjectRef;
use crate::vitistack::metadata_name;

/// What a cluster should be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[kube(
    group = "vitistack.io",
    version = "v1alpha1",
    kind = "KubernetesCluster",
    plural = "kubernetesclusters",
    singular = "kubernetescluster",
    shortname = "kc",
    category = "vitistack",
    category = "machinist",
    namespaced,
    status = "KubernetesClusterStatus",
    derive = "PartialEq",
    derive = "Default",
    validation = metadata_name(),
    doc = "KubernetesCluster is one Kubernetes cluster, made of machines.",
    selectable = ".spec.data.provider",
    selectable = ".spec.providerRef.name",
    selectable = ".status.phase",
    printcolumn(name = "Phase", type_ = "string", json_path = ".status.phase"),
    printcolumn(name = "Provider", type_ = "string", json_path = ".spec.data.provider"),
    printcolumn(name = "Region", type_ = "string", json_path = ".spec.data.region"),
    printcolumn(
        name = "CPs",
        type_ = "integer",
        json_path = ".spec.topology.controlplane.replicas"
    ),
    printcolumn(name = "Workers", type_ = "integer", json_path = ".status.workers"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    printcolumn(
        name = "Version",
        type_ = "string",
        json_path = ".status.kubernetesVersion",
        priority = 1
    ),
    printcolumn(name = "Message", type_ = "string", json_path = ".status.message", priority = 1)
)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rules::spec)]
pub struct KubernetesClusterSpec {
    /// What the cluster is and where it is; goes with topology.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<ClusterData>,
    /// Nodes of the cluster; goes with data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topology: Option<ClusterTopology>,
    /// KubernetesProvider that makes the cluster; give either this or data.provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_ref: Option<ObjectRef>,
    /// Version of Kubernetes; give either this or topology.version.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 1, max = 64),
        regex(pattern = r"^v?[0-9]+\.[0-9]+(\.[0-9]+)?(-[0-9A-Za-z.-]+)?$")
    )]
    pub kubernetes_version: Option<String>,
    /// Nodes of the control plane; give either this or topology.controlplane.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control_plane: Option<ClusterControlPlane>,
    /// Groups of worker nodes, by name; give either these or topology.workers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub workers: Vec<ClusterWorkers>,
    /// Address ranges of the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub networking: Option<ClusterNetworking>,
    /// Name of the cluster; the object's own when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 1, max = 63),
        regex(pattern = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")
    )]
    pub cluster_name: Option<String>,
    /// Version of Talos Linux on the nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 1, max = 64),
        regex(pattern = r"^v?[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$")
    )]
    pub talos_version: Option<String>,
    /// URL of the API server.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::url)]
    pub cluster_endpoint: Option<String>,
    /// Address ranges of pods in CIDR notation; give either these or networking.podCIDR.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 8), transform = schema::cidrs, extend("x-kubernetes-list-type" = "atomic"))]
    pub pod_subnets: Vec<String>,
    /// Address ranges of services in CIDR notation; give either these or networking.serviceCIDR.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 8), transform = schema::cidrs, extend("x-kubernetes-list-type" = "atomic"))]
    pub service_subnets: Vec<String>,
    /// Configuration that only Talos knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub talos_config: Option<TalosConfig>,
}
