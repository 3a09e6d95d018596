//! Groups of nodes, in the form of the shipped operators.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rules;
use crate::schema;

/// One group of nodes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rules::node_pool)]
pub struct NodePool {
    /// Name of the group, unique within the provider.
    #[schemars(length(min = 1, max = 63))]
    pub name: String,
    /// MachineClass of the nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, length(min = 1, max = 253))]
    pub machine_class: Option<String>,
    /// Least nodes in the group.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, range(min = 0))]
    pub min_nodes: Option<i32>,
    /// Most nodes in the group.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, range(min = 1))]
    pub max_nodes: Option<i32>,
    /// Nodes that the group should have.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, range(min = 0))]
    pub desired_nodes: Option<i32>,
    /// Labels of the nodes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = schema::string_map)]
    pub labels: BTreeMap<String, String>,
    /// Taints of the nodes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "atomic"))]
    pub taints: Vec<Taint>,
    /// Availability zones that the nodes are spread over.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(min = 1, max = 253)), extend("x-kubernetes-list-type" = "set"))]
    pub zones: Vec<String>,
    /// How the group grows and shrinks by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto_scaling: Option<NodePoolScaling>,
    /// What the nodes look like.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_config: Option<NodeConfig>,
}

/// Keeps pods away from nodes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Taint {
    /// Key of the taint.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, length(min = 1, max = 253))]
    pub key: Option<String>,
    /// Value of the taint.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub value: Option<String>,
    /// What happens to pods that do not tolerate it, such as NoSchedule.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, length(min = 1, max = 253))]
    pub effect: Option<String>,
}

/// How a group of nodes grows and shrinks by itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodePoolScaling {
    /// Whether it does so.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    pub enabled: Option<bool>,
    /// Time after growing in which it does not shrink, such as 10m.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::duration)]
    pub scale_down_delay_after_add: Option<String>,
    /// Time after shrinking in which it does not shrink again, such as 10s.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::duration)]
    pub scale_down_delay_after_delete: Option<String>,
    /// Time after a failure in which it does not shrink, such as 3m.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::duration)]
    pub scale_down_delay_after_failure: Option<String>,
    /// Time that a node must be idle before it goes, such as 10m.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::duration)]
    pub scale_down_unneeded_time: Option<String>,
}

/// What nodes look like.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeConfig {
    /// Disk of a node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk: Option<NodeDisk>,
    /// How the kubelet is configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kubelet: Option<Kubelet>,
    /// Network of a node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<NodeNetwork>,
    /// Operating system of a node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub os: Option<NodeOs>,
    /// How a node is secured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub security: Option<NodeSecurity>,
}

/// Disk of a node.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeDisk {
    /// Size in GB (20-2000).
    #[serde(rename = "sizeGB", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 20, max = 2000))]
    pub size_gb: Option<i32>,
    /// Disk type in the platform's own naming.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub type_: Option<String>,
    /// Whether the platform encrypts the disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encrypted: Option<bool>,
}

/// How the kubelet is configured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Kubelet {
    /// Most pods on a node (10-250).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 10, max = 250))]
    pub max_pods: Option<i32>,
    /// Further flags of the kubelet.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = schema::string_map)]
    pub extra_args: BTreeMap<String, String>,
}

/// Network of a node.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeNetwork {
    /// Whether the node gets a public IP address.
    #[serde(rename = "assignPublicIP", skip_serializing_if = "Option::is_none")]
    pub assign_public_ip: Option<bool>,
    /// Subnets that nodes are attached to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(min = 1, max = 253)), extend("x-kubernetes-list-type" = "set"))]
    pub subnet_i_ds: Vec<String>,
    /// Security groups of the nodes' interfaces.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(min = 1, max = 253)), extend("x-kubernetes-list-type" = "set"))]
    pub security_group_i_ds: Vec<String>,
}

/// Operating system of a node.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeOs {
    /// Type of the operating system.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub type_: Option<String>,
    /// Image that the node boots from.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 4096))]
    pub image: Option<String>,
    /// Cloud-init user data of the node.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 65536))]
    pub user_data: Option<String>,
}

/// How a node is secured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeSecurity {
    /// Instance profile of the node, on platforms that have any.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub iam_instance_profile: Option<String>,
    /// Security groups of the node.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(min = 1, max = 253)), extend("x-kubernetes-list-type" = "set"))]
    pub security_groups: Vec<String>,
    /// Key pairs that may log in to the node.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(min = 1, max = 253)), extend("x-kubernetes-list-type" = "set"))]
    pub ssh_key_pairs: Vec<String>,
}
