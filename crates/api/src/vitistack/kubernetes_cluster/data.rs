//! What a cluster is and where it is, in the form of the shipped operators.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the cluster is and where it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterData {
    /// Unique identifier of the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, length(min = 1, max = 253))]
    pub cluster_uid: Option<String>,
    /// Identifier of the cluster, which its machines are named after.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(
        required,
        length(min = 1, max = 50),
        regex(pattern = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")
    )]
    pub cluster_id: Option<String>,
    /// What makes the cluster, such as talos or aks.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, length(min = 1, max = 253))]
    pub provider: Option<String>,
    /// Datacenter that the cluster is in, of the form country-region-zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, length(min = 1, max = 253))]
    pub datacenter: Option<String>,
    /// Region that the cluster is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, length(min = 1, max = 253))]
    pub region: Option<String>,
    /// Availability zone that the cluster is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, length(min = 1, max = 253))]
    pub zone: Option<String>,
    /// Project that the cluster belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, length(min = 1, max = 253))]
    pub project: Option<String>,
    /// Workspace that the cluster belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, length(min = 1, max = 253))]
    pub workspace: Option<String>,
    /// Work order that the cluster was asked for by.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, length(min = 1, max = 253))]
    pub workorder: Option<String>,
    /// Environment that the cluster belongs to, such as prod.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, length(min = 1, max = 253))]
    pub environment: Option<String>,
    /// Name of the NetworkNamespace that the cluster is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, length(min = 1, max = 253))]
    pub network_namespace_name: Option<String>,
}
