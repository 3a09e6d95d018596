//! VirtualNetwork: a private network with its addresses.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};

use crate::schema::{self, Rule, add_rules, metadata_name, set_once};

/// What a virtual network should be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[kube(
    group = "kupenstack.io",
    version = "v1alpha1",
    kind = "VirtualNetwork",
    plural = "virtualnetworks",
    singular = "virtualnetwork",
    shortname = "vn",
    category = "kupenstack",
    category = "machinist",
    namespaced,
    status = "VirtualNetworkStatus",
    derive = "PartialEq",
    derive = "Default",
    validation = metadata_name(),
    validation = set_once("spec.cidr"),
    doc = "VirtualNetwork is a private network that virtual machines are connected to.",
    selectable = ".status.ready",
    selectable = ".status.id",
    printcolumn(name = "CIDR", type_ = "string", json_path = ".spec.cidr", priority = 1),
    printcolumn(name = "IP-Usage", type_ = "string", json_path = ".status.ipUsed"),
    printcolumn(name = "Gateway", type_ = "string", json_path = ".status.gatewayName"),
    printcolumn(name = "Gateway-IP", type_ = "string", json_path = ".spec.gatewayIP", priority = 1),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rules)]
pub struct VirtualNetworkSpec {
    /// Address range of the network, IPv4 or IPv6; a free 10.x.y.0/24 unless given, and fixed from then on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::cidr)]
    pub cidr: Option<String>,
    /// Parts of the address range that machines get addresses from; all of it unless given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), extend("x-kubernetes-list-type" = "atomic"))]
    pub allocation_pools: Vec<AllocationPool>,
    /// Address that the network's gateway gets; the first free one unless given.
    #[serde(rename = "gatewayIP", skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::ip)]
    pub gateway_ip: Option<String>,
    /// Whether the network goes without DHCP; it has DHCP unless this is true.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub disable_dhcp: Option<bool>,
    /// Largest packet in bytes, at least 64 with IPv4 and 1280 with IPv6.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 64, max = 65535))]
    pub mtu: Option<i32>,
}

/// One part of the address range; an end that is left out is the range's own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = pool_rules)]
pub struct AllocationPool {
    /// First address, where an asterisk stands for the network's own part, such as *.*.*.100.
    #[serde(rename = "startIP", skip_serializing_if = "Option::is_none")]
    #[schemars(transform = address_in_network)]
    pub start_ip: Option<String>,
    /// Last address, where an asterisk stands for the network's own part, such as *.*.*.150.
    #[serde(rename = "endIP", skip_serializing_if = "Option::is_none")]
    #[schemars(transform = address_in_network)]
    pub end_ip: Option<String>,
}

/// What was last seen of the virtual network.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VirtualNetworkStatus {
    /// Identifier of the network at its platform.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Whether machines can be connected to the network.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready: Option<bool>,
    /// Name of the router that the network is connected to, or none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gateway_name: Option<String>,
    /// Addresses in use and addresses in all, such as 2/50.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ip_used: Option<String>,
    /// Generation of the spec that this status answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Detailed conditions, by type: Ready, Reconciling and Stalled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
}

/// An address in which leading parts may be left to the network. The last part may not: it would
/// name no address.
fn address_in_network(schema: &mut Schema) {
    const OCTET: &str = "(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
    let v4 = format!(r"((\*|{OCTET})\.){{3}}{OCTET}");
    let v6 = "[0-9A-Fa-f:*]*:[0-9A-Fa-f]{0,4}";
    schema.insert("maxLength".to_owned(), 64.into());
    schema.insert("pattern".to_owned(), format!("^({v4}|{v6})$").into());
}

fn rules(schema: &mut Schema) {
    const RULES: &[Rule] = &[
        Rule::new(
            "!has(self.mtu) || !has(self.cidr) || !isCIDR(self.cidr) \
             || cidr(self.cidr).ip().family() == 4 || self.mtu >= 1280",
            "spec.mtu must be at least 1280 in an IPv6 network",
        )
        .counting(".mtu", "self.mtu"),
        Rule::new(
            "!has(self.gatewayIP) || !isIP(self.gatewayIP) || !has(self.cidr) \
             || !isCIDR(self.cidr) || cidr(self.cidr).containsIP(self.gatewayIP)",
            "spec.gatewayIP must be an address of spec.cidr",
        )
        .about(".gatewayIP", "self.gatewayIP"),
    ];
    add_rules(schema, RULES);
}

fn pool_rules(schema: &mut Schema) {
    const RULES: &[Rule] = &[Rule::new(
        "has(self.startIP) || has(self.endIP)",
        "an allocation pool needs startIP, endIP or both",
    )
    .demanded()];
    add_rules(schema, RULES);
}
