//! What is known about a NetworkNamespace.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::vitistack::common::AllocationMethod;
use crate::wire_enum::wire_enum;

/// What is known about the namespace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NetworkNamespaceStatus {
    /// Generation of the spec that this status answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Where the namespace is in its life: Active or Terminating, or Pending, Ready or Error in the words of the shipped operators.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<NetworkNamespacePhase>,
    /// Number of networks in the namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub network_count: Option<i32>,
    /// Number of addresses that are given out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub ip_address_count: Option<i32>,
    /// Detailed conditions, by type.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
    /// State of the namespace in one word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// What the namespace waits for or suffers from, in one sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// When the namespace was first acted on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<Time>,
    /// Times that making the network has been tried again.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub retry_count: Option<i32>,
    /// Identifier of the datacenter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub datacenter_identifier: Option<String>,
    /// Identifier of the supervisor cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supervisor_identifier: Option<String>,
    /// ID of the network at whatever made it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace_id: Option<String>,
    /// IPv4 address range of the network.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ipv4_prefix: Option<String>,
    /// IPv6 address range of the network.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ipv6_prefix: Option<String>,
    /// IPv4 address that traffic to the outside comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ipv4_egress_ip: Option<String>,
    /// IPv6 address that traffic to the outside comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ipv6_egress_ip: Option<String>,
    /// VLAN ID of the network.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 4094))]
    pub vlan_id: Option<i32>,
    /// Identifiers of the clusters that use the namespace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), extend("x-kubernetes-list-type" = "atomic"))]
    pub associated_kubernetes_cluster_ids: Vec<String>,
    /// How many addresses there are, and who has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ip_allocation_status: Option<IpAllocationStatus>,
}

wire_enum! {
    /// Where a NetworkNamespace is in its life.
    NetworkNamespacePhase {
        /// Nobody has looked at it yet.
        Pending = "Pending",
        /// Machines can be attached to its networks.
        Active = "Active",
        /// It is being removed.
        Terminating = "Terminating",
        /// Machines can be attached to its networks, as the shipped operators say it.
        Ready = "Ready",
        /// It cannot be made as declared.
        Error = "Error",
    }
}

/// How many addresses there are, and who has them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IpAllocationStatus {
    /// How addresses are given out: dhcp or static.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_: Option<AllocationMethod>,
    /// Name of what gives out addresses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// Number of addresses that are given out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub allocated_count: Option<i32>,
    /// Number of addresses that are free.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub available_count: Option<i32>,
    /// Number of addresses in all.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub total_count: Option<i32>,
    /// Addresses that are given out, and to what.
    #[serde(
        default,
        rename = "allocatedIPs",
        skip_serializing_if = "Vec::is_empty"
    )]
    #[schemars(length(max = 4096), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["ip"]))]
    pub allocated_ips: Vec<AllocatedAddress>,
}

/// One address that is given out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AllocatedAddress {
    /// The address.
    #[schemars(length(min = 1, max = 64))]
    pub ip: String,
    /// Name of the NetworkConfiguration that has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    pub network_configuration: Option<String>,
}
