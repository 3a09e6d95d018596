//! Networks of an installation, in the form of the shipped operators.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema;
use crate::vitistack::common::{AllocationMethod, Verdict};
use crate::vitistack::load_balancer::BalancingScheme;
use crate::vitistack::machine_provider::LoadBalancerType;
use crate::wire_enum::wire_enum;

/// Networks of an installation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StackNetworking {
    /// Virtual networks, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub vpcs: Vec<StackVpc>,
    /// Load balancers, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub load_balancers: Vec<StackLoadBalancer>,
    /// Name servers and domains.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dns: Option<StackDns>,
    /// What traffic may pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub firewall: Option<StackFirewall>,
    /// What gives out addresses, by zone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "atomic"))]
    pub ip_allocation: Vec<StackIpAllocation>,
}

/// One virtual network.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StackVpc {
    /// Name of the virtual network.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// IPv4 address range of the virtual network in CIDR notation.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, transform = schema::ipv4_cidr)]
    pub cidr: Option<String>,
    /// Whether machines that name no network are in this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<bool>,
    /// Subnets of the virtual network, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub subnets: Vec<StackSubnet>,
}

/// One subnet of a virtual network.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StackSubnet {
    /// Name of the subnet.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// IPv4 address range of the subnet in CIDR notation.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, transform = schema::ipv4_cidr)]
    pub cidr: Option<String>,
    /// Availability zone that the subnet is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub zone: Option<String>,
    /// Whether the subnet is reachable from outside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public: Option<bool>,
}

/// One load balancer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StackLoadBalancer {
    /// Name of the load balancer.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Type of the load balancer: application, network or classic.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    pub type_: Option<LoadBalancerType>,
    /// Where it is reachable from: internet-facing or internal; internet-facing unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "internet-facing"))]
    pub scheme: Option<BalancingScheme>,
}

/// Name servers and domains.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StackDns {
    /// Addresses of the name servers, first choice first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16), transform = schema::ips, extend("x-kubernetes-list-type" = "atomic"))]
    pub servers: Vec<String>,
    /// Domain of the installation.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::domain)]
    pub domain: Option<String>,
    /// Domains that short names are looked up in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), transform = schema::domains, extend("x-kubernetes-list-type" = "atomic"))]
    pub search_domains: Vec<String>,
}

/// What traffic may pass.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StackFirewall {
    /// What happens to traffic that no rule speaks of: allow or deny; deny unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "deny"))]
    pub default_policy: Option<Verdict>,
    /// Rules that traffic is held against, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub rules: Vec<StackFirewallRule>,
}

/// One rule that traffic is held against.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StackFirewallRule {
    /// Name of the rule.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// What happens to the traffic: allow or deny.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    pub action: Option<Verdict>,
    /// Protocol of the traffic: tcp, udp, icmp or all; tcp unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "tcp"))]
    pub protocol: Option<StackProtocol>,
    /// Port or range of ports, such as 22 or 80-443.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::port_range)]
    pub port: Option<String>,
    /// Where the traffic comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub source: Option<String>,
    /// Where the traffic goes to.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub destination: Option<String>,
}

wire_enum! {
    /// Protocol of traffic.
    StackProtocol {
        /// TCP.
        Tcp = "tcp",
        /// UDP.
        Udp = "udp",
        /// ICMP.
        Icmp = "icmp",
        /// All of them.
        All = "all",
    }
}

/// What gives out addresses in a zone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StackIpAllocation {
    /// The zone; all of them when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub zone: Option<String>,
    /// What gives out addresses, by how.
    #[schemars(required, length(min = 1, max = 8), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub providers: Vec<StackIpProvider>,
}

/// One thing that gives out addresses.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StackIpProvider {
    /// How addresses are given out: dhcp or static.
    #[serde(rename = "type")]
    pub type_: AllocationMethod,
    /// Whether it does so; true unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = true))]
    pub enabled: Option<bool>,
    /// Whether it is used for networks that say nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<bool>,
    /// Settings that only it knows.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = schema::string_map)]
    pub configuration: BTreeMap<String, String>,
}
