//! What is known about a network, or about the interfaces of a machine.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::interfaces::AllocatedInterface;

/// What is known about the network or the interfaces.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NetworkConfigurationStatus {
    /// Generation of the spec that this status answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Whether machines can be attached to the network.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready: Option<bool>,
    /// Addresses of the network that are given out.
    #[serde(
        default,
        rename = "allocatedIPs",
        skip_serializing_if = "Vec::is_empty"
    )]
    #[schemars(length(max = 4096), extend("x-kubernetes-list-type" = "atomic"))]
    pub allocated_ips: Vec<String>,
    /// Machines that are attached to the network.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 4096), extend("x-kubernetes-list-type" = "atomic"))]
    pub connected_machines: Vec<String>,
    /// Where the object is in its life: Pending, Reconciling, Ready or Error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// State of the object in one word: InProgress, Success or Failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// What the object waits for or suffers from, in one sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Detailed conditions, by type.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
    /// When the object was first acted on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<Time>,
    /// Interfaces of the machine with the addresses that they were given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub network_interfaces: Vec<AllocatedInterface>,
}
