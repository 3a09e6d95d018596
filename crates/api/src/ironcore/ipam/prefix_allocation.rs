//! PrefixAllocation: a wish for a part of a prefix, and what came of it.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::CustomResource;
use kube::core::{Reason, Rule as RootRule};
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};

use super::prefix::ADDRESSES;
use crate::ironcore::common::{Condition, IpFamily, LabelSelector, LocalObjectReference};
use crate::schema::{self, Rule, add_rules, immutable, root_message, set_once};
use crate::wire_enum::wire_enum;

wire_enum! {
    /// What came of an allocation.
    #[derive(Default)]
    PrefixAllocationPhase {
        /// Nothing yet.
        #[default]
        Pending = "Pending",
        /// The addresses were found.
        Allocated = "Allocated",
        /// There are no such addresses.
        Failed = "Failed",
    }
}

/// What is wished for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[kube(
    group = "ipam.ironcore.dev",
    version = "v1alpha1",
    kind = "PrefixAllocation",
    plural = "prefixallocations",
    singular = "prefixallocation",
    category = "ironcore",
    category = "machinist",
    namespaced,
    status = "PrefixAllocationStatus",
    derive = "PartialEq",
    derive = "Default",
    validation = set_once("spec.ipFamily"),
    validation = immutable("spec.prefix"),
    validation = immutable("spec.prefixLength"),
    validation = set_once("spec.prefixRef"),
    validation = immutable("spec.prefixSelector"),
    validation = an_end_stays(),
    validation = the_result_is_what_was_asked(),
    doc = "PrefixAllocation is a wish for a part of a prefix, and what came of it.",
    selectable = ".spec.prefixRef.name",
    selectable = ".status.phase",
    printcolumn(name = "Prefix", type_ = "string", json_path = ".spec.prefixRef.name"),
    printcolumn(name = "Request", type_ = "string", json_path = ".spec.prefix"),
    printcolumn(name = "State", type_ = "string", json_path = ".status.phase"),
    printcolumn(name = "Result", type_ = "string", json_path = ".status.prefix"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    printcolumn(
        name = "Length",
        type_ = "integer",
        json_path = ".spec.prefixLength",
        priority = 1
    )
)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rules)]
pub struct PrefixAllocationSpec {
    /// Family of the addresses, IPv4 or IPv6; that of prefix unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ip_family: Option<IpFamily>,
    /// The very addresses that are wanted; give either this or prefixLength.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::cidr)]
    pub prefix: Option<String>,
    /// How many addresses are wanted, as the length of a prefix; give either this or prefix.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 128))]
    pub prefix_length: Option<i32>,
    /// Prefix to take the addresses from; found by prefixSelector unless given, and fixed from then on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::label_reference)]
    pub prefix_ref: Option<LocalObjectReference>,
    /// Labels of a Prefix to take the addresses from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix_selector: Option<LabelSelector>,
}

/// What came of the wish.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PrefixAllocationStatus {
    /// The addresses that were found.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::cidr)]
    pub prefix: Option<String>,
    /// What came of it: Pending, Allocated or Failed; the latter two stay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<PrefixAllocationPhase>,
    /// When the phase last changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_phase_transition_time: Option<Time>,
    /// Generation of the spec that this status answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Detailed conditions, by type: Ready, Reconciling and Stalled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
}

fn rules(schema: &mut Schema) {
    const RULES: &[Rule] = &[
        Rule::new(
            "has(self.prefix) != has(self.prefixLength)",
            "an allocation asks for one thing: give either prefix or prefixLength",
        )
        .demanded(),
        Rule::new(
            "has(self.prefixRef) || has(self.prefixSelector)",
            "an allocation needs a source: give prefixRef or prefixSelector",
        )
        .demanded(),
    ];
    add_rules(schema, ADDRESSES);
    add_rules(schema, RULES);
}

fn an_end_stays() -> RootRule {
    RootRule::new(
        "!has(oldSelf.status) || !has(oldSelf.status.phase) \
         || !(oldSelf.status.phase in ['Allocated', 'Failed']) \
         || (has(self.status) && has(self.status.phase) \
         && self.status.phase == oldSelf.status.phase)",
    )
    .message("status.phase cannot leave Allocated or Failed")
    .field_path(".status.phase")
    .reason(Reason::FieldValueForbidden)
}

fn the_result_is_what_was_asked() -> RootRule {
    RootRule::new(
        "!has(self.status) \
         || (has(self.status.prefix) \
         == (has(self.status.phase) && self.status.phase == 'Allocated') \
         && (!has(self.status.prefix) || !isCIDR(self.status.prefix) || (has(self.spec.prefixRef) \
         && (!has(self.spec.prefix) || self.spec.prefix == self.status.prefix) \
         && (!has(self.spec.prefixLength) \
         || cidr(self.status.prefix).prefixLength() == self.spec.prefixLength) \
         && (!has(self.spec.ipFamily) || cidr(self.status.prefix).ip().family() \
         == (self.spec.ipFamily == 'IPv4' ? 4 : 6)))))",
    )
    .message(root_message(
        "status.prefix goes with the phase Allocated, needs spec.prefixRef, and must be what spec asks for",
        "has(self.status.prefix) ? self.status.prefix : 'without one'",
    ))
    .field_path(".status.prefix")
}
