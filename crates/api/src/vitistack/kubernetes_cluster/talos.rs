//! Configuration of a cluster that only Talos knows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema;

/// Configuration that only Talos knows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TalosConfig {
    /// How a node is configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine: Option<TalosMachine>,
    /// How the cluster is configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<TalosCluster>,
    /// How Talos is installed on a node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub install: Option<TalosInstall>,
}

/// How a node is configured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TalosMachine {
    /// Role of the node, such as controlplane.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub type_: Option<String>,
    /// Token that nodes join with.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1024))]
    pub token: Option<String>,
    /// Authority of the nodes' own API.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca: Option<CertificatePair>,
    /// Further names in the nodes' certificates.
    #[serde(default, rename = "certSANs", skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(min = 1, max = 253)), extend("x-kubernetes-list-type" = "set"))]
    pub cert_sa_ns: Vec<String>,
}

/// A certificate and its key.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CertificatePair {
    /// Certificate in base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 65536))]
    pub crt: Option<String>,
    /// Private key in base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 65536))]
    pub key: Option<String>,
}

/// How the cluster is configured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TalosCluster {
    /// Name of the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub name: Option<String>,
    /// Where the control plane is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control_plane: Option<TalosControlPlane>,
    /// Network of the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<TalosNetwork>,
}

/// Where the control plane is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TalosControlPlane {
    /// URL of the API server.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::url)]
    pub endpoint: Option<String>,
}

/// Network of the cluster.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TalosNetwork {
    /// DNS domain of the cluster, such as cluster.local.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::domain)]
    pub dns_domain: Option<String>,
    /// Address ranges of pods in CIDR notation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 8), transform = schema::cidrs, extend("x-kubernetes-list-type" = "atomic"))]
    pub pod_subnets: Vec<String>,
    /// Address ranges of services in CIDR notation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 8), transform = schema::cidrs, extend("x-kubernetes-list-type" = "atomic"))]
    pub service_subnets: Vec<String>,
}

/// How Talos is installed on a node.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TalosInstall {
    /// Disk that it is installed on, such as /dev/sda.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub disk: Option<String>,
    /// Installer image.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 4096))]
    pub image: Option<String>,
    /// Whether a boot loader is installed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bootloader: Option<bool>,
    /// Whether the disk is wiped first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wipe: Option<bool>,
}
