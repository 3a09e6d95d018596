//! Where the addresses of a NetworkNamespace come from.

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};

use crate::schema::{self, Rule, add_rules};
use crate::vitistack::common::AllocationMethod;

/// Where addresses come from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = allocation)]
pub struct IpAllocation {
    /// How addresses are given out: dhcp or static.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    pub type_: Option<AllocationMethod>,
    /// Name of what gives out addresses.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 32), regex(pattern = r"^[A-Za-z0-9_-]+$"))]
    pub provider: Option<String>,
    /// Range that static addresses are taken from.
    #[serde(rename = "static", skip_serializing_if = "Option::is_none")]
    pub static_: Option<StaticAllocation>,
    /// How the DHCP server is used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dhcp: Option<DhcpAllocation>,
}

/// Range that static addresses are taken from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = range)]
pub struct StaticAllocation {
    /// IPv4 address range in CIDR notation.
    #[serde(rename = "ipv4CIDR", skip_serializing_if = "Option::is_none")]
    #[schemars(required, transform = schema::ipv4_cidr)]
    pub ipv4_cidr: Option<String>,
    /// IPv4 address of the default gateway, which is in the range.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, transform = schema::ip)]
    pub ipv4_gateway: Option<String>,
    /// First address that is given out; the range's own when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::ip)]
    pub ipv4_range_start: Option<String>,
    /// Last address that is given out; the range's own when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::ip)]
    pub ipv4_range_end: Option<String>,
    /// VLAN ID of the network (0-4094); 0 is untagged.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 4094))]
    pub vlan_id: Option<i32>,
    /// Addresses of the name servers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16), transform = schema::ips, extend("x-kubernetes-list-type" = "atomic"))]
    pub dns: Vec<String>,
    /// How long an address is kept after its last use, in seconds; 3600 unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 60), extend("default" = 3600))]
    pub ttl_seconds: Option<i32>,
}

/// How the DHCP server is used.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DhcpAllocation {
    /// Client classes that a machine must be in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(min = 1, max = 253)), extend("x-kubernetes-list-type" = "set"))]
    pub require_client_classes: Vec<String>,
}

/// Rules over how addresses are given out.
fn allocation(schema: &mut Schema) {
    const RULES: &[Rule] = &[
        Rule::new(
            "!has(self.static) || self.type == 'static'",
            "spec.ipAllocation.static needs a spec.ipAllocation.type of static",
        )
        .forbids(".static"),
        Rule::new(
            "!has(self.dhcp) || self.type == 'dhcp'",
            "spec.ipAllocation.dhcp needs a spec.ipAllocation.type of dhcp",
        )
        .forbids(".dhcp"),
    ];
    add_rules(schema, RULES);
}

/// Rules over a range of addresses.
fn range(schema: &mut Schema) {
    const RULES: &[Rule] = &[
        Rule::new(
            "!isCIDR(self.ipv4CIDR) || !isIP(self.ipv4Gateway) || cidr(self.ipv4CIDR).containsIP(self.ipv4Gateway)",
            "spec.ipAllocation.static.ipv4Gateway must be an address in spec.ipAllocation.static.ipv4CIDR",
        ).about(".ipv4Gateway", "self.ipv4Gateway"),
        Rule::new(
            "!isCIDR(self.ipv4CIDR) || !has(self.ipv4RangeStart) || !isIP(self.ipv4RangeStart) \
             || cidr(self.ipv4CIDR).containsIP(self.ipv4RangeStart)",
            "spec.ipAllocation.static.ipv4RangeStart must be an address in spec.ipAllocation.static.ipv4CIDR",
        ).about(".ipv4RangeStart", "self.ipv4RangeStart"),
        Rule::new(
            "!isCIDR(self.ipv4CIDR) || !has(self.ipv4RangeEnd) || !isIP(self.ipv4RangeEnd) \
             || cidr(self.ipv4CIDR).containsIP(self.ipv4RangeEnd)",
            "spec.ipAllocation.static.ipv4RangeEnd must be an address in spec.ipAllocation.static.ipv4CIDR",
        ).about(".ipv4RangeEnd", "self.ipv4RangeEnd"),
    ];
    add_rules(schema, RULES);
}
