//! KubernetesProvider: how Kubernetes clusters are made, and what they get unless they say otherwise.
//!
//! Shape B (`type`, `clusterTemplate`, `networking`) and shape C (`providerType`, `cluster`,
//! `nodePools`, `network`, …) live side by side.

mod addons;
mod authentication;
mod cluster;
mod operations;
mod pools;
mod rules;
mod status;
mod template;

use std::collections::BTreeMap;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use addons::{
    Addon, AddonStorage, AddonStorageClass, Addons, DnsAddon, IngressAddon, IngressType,
    MonitoringAddon, TypedAddon,
};
pub use authentication::{
    ClusterAuthentication, ClusterAuthenticator, LdapAuthentication, OidcAuthentication,
    ServiceAccountSigning,
};
pub use cluster::{
    ApiServerConfig, ClusterConfig, ClusterDns, ClusterLoadBalancer, ClusterNetwork,
    ControlPlaneConfig, EtcdConfig,
};
pub use operations::{
    ClusterBackup, ClusterSecurity, Observability, RuntimeSecurity, Telemetry, Tracing,
};
pub use pools::{
    Kubelet, NodeConfig, NodeDisk, NodeNetwork, NodeOs, NodePool, NodePoolScaling, NodeSecurity,
    Taint,
};
pub(crate) use rules::odd;
pub use status::{
    AddonStatus, ClusterCapacity, ClusterEndpoints, ClusterHealth, ClusterSecurityStatus,
    ClusterState, KubernetesProviderPhase, KubernetesProviderStatus, NodePoolScalingStatus,
    NodePoolStatus, VersionStatus,
};
pub use template::{
    ClusterTemplate, Cni, CniType, ControlPlaneTemplate, MachineResources, TemplateNetworking,
    WorkerTemplate,
};

use crate::schema;
use crate::vitistack::common::ObjectRef;
use crate::vitistack::metadata_name;
use crate::wire_enum::wire_enum;

/// How clusters are made, and what they get.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[kube(
    group = "vitistack.io",
    version = "v1alpha1",
    kind = "KubernetesProvider",
    plural = "kubernetesproviders",
    singular = "kubernetesprovider",
    shortname = "kp",
    category = "vitistack",
    category = "machinist",
    namespaced,
    status = "KubernetesProviderStatus",
    derive = "PartialEq",
    derive = "Default",
    validation = metadata_name(),
    doc = "KubernetesProvider is one way to make Kubernetes clusters.",
    selectable = ".spec.type",
    selectable = ".spec.providerType",
    selectable = ".status.phase",
    printcolumn(name = "Type", type_ = "string", json_path = ".spec.type"),
    printcolumn(
        name = "Version",
        type_ = "string",
        json_path = ".spec.clusterTemplate.kubernetesVersion"
    ),
    printcolumn(name = "Ready", type_ = "boolean", json_path = ".status.ready"),
    printcolumn(name = "Clusters", type_ = "integer", json_path = ".status.activeClusters"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    printcolumn(
        name = "Provider-Type",
        type_ = "string",
        json_path = ".spec.providerType",
        priority = 1
    ),
    printcolumn(name = "Phase", type_ = "string", json_path = ".status.phase", priority = 1),
    printcolumn(name = "Nodes", type_ = "integer", json_path = ".status.nodeCount", priority = 1)
)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rules::spec)]
pub struct KubernetesProviderSpec {
    /// What makes the clusters: talos, kubeadm or k3s, or one that the shipped operators know; give either this or providerType.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_: Option<KubernetesProviderType>,
    /// What makes the clusters, in the spelling of the shipped operators; give either this or type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_type: Option<KubernetesProviderType>,
    /// Name of the provider for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub display_name: Option<String>,
    /// Version of Kubernetes, such as v1.34.0; give either this or clusterTemplate.kubernetesVersion.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 1, max = 32),
        regex(pattern = r"^v?[0-9]+\.[0-9]+\.[0-9]+$")
    )]
    pub version: Option<String>,
    /// Region that clusters are made in.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub region: Option<String>,
    /// Availability zones that clusters are spread over.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(min = 1, max = 253)), extend("x-kubernetes-list-type" = "set"))]
    pub zones: Vec<String>,
    /// What clusters get unless they say otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster_template: Option<ClusterTemplate>,
    /// Address ranges and DNS domain of clusters; give either this or network.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub networking: Option<TemplateNetworking>,
    /// What is installed into clusters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub addons: Option<Addons>,
    /// How the control plane is configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<ClusterConfig>,
    /// Groups of nodes, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub node_pools: Vec<NodePool>,
    /// Network of clusters; give either this or networking.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<ClusterNetwork>,
    /// How clusters are secured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub security: Option<ClusterSecurity>,
    /// What is recorded of clusters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observability: Option<Observability>,
    /// How clusters are backed up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backup: Option<ClusterBackup>,
    /// MachineProvider that the nodes run on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine_provider_ref: Option<ObjectRef>,
    /// How users of clusters prove who they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authentication: Option<ClusterAuthentication>,
    /// Tags that every machine of a cluster carries.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = schema::string_map)]
    pub default_tags: BTreeMap<String, String>,
    /// Settings that only this provider knows.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = schema::string_map)]
    pub config: BTreeMap<String, String>,
}

wire_enum! {
    /// What makes clusters.
    KubernetesProviderType {
        /// Talos Linux.
        Talos = "talos",
        /// kubeadm.
        Kubeadm = "kubeadm",
        /// K3s.
        K3s = "k3s",
        /// Azure Kubernetes Service.
        Aks = "aks",
        /// Amazon Elastic Kubernetes Service.
        Eks = "eks",
        /// Google Kubernetes Engine.
        Gke = "gke",
        /// OpenShift.
        Openshift = "openshift",
        /// Rancher.
        Rancher = "rancher",
        /// Rancher Kubernetes Engine.
        Rke = "rke",
        /// Rancher Kubernetes Engine 2.
        Rke2 = "rke2",
        /// A managed service of another kind.
        Managed = "managed",
        /// Kubernetes' own binaries.
        Vanilla = "vanilla",
    }
}
