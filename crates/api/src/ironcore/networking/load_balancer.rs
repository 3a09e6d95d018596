//! LoadBalancer: one address for many interfaces.

use kube::CustomResource;
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};

use super::interface_rules;
use super::sources::IpSource;
use crate::ironcore::common::{Condition, IpFamily, LabelSelector, LocalObjectReference};
use crate::schema::{self, Rule, add_rules, immutable, metadata_name};
use crate::wire_enum::wire_enum;

wire_enum! {
    /// Where a load balancer is reachable from.
    LoadBalancerType {
        /// Everywhere.
        Public = "Public",
        /// Its own network.
        Internal = "Internal",
    }
}

wire_enum! {
    /// A protocol with ports.
    #[derive(Default)]
    Protocol {
        /// TCP.
        #[default]
        Tcp = "TCP",
        /// UDP.
        Udp = "UDP",
        /// SCTP.
        Sctp = "SCTP",
    }
}

/// What a load balancer should be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[kube(
    group = "networking.ironcore.dev",
    version = "v1alpha1",
    kind = "LoadBalancer",
    plural = "loadbalancers",
    singular = "loadbalancer",
    shortname = "lb",
    category = "ironcore",
    category = "machinist",
    namespaced,
    status = "LoadBalancerStatus",
    derive = "PartialEq",
    validation = metadata_name(),
    validation = immutable("spec.networkRef"),
    doc = "LoadBalancer is one address for many interfaces.",
    selectable = ".spec.networkRef.name",
    printcolumn(name = "Type", type_ = "string", json_path = ".spec.type"),
    printcolumn(name = "IPs", type_ = "string", json_path = ".status.ips"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = interface_rules::load_balancer)]
pub struct LoadBalancerSpec {
    /// Where the load balancer is reachable from: Public or Internal.
    #[serde(rename = "type")]
    pub type_: LoadBalancerType,
    /// Families of the addresses, IPv4 or IPv6, in the order of ips; those of ips unless given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1, max = 2), extend("x-kubernetes-list-type" = "set"))]
    pub ip_families: Vec<IpFamily>,
    /// Addresses of the load balancer, one for each family; they are found unless given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 2), extend("x-kubernetes-list-type" = "atomic"))]
    pub ips: Vec<IpSource>,
    /// Network of the interfaces; it cannot be changed.
    #[schemars(transform = schema::label_reference)]
    pub network_ref: LocalObjectReference,
    /// Labels of the interfaces that traffic is spread over; unless given, somebody else says which.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network_interface_selector: Option<LabelSelector>,
    /// Ports that traffic is taken on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = 64),
        extend("x-kubernetes-list-type" = "atomic"),
        transform = ports_differ
    )]
    pub ports: Vec<LoadBalancerPort>,
}

/// A port, or a range of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = port)]
pub struct LoadBalancerPort {
    /// Protocol of the port: TCP, which it is unless given, UDP or SCTP.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "TCP"))]
    pub protocol: Option<Protocol>,
    /// The port, or the first of the range.
    #[schemars(range(min = 1, max = 65535))]
    pub port: i32,
    /// The last port of the range.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65535))]
    pub end_port: Option<i32>,
}

/// What was last seen of the load balancer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoadBalancerStatus {
    /// Addresses that the load balancer has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), transform = schema::ips, extend("x-kubernetes-list-type" = "atomic"))]
    pub ips: Vec<String>,
    /// Generation of the spec that this status answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Detailed conditions, by type: Ready, Reconciling and Stalled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
}

fn port(schema: &mut Schema) {
    const RULES: &[Rule] = &[Rule::new(
        "!has(self.endPort) || self.endPort >= self.port",
        "endPort must not be below port",
    )
    .counting(".endPort", "self.endPort")];
    add_rules(schema, RULES);
}

fn ports_differ(schema: &mut Schema) {
    const RULES: &[Rule] = &[Rule::new(
        "self.all(a, self.exists_one(b, a.protocol == b.protocol \
         && a.port <= (has(b.endPort) ? b.endPort : b.port) \
         && b.port <= (has(a.endPort) ? a.endPort : a.port)))",
        "spec.ports overlap; a port can be taken once for each protocol",
    )
    .forbidden()];
    add_rules(schema, RULES);
}
