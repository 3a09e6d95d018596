//! NetworkPolicy: which traffic the interfaces of a network let through.

use kube::CustomResource;
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};

use super::policy_peer::{NetworkPolicyPeer, NetworkPolicyPort};
use crate::ironcore::common::{Condition, LabelSelector, LocalObjectReference};
use crate::schema::{self, Rule, add_rules, immutable, metadata_name};
use crate::wire_enum::wire_enum;

wire_enum! {
    /// Which way the traffic goes.
    PolicyType {
        /// To the interfaces.
        Ingress = "Ingress",
        /// From the interfaces.
        Egress = "Egress",
    }
}

/// What a network policy should be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[kube(
    group = "networking.ironcore.dev",
    version = "v1alpha1",
    kind = "NetworkPolicy",
    plural = "networkpolicies",
    singular = "networkpolicy",
    shortname = "netpol",
    category = "ironcore",
    category = "machinist",
    namespaced,
    status = "NetworkPolicyStatus",
    derive = "PartialEq",
    derive = "Default",
    validation = metadata_name(),
    validation = immutable("spec.networkRef"),
    doc = "NetworkPolicy says which traffic the interfaces of a network let through.",
    selectable = ".spec.networkRef.name",
    printcolumn(name = "Network", type_ = "string", json_path = ".spec.networkRef.name"),
    printcolumn(name = "PolicyTypes", type_ = "string", json_path = ".spec.policyTypes"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rules)]
pub struct NetworkPolicySpec {
    /// Network that the policy is for; it cannot be changed.
    #[schemars(transform = schema::label_reference)]
    pub network_ref: LocalObjectReference,
    /// Labels of the interfaces that the policy is for; all of the network unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network_interface_selector: Option<LabelSelector>,
    /// Traffic to the interfaces that is let through.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), extend("x-kubernetes-list-type" = "atomic"))]
    pub ingress: Vec<NetworkPolicyIngressRule>,
    /// Traffic from the interfaces that is let through.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), extend("x-kubernetes-list-type" = "atomic"))]
    pub egress: Vec<NetworkPolicyEgressRule>,
    /// Which ways the policy is about, Ingress or Egress; those that there are rules for unless given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 2), extend("x-kubernetes-list-type" = "set"))]
    pub policy_types: Vec<PolicyType>,
}

/// Traffic to the interfaces that is let through.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NetworkPolicyIngressRule {
    /// Ports that the traffic goes to; any unless given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), extend("x-kubernetes-list-type" = "atomic"))]
    pub ports: Vec<NetworkPolicyPort>,
    /// Where the traffic comes from; anywhere unless given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), extend("x-kubernetes-list-type" = "atomic"))]
    pub from: Vec<NetworkPolicyPeer>,
}

/// Traffic from the interfaces that is let through.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NetworkPolicyEgressRule {
    /// Ports that the traffic goes to; any unless given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), extend("x-kubernetes-list-type" = "atomic"))]
    pub ports: Vec<NetworkPolicyPort>,
    /// Where the traffic goes; anywhere unless given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), extend("x-kubernetes-list-type" = "atomic"))]
    pub to: Vec<NetworkPolicyPeer>,
}

/// What was last seen of the network policy.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NetworkPolicyStatus {
    /// Generation of the spec that this status answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Detailed conditions, by type: Ready, Reconciling and Stalled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
}

fn rules(schema: &mut Schema) {
    const RULES: &[Rule] = &[Rule::required(
        ".policyTypes",
        "(has(self.policyTypes) && self.policyTypes.size() > 0) \
         || (has(self.ingress) && self.ingress.size() > 0) \
         || (has(self.egress) && self.egress.size() > 0)",
        "spec.policyTypes is required without spec.ingress and spec.egress: Ingress, Egress or both",
    )];
    add_rules(schema, RULES);
}
