//! What traffic may enter and leave a network.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema;
use crate::vitistack::common::Verdict;
use crate::vitistack::machine_provider::{Direction, Protocol};

/// What traffic may enter and leave a network.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NetworkSecurity {
    /// Whether the network is cut off from all others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub isolation: Option<bool>,
    /// Rules that traffic is held against, in this order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), extend("x-kubernetes-list-type" = "atomic"))]
    pub firewall_rules: Vec<FirewallRule>,
}

/// One rule that traffic is held against.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FirewallRule {
    /// Direction of the traffic: ingress or egress.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// Protocol of the traffic: tcp, udp or icmp.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<Protocol>,
    /// Port or range of ports, such as 22 or 80-443.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::port_range)]
    pub port: Option<String>,
    /// Where the traffic comes from: an address or a range in CIDR notation.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::ip_or_cidr)]
    pub source: Option<String>,
    /// Where the traffic goes to: an address or a range in CIDR notation.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::ip_or_cidr)]
    pub destination: Option<String>,
    /// What happens to the traffic: allow or deny.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<Verdict>,
}
