//! The networks, security groups and load balancer that a provider offers.
//!
//! Whether they exist on the platform is left to the driver.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::enums::{Algorithm, Direction, LoadBalancerType, NetworkType, Protocol};
use crate::schema;

/// The provider's networks and its defaults.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NetworkConfig {
    /// Network for machines that name none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub default_network_id: Option<String>,
    /// Subnet for machines that name none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub default_subnet_id: Option<String>,
    /// Networks that machines can be attached to, by ID.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["id"]))]
    pub available_networks: Vec<AvailableNetwork>,
    /// Security groups that machines can be put in, by ID.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["id"]))]
    pub security_groups: Vec<SecurityGroup>,
    /// Load balancer that the provider puts in front of machines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load_balancer: Option<ProviderLoadBalancer>,
}

/// One network that machines can be attached to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AvailableNetwork {
    /// The platform's own ID of the network.
    #[schemars(length(min = 1, max = 253))]
    pub id: String,
    /// Name of the network.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub name: Option<String>,
    /// Address range of the network in CIDR notation.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::cidr)]
    pub cidr: Option<String>,
    /// What the network is for: public, private or management.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_: Option<NetworkType>,
    /// VLAN ID of the network (1-4094).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 4094))]
    pub vlan: Option<i32>,
}

/// One security group that machines can be put in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecurityGroup {
    /// The platform's own ID of the security group.
    #[schemars(length(min = 1, max = 253))]
    pub id: String,
    /// Name of the security group.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub name: Option<String>,
    /// What the security group is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 4096))]
    pub description: Option<String>,
    /// Traffic that the security group lets through.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 128), extend("x-kubernetes-list-type" = "atomic"))]
    pub rules: Vec<SecurityGroupRule>,
}

/// Traffic that a security group lets through.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecurityGroupRule {
    /// Protocol of the traffic: tcp, udp or icmp.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<Protocol>,
    /// Port or range of ports, such as 22 or 80-443.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::port_range)]
    pub port: Option<String>,
    /// Where the traffic comes from: a CIDR or the ID of a security group.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub source: Option<String>,
    /// Direction of the traffic: ingress or egress.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
}

/// The load balancer that the provider puts in front of machines.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProviderLoadBalancer {
    /// Whether a load balancer is used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Type of the load balancer: application, network or classic.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_: Option<LoadBalancerType>,
    /// How the next machine is chosen: round-robin, least-connections or ip-hash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub algorithm: Option<Algorithm>,
    /// How the load balancer finds out which machines are well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub health_check: Option<HealthCheck>,
}

/// How a load balancer finds out which machines are well.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HealthCheck {
    /// Protocol of the check, such as http or tcp.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 16))]
    pub protocol: Option<String>,
    /// Port that is checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65535))]
    pub port: Option<i32>,
    /// Path that is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 2048))]
    pub path: Option<String>,
    /// Time between two checks, such as 10s.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::duration)]
    pub interval: Option<String>,
    /// Time-out of one check, such as 5s.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::duration)]
    pub timeout: Option<String>,
    /// Checks in a row that must pass before a machine counts as well.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub healthy_threshold: Option<i32>,
    /// Checks in a row that must fail before a machine counts as ill.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub unhealthy_threshold: Option<i32>,
}
