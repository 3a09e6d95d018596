//! How the control plane and the network of clusters are configured, in the form of the shipped operators.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rules;
use crate::schema;

/// How the control plane is configured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterConfig {
    /// Address of the API server.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 2048))]
    pub endpoint: Option<String>,
    /// How the API server is configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_server: Option<ApiServerConfig>,
    /// How etcd is configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub etcd: Option<EtcdConfig>,
    /// Nodes of the control plane.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control_plane: Option<ControlPlaneConfig>,
    /// Cluster DNS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dns: Option<ClusterDns>,
    /// Feature gates of Kubernetes, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("maxProperties" = 64))]
    pub feature_gates: BTreeMap<String, bool>,
    /// Further flags of the API server.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = schema::string_map)]
    pub api_server_extra_args: BTreeMap<String, String>,
    /// Further flags of the controller manager.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = schema::string_map)]
    pub controller_manager_extra_args: BTreeMap<String, String>,
    /// Further flags of the scheduler.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = schema::string_map)]
    pub scheduler_extra_args: BTreeMap<String, String>,
}

/// How the API server is configured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApiServerConfig {
    /// Admission plug-ins that are switched on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(min = 1, max = 253)), extend("x-kubernetes-list-type" = "set"))]
    pub admission_plugins: Vec<String>,
    /// Admission plug-ins that are switched off.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(min = 1, max = 253)), extend("x-kubernetes-list-type" = "set"))]
    pub disable_admission_plugins: Vec<String>,
    /// Whether requests are recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audit_logging: Option<bool>,
    /// Days that the record is kept (1-365).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 365))]
    pub audit_log_retention_days: Option<i32>,
    /// Whether Secrets are encrypted in etcd.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encryption_at_rest: Option<bool>,
}

/// How etcd is configured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EtcdConfig {
    /// Version of etcd.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub version: Option<String>,
    /// Whether etcd's data are encrypted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encryption: Option<bool>,
    /// Whether etcd is backed up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backup_enabled: Option<bool>,
    /// When etcd is backed up, as a cron expression.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::cron)]
    pub backup_schedule: Option<String>,
    /// Days that a backup is kept (1-365).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 365))]
    pub backup_retention_days: Option<i32>,
}

/// Nodes of the control plane.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ControlPlaneConfig {
    /// Number of nodes (1-10); odd, so that etcd keeps its quorum.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 10), transform = rules::odd)]
    pub replicas: Option<i32>,
    /// MachineClass of the nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub machine_class: Option<String>,
    /// Size of the nodes' disks in GB (20-1000).
    #[serde(rename = "diskSizeGB", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 20, max = 1000))]
    pub disk_size_gb: Option<i32>,
}

/// Cluster DNS.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterDns {
    /// Which one, in its own name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub provider: Option<String>,
    /// DNS domain of the cluster, such as cluster.local.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::domain)]
    pub domain: Option<String>,
    /// Name servers that are asked about everything else.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16), transform = schema::ips, extend("x-kubernetes-list-type" = "atomic"))]
    pub upstream_servers: Vec<String>,
}

/// Network of clusters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterNetwork {
    /// Name of the network plug-in.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub cni_plugin: Option<String>,
    /// Address range of pods in CIDR notation.
    #[serde(rename = "podCIDR", skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::cidr)]
    pub pod_cidr: Option<String>,
    /// Address range of services in CIDR notation.
    #[serde(rename = "serviceCIDR", skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::cidr)]
    pub service_cidr: Option<String>,
    /// Address of the cluster DNS.
    #[serde(rename = "dnsServiceIP", skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::ip)]
    pub dns_service_ip: Option<String>,
    /// Whether network policies are enforced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network_policy: Option<bool>,
    /// What serves load balancers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load_balancer: Option<ClusterLoadBalancer>,
}

/// What serves load balancers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterLoadBalancer {
    /// Type of the load balancers, in its own name.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub type_: Option<String>,
    /// Class of the load balancers.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub class: Option<String>,
    /// Annotations that load balancers get.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = schema::string_map)]
    pub annotations: BTreeMap<String, String>,
}
