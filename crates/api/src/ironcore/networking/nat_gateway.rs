//! NATGateway: how a network without public addresses reaches the world.

use kube::CustomResource;
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};

use super::virtual_ip::PublicType;
use crate::ironcore::common::{Condition, IpFamily, LocalObjectReference};
use crate::schema::{self, Rule, add_rules, immutable, metadata_name};

/// What a NAT gateway should be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[kube(
    group = "networking.ironcore.dev",
    version = "v1alpha1",
    kind = "NATGateway",
    root = "NatGateway",
    plural = "natgateways",
    singular = "natgateway",
    shortname = "ngw",
    category = "ironcore",
    category = "machinist",
    namespaced,
    status = "NatGatewayStatus",
    derive = "PartialEq",
    validation = metadata_name(),
    validation = immutable("spec.networkRef"),
    doc = "NATGateway lets the interfaces of a network reach the world without addresses of their own.",
    selectable = ".spec.networkRef.name",
    printcolumn(name = "IPs", type_ = "string", json_path = ".status.ips"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
pub struct NatGatewaySpec {
    /// Kind of gateway: Public.
    #[serde(rename = "type")]
    pub type_: PublicType,
    /// Family of the addresses: IPv4 or IPv6.
    pub ip_family: IpFamily,
    /// Network whose interfaces use the gateway; it cannot be changed.
    #[schemars(transform = schema::label_reference)]
    pub network_ref: LocalObjectReference,
    /// Number of ports that each interface gets, a power of two; 2048 unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65536), transform = power_of_two, extend("default" = 2048))]
    pub ports_per_network_interface: Option<i32>,
}

/// What was last seen of the NAT gateway.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NatGatewayStatus {
    /// Addresses that the gateway uses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), transform = schema::ips, extend("x-kubernetes-list-type" = "atomic"))]
    pub ips: Vec<String>,
    /// Generation of the spec that this status answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Detailed conditions, by type: Ready, Reconciling and Stalled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
}

fn power_of_two(schema: &mut Schema) {
    const RULES: &[Rule] = &[Rule::new(
        "self in [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536]",
        "spec.portsPerNetworkInterface must be a power of two, such as 1024",
    )];
    add_rules(schema, RULES);
}
