//! What is known about a KubernetesProvider.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema;
use crate::wire_enum::wire_enum;

/// What is known about the provider.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KubernetesProviderStatus {
    /// Generation of the spec that this status answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Whether clusters can be made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready: Option<bool>,
    /// Versions of Kubernetes that clusters can have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 128), extend("x-kubernetes-list-type" = "atomic"))]
    pub supported_versions: Vec<String>,
    /// Number of clusters; the same as activeClusters, in the spelling of the first documents.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub active_conlusters: Option<i32>,
    /// Number of clusters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub active_clusters: Option<i32>,
    /// Where the provider is in its life: Pending, Ready, Failed or Updating.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<KubernetesProviderPhase>,
    /// What the provider waits for or suffers from, in one sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Detailed conditions, by type, such as Ready, Healthy, APIServerReady, NodesReady, AddonsReady, NetworkReady and SecurityReady.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
    /// When this status was last changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_updated: Option<Time>,
    /// Number of nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub node_count: Option<i32>,
    /// Number of nodes that are ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub ready_node_count: Option<i32>,
    /// The cluster as it really is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<ClusterState>,
    /// Groups of nodes as they really are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub node_pools: Vec<NodePoolStatus>,
    /// Versions that run, and those that could.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<VersionStatus>,
    /// What is installed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub addons: Vec<AddonStatus>,
    /// What there is, and what is used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity: Option<ClusterCapacity>,
    /// How well each part works.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub health: Option<ClusterHealth>,
    /// How well the cluster is secured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub security: Option<ClusterSecurityStatus>,
    /// Where the cluster is reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoints: Option<ClusterEndpoints>,
}

wire_enum! {
    /// Where a KubernetesProvider is in its life.
    #[derive(Default)]
    KubernetesProviderPhase {
        /// Nobody has looked at it yet.
        #[default]
        Pending = "Pending",
        /// Clusters can be made.
        Ready = "Ready",
        /// Clusters cannot be made.
        Failed = "Failed",
        /// It is being changed.
        Updating = "Updating",
    }
}

/// The cluster as it really is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterState {
    /// ID of the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// State of the cluster in the provider's own words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Address of the API server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// Certificate of the cluster's authority, in base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate_authority_data: Option<String>,
    /// URL of the cluster's own issuer.
    #[serde(rename = "oidcIssuerURL", skip_serializing_if = "Option::is_none")]
    pub oidc_issuer_url: Option<String>,
    /// Version of the platform below the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform_version: Option<String>,
    /// When the cluster was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Time>,
}

/// One group of nodes as it really is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodePoolStatus {
    /// Name of the group.
    #[schemars(length(min = 1, max = 63))]
    pub name: String,
    /// State of the group in the provider's own words.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    pub state: Option<String>,
    /// MachineClass of the nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    pub machine_class: Option<String>,
    /// Nodes that there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, range(min = 0))]
    pub current_nodes: Option<i32>,
    /// Nodes that there should be.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, range(min = 0))]
    pub desired_nodes: Option<i32>,
    /// Nodes that are ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, range(min = 0))]
    pub ready_nodes: Option<i32>,
    /// How well the group works.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub health: Option<String>,
    /// How the group grows and shrinks by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto_scaling: Option<NodePoolScalingStatus>,
    /// When this was last changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_updated: Option<Time>,
}

/// How a group of nodes grows and shrinks by itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodePoolScalingStatus {
    /// Whether it does so.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    pub enabled: Option<bool>,
    /// Least nodes in the group.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, range(min = 0))]
    pub min_nodes: Option<i32>,
    /// Most nodes in the group.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, range(min = 0))]
    pub max_nodes: Option<i32>,
    /// What it last did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_scaling_action: Option<String>,
    /// When it last did so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_scaling_time: Option<Time>,
}

/// Versions that run, and those that could.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VersionStatus {
    /// Version of the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current: Option<String>,
    /// Version of the control plane.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control_plane: Option<String>,
    /// Version of the nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// Version of the platform below.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform: Option<String>,
    /// Versions that the cluster could be changed to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 128), extend("x-kubernetes-list-type" = "atomic"))]
    pub available_upgrades: Vec<String>,
}

/// One thing that is installed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AddonStatus {
    /// Name of it.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// State of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    pub status: Option<String>,
    /// Version of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// How well it works.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub health: Option<String>,
    /// Whether it is configured as declared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub configuration_status: Option<String>,
    /// When this was last changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_updated: Option<Time>,
}

/// What there is, and what is used.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterCapacity {
    /// CPUs that there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<String>,
    /// CPUs that are used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_usage: Option<String>,
    /// Memory that there is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<String>,
    /// Memory that is used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_usage: Option<String>,
    /// Pods that fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pods: Option<String>,
    /// Pods that run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pods_usage: Option<String>,
    /// Storage that there is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub storage: Option<String>,
    /// Storage that is used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub storage_usage: Option<String>,
}

/// How well each part works.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterHealth {
    /// All of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overall: Option<String>,
    /// The API server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_server: Option<String>,
    /// The controller manager.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub controller_manager: Option<String>,
    /// The scheduler.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<String>,
    /// The data store, etcd.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub etcd: Option<String>,
    /// The cluster DNS.
    #[serde(rename = "coreDNS", skip_serializing_if = "Option::is_none")]
    pub core_dns: Option<String>,
    /// The nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<String>,
    /// When this was last found out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_check: Option<Time>,
}

/// How well the cluster is secured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterSecurityStatus {
    /// Whether access is decided by roles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rbac: Option<String>,
    /// Whether network policies are enforced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network_policies: Option<String>,
    /// Whether pods are held to the pod security standards.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod_security_standards: Option<String>,
    /// Whether images are scanned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_scanning: Option<String>,
    /// Whether anything watches over running containers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runtime_security: Option<String>,
    /// When the cluster was last scanned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_security_scan: Option<Time>,
    /// What the scan found.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = schema::string_map)]
    pub security_scan_results: BTreeMap<String, String>,
}

/// Where the cluster is reached.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterEndpoints {
    /// Address of the API server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_server: Option<String>,
    /// Addresses of the ingress controller.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "atomic"))]
    pub ingress: Vec<String>,
    /// Addresses of load balancers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "atomic"))]
    pub load_balancer: Vec<String>,
    /// Addresses of the monitoring, by what they are.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = schema::string_map)]
    pub monitoring: BTreeMap<String, String>,
}
