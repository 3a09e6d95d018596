//! LoadBalancer: one address in front of several machines.
//!
//! Its own vocabulary is that of the shipped operators (`method`, `poolMembers`, identifiers); what
//! MachineProvider documents for load balancers (`type`, `algorithm`, `healthCheck`) fits it, too.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::CustomResource;
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};

use super::machine_provider::{Algorithm, HealthCheck, LoadBalancerType};
use crate::schema::{self, Rule, add_rules};
use crate::vitistack::metadata_name;
use crate::wire_enum::wire_enum;

/// What a load balancer stands in front of, and how it chooses.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[kube(
    group = "vitistack.io",
    version = "v1alpha1",
    kind = "LoadBalancer",
    plural = "loadbalancers",
    singular = "loadbalancer",
    shortname = "lb",
    category = "vitistack",
    category = "machinist",
    namespaced,
    status = "LoadBalancerStatus",
    derive = "PartialEq",
    derive = "Default",
    validation = metadata_name(),
    doc = "LoadBalancer is one address in front of several machines.",
    selectable = ".spec.provider",
    selectable = ".spec.clusterIdentifier",
    selectable = ".status.phase",
    printcolumn(name = "Cluster", type_ = "string", json_path = ".spec.clusterIdentifier"),
    printcolumn(name = "Provider", type_ = "string", json_path = ".spec.provider"),
    printcolumn(name = "Phase", type_ = "string", json_path = ".status.phase"),
    printcolumn(name = "IPs", type_ = "string", json_path = ".status.loadBalancerIps"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    printcolumn(
        name = "Datacenter",
        type_ = "string",
        json_path = ".spec.datacenterIdentifier",
        priority = 1
    ),
    printcolumn(name = "Status", type_ = "string", json_path = ".status.status", priority = 1),
    printcolumn(name = "Created", type_ = "date", json_path = ".status.created", priority = 1)
)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = spec)]
pub struct LoadBalancerSpec {
    /// Identifier of the datacenter, of the form country-region-zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub datacenter_identifier: Option<String>,
    /// Identifier of the supervisor cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub supervisor_identifier: Option<String>,
    /// Identifier of the cluster whose machines are balanced.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub cluster_identifier: Option<String>,
    /// Name of the NetworkNamespace that the address is taken from.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 3, max = 32), regex(pattern = r"^[A-Za-z0-9_-]+$"))]
    pub network_namespace_identifier: Option<String>,
    /// Environment that the load balancer belongs to, such as prod.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 128), regex(pattern = r"^[A-Za-z0-9._-]+$"))]
    pub environment: Option<String>,
    /// Name of what makes the load balancer.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub provider: Option<String>,
    /// How the next machine is chosen: round-robin, least-session or first-alive; first-alive unless given, and unless algorithm says otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "first-alive"))]
    pub method: Option<BalancingMethod>,
    /// How the next machine is chosen, in the words of MachineProvider; give either this or method.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub algorithm: Option<Algorithm>,
    /// Type of the load balancer: application, network or classic.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_: Option<LoadBalancerType>,
    /// Where the address is reachable from: internet-facing or internal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheme: Option<BalancingScheme>,
    /// Address of the load balancer; one is picked when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::ip)]
    pub ip_address: Option<String>,
    /// Port that the load balancer answers on, and that the machines are asked on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65535))]
    pub port: Option<i32>,
    /// Ports that the load balancer answers on; give either these or port.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["port"]))]
    pub ports: Vec<BalancedPort>,
    /// Addresses of the machines; give either these or selector.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1, max = 256), transform = schema::ips, extend("x-kubernetes-list-type" = "set"))]
    pub pool_members: Vec<String>,
    /// Labels of the machines; give either these or poolMembers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selector: Option<MachineSelector>,
    /// How the load balancer finds out which machines are well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub health_check: Option<HealthCheck>,
}

/// Chooses machines by their labels.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MachineSelector {
    /// Labels that a machine must have, all of them.
    #[schemars(required, transform = schema::string_map)]
    pub match_labels: BTreeMap<String, String>,
}

/// One port that the load balancer answers on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BalancedPort {
    /// Port that the load balancer answers on.
    #[schemars(range(min = 1, max = 65535))]
    pub port: i32,
    /// Port that the machines are asked on; the same one when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65535))]
    pub target_port: Option<i32>,
    /// Protocol of the traffic: tcp or udp; tcp when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<BalancedProtocol>,
}

wire_enum! {
    /// How the next machine is chosen.
    BalancingMethod {
        /// Each in turn.
        RoundRobin = "round-robin",
        /// The one with the fewest sessions.
        LeastSession = "least-session",
        /// The first that is well.
        FirstAlive = "first-alive",
    }
}

wire_enum! {
    /// Where an address is reachable from.
    BalancingScheme {
        /// From everywhere.
        InternetFacing = "internet-facing",
        /// From inside alone.
        Internal = "internal",
    }
}

wire_enum! {
    /// Protocol of balanced traffic.
    BalancedProtocol {
        /// TCP.
        Tcp = "tcp",
        /// UDP.
        Udp = "udp",
    }
}

/// What is known about the load balancer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoadBalancerStatus {
    /// Generation of the spec that this status answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Where the load balancer is in its life: Pending, Ready or Error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// State of the load balancer in one word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// What the load balancer waits for or suffers from, in one sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Detailed conditions, by type.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
    /// When the load balancer was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<Time>,
    /// Times that making the load balancer has been tried again.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub retry_count: Option<i32>,
    /// Addresses that the load balancer answers on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "atomic"))]
    pub load_balancer_ips: Vec<String>,
    /// Addresses of the machines that are balanced now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), extend("x-kubernetes-list-type" = "atomic"))]
    pub pool_members: Vec<String>,
    /// How the next machine is chosen now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// Identifier of the datacenter that the load balancer is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub datacenter_identifier: Option<String>,
    /// Identifier of the supervisor cluster that made the load balancer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supervisor_identifier: Option<String>,
    /// Identifier of the cluster whose machines are balanced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster_identifier: Option<String>,
    /// Name of the NetworkNamespace that the address was taken from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network_namespace_identifier: Option<String>,
    /// Environment that the load balancer belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment: Option<String>,
}

/// Rules over the whole spec.
fn spec(schema: &mut Schema) {
    const RULES: &[Rule] = &[
        Rule::new(
            "has(self.poolMembers) || has(self.selector) || has(self.networkNamespaceIdentifier)",
            "spec names no machines; give spec.poolMembers or spec.selector, or spec.networkNamespaceIdentifier to have an address before there are any",
        ).demanded(),
        Rule::new(
            "!(has(self.poolMembers) && has(self.selector))",
            "spec.poolMembers and spec.selector say the same thing in two forms; keep one of them",
        ).forbids(".selector"),
        Rule::new(
            "!has(self.algorithm) || !has(self.method) || self.method == 'first-alive'",
            "spec.method and spec.algorithm say the same thing in two forms; keep one of them",
        ).forbids(".method"),
        Rule::new(
            "!(has(self.port) && has(self.ports))",
            "spec.port and spec.ports say the same thing in two forms; keep one of them",
        ).forbids(".ports"),
    ];
    add_rules(schema, RULES);
}
