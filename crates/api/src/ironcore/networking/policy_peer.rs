//! The other end of the traffic that a network policy is about.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};

use super::load_balancer::Protocol;
use crate::ironcore::common::LabelSelectorRequirement;
use crate::schema::{self, Rule, add_rules};
use crate::wire_enum::wire_enum;

wire_enum! {
    /// What objects can be at the other end.
    PeerKind {
        /// Network interfaces.
        NetworkInterface = "NetworkInterface",
        /// Load balancers.
        LoadBalancer = "LoadBalancer",
        /// Public addresses.
        VirtualIp = "VirtualIP",
    }
}

/// The other end: objects, or addresses.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = one_peer)]
pub struct NetworkPolicyPeer {
    /// Objects at the other end; give either these or ipBlock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object_selector: Option<ObjectSelector>,
    /// Addresses at the other end; give either these or objectSelector.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ip_block: Option<IpBlock>,
}

/// Objects of one kind, by their labels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObjectSelector {
    /// Kind of the objects: NetworkInterface, LoadBalancer or VirtualIP.
    pub kind: PeerKind,
    /// Labels that an object must have, with these values.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = schema::labels)]
    pub match_labels: BTreeMap<String, String>,
    /// Further requirements on an object's labels; all of them must hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16), extend("x-kubernetes-list-type" = "atomic"))]
    pub match_expressions: Vec<LabelSelectorRequirement>,
}

/// A range of addresses, without some of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = exceptions_inside)]
pub struct IpBlock {
    /// The range.
    #[schemars(transform = schema::cidr)]
    pub cidr: String,
    /// Parts of the range that are not meant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16), transform = schema::cidrs, extend("x-kubernetes-list-type" = "atomic"))]
    pub except: Vec<String>,
}

/// A port, a range of them, or all ports of a protocol.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = port)]
pub struct NetworkPolicyPort {
    /// Protocol of the traffic: TCP, which it is unless given, UDP or SCTP.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "TCP"))]
    pub protocol: Option<Protocol>,
    /// The port, or the first of the range; every port unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 65535))]
    pub port: Option<i32>,
    /// The last port of the range.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65535))]
    pub end_port: Option<i32>,
}

fn one_peer(schema: &mut Schema) {
    const RULES: &[Rule] = &[Rule::new(
        "!has(self.objectSelector) || !has(self.ipBlock)",
        "a peer is one thing: give either objectSelector or ipBlock",
    )
    .forbidden()];
    add_rules(schema, RULES);
}

fn exceptions_inside(schema: &mut Schema) {
    const RULES: &[Rule] = &[Rule::new(
        "!has(self.except) || !isCIDR(self.cidr) || self.except.all(part, \
         !isCIDR(part) || cidr(self.cidr).containsCIDR(part))",
        "except must lie in cidr",
    )
    .counting(".except", "self.except.join(', ')")];
    add_rules(schema, RULES);
}

fn port(schema: &mut Schema) {
    const RULES: &[Rule] = &[Rule::new(
        "!has(self.endPort) || (has(self.port) && self.port > 0 && self.endPort >= self.port)",
        "endPort needs port, and must not be below it",
    )
    .counting(".endPort", "self.endPort")];
    add_rules(schema, RULES);
}
