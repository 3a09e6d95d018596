//! NetworkNamespace: a boundary around networks, and where their addresses come from.
//!
//! Shape B (`isolation`, `defaultPolicy`, `limits`, `qos`) and shape C (`datacenterIdentifier`,
//! `supervisorIdentifier`, `ipAllocation`) live side by side; they share no concept.

mod allocation;
mod status;

use kube::CustomResource;
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};

pub use allocation::{DhcpAllocation, IpAllocation, StaticAllocation};
pub use status::{
    AllocatedAddress, IpAllocationStatus, NetworkNamespacePhase, NetworkNamespaceStatus,
};

use crate::schema::{Rule, add_rules};
use crate::vitistack::common::Verdict;
use crate::vitistack::metadata_name;
use crate::wire_enum::wire_enum;

/// What a boundary around networks lets through, and where addresses come from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[kube(
    group = "vitistack.io",
    version = "v1alpha1",
    kind = "NetworkNamespace",
    plural = "networknamespaces",
    singular = "networknamespace",
    shortname = "nn",
    category = "vitistack",
    category = "machinist",
    namespaced,
    status = "NetworkNamespaceStatus",
    derive = "PartialEq",
    derive = "Default",
    validation = metadata_name(),
    doc = "NetworkNamespace is a boundary around networks, and where their addresses come from.",
    selectable = ".status.phase",
    printcolumn(name = "Isolation", type_ = "string", json_path = ".spec.isolation.level"),
    printcolumn(name = "Phase", type_ = "string", json_path = ".status.phase"),
    printcolumn(name = "Networks", type_ = "integer", json_path = ".status.networkCount"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    printcolumn(
        name = "Datacenter",
        type_ = "string",
        json_path = ".spec.datacenterIdentifier",
        priority = 1
    ),
    printcolumn(name = "VLAN", type_ = "integer", json_path = ".status.vlanId", priority = 1),
    printcolumn(name = "Prefix", type_ = "string", json_path = ".status.ipv4Prefix", priority = 1),
    printcolumn(name = "Status", type_ = "string", json_path = ".status.status", priority = 1)
)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = spec)]
pub struct NetworkNamespaceSpec {
    /// How strictly the networks are kept apart from others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub isolation: Option<Isolation>,
    /// What happens to traffic that no rule speaks of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_policy: Option<DefaultPolicy>,
    /// How much the namespace may use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<NetworkLimits>,
    /// How the namespace's traffic is treated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub qos: Option<QualityOfService>,
    /// Identifier of the datacenter.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 2, max = 32), regex(pattern = r"^[A-Za-z0-9_-]+$"))]
    pub datacenter_identifier: Option<String>,
    /// Identifier of the supervisor cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 2, max = 32), regex(pattern = r"^[A-Za-z0-9_-]+$"))]
    pub supervisor_identifier: Option<String>,
    /// Identifier of the cluster that the namespace is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 2, max = 32), regex(pattern = r"^[A-Za-z0-9_-]+$"))]
    pub cluster_identifier: Option<String>,
    /// Name of what makes the network.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 32), regex(pattern = r"^[A-Za-z0-9_-]+$"))]
    pub provider: Option<String>,
    /// Environment that the namespace belongs to, such as prod.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 128), regex(pattern = r"^[A-Za-z0-9._-]+$"))]
    pub environment: Option<String>,
    /// Where addresses come from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ip_allocation: Option<IpAllocation>,
}

/// How strictly networks are kept apart from others.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Isolation {
    /// How strictly: strict, moderate or none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<IsolationLevel>,
    /// Namespaces that may talk to this one all the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), inner(length(min = 1, max = 63), regex(pattern = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")), extend("x-kubernetes-list-type" = "set"))]
    pub allowed_namespaces: Vec<String>,
}

wire_enum! {
    /// How strictly networks are kept apart.
    IsolationLevel {
        /// Nothing passes.
        Strict = "strict",
        /// What is allowed passes.
        Moderate = "moderate",
        /// Everything passes.
        None = "none",
    }
}

/// What happens to traffic that no rule speaks of.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DefaultPolicy {
    /// What happens to traffic from outside: allow or deny.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ingress: Option<Verdict>,
    /// What happens to traffic to the outside: allow or deny.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub egress: Option<Verdict>,
}

/// How much a namespace may use.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NetworkLimits {
    /// Most networks in the namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub networks: Option<i32>,
    /// Most addresses in the namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub ip_addresses: Option<i32>,
    /// Most bandwidth, such as 1Gbps.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 1, max = 32),
        regex(pattern = r"^[0-9]+(\.[0-9]+)?[KMGT]?bps$")
    )]
    pub bandwidth: Option<String>,
}

/// How traffic is treated.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QualityOfService {
    /// Class of the traffic: guaranteed, burstable or best-effort.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<QosClass>,
    /// Priority of the traffic (0-255).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 255))]
    pub priority: Option<i32>,
}

wire_enum! {
    /// How much of its share traffic is promised.
    QosClass {
        /// All of it.
        Guaranteed = "guaranteed",
        /// Some of it, and more when there is room.
        Burstable = "burstable",
        /// None of it.
        BestEffort = "best-effort",
    }
}

/// Rules over the whole spec.
fn spec(schema: &mut Schema) {
    const RULES: &[Rule] = &[Rule::new(
        "has(self.datacenterIdentifier) == has(self.supervisorIdentifier)",
        "spec.datacenterIdentifier and spec.supervisorIdentifier go together; give both or neither",
    )
    .demanded()];
    add_rules(schema, RULES);
}
