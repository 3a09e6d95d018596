//! Prefix: a range of addresses, whole or a part of another.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::CustomResource;
use kube::core::{Reason, Rule as RootRule};
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};

use crate::ironcore::common::{
    Condition, IpFamily, LabelSelector, LocalObjectReference, TemplateMetadata,
};
use crate::schema::{self, Rule, add_rules, immutable, metadata_name, root_message, set_once};
use crate::wire_enum::wire_enum;

wire_enum! {
    /// How far a prefix is.
    #[derive(Default)]
    PrefixPhase {
        /// The addresses are not found yet.
        #[default]
        Pending = "Pending",
        /// The addresses belong to the prefix.
        Allocated = "Allocated",
    }
}

/// What a prefix should be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[kube(
    group = "ipam.ironcore.dev",
    version = "v1alpha1",
    kind = "Prefix",
    plural = "prefixes",
    singular = "prefix",
    category = "ironcore",
    category = "machinist",
    namespaced,
    status = "PrefixStatus",
    derive = "PartialEq",
    derive = "Default",
    validation = metadata_name(),
    validation = set_once("spec.ipFamily"),
    validation = set_once("spec.prefix"),
    validation = set_once("spec.prefixLength"),
    validation = set_once("spec.parentRef"),
    validation = immutable("spec.parentSelector"),
    validation = a_root_stays_one(),
    validation = an_allocation_stays(),
    validation = allocated_is_known(),
    validation = used_is_inside(),
    doc = "Prefix is a range of addresses, whole or a part of another.",
    selectable = ".spec.parentRef.name",
    selectable = ".status.phase",
    printcolumn(name = "Prefix", type_ = "string", json_path = ".spec.prefix"),
    printcolumn(name = "Parent", type_ = "string", json_path = ".spec.parentRef.name"),
    printcolumn(name = "Phase", type_ = "string", json_path = ".status.phase"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rules)]
pub struct PrefixSpec {
    /// Family of the addresses, IPv4 or IPv6; that of prefix unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ip_family: Option<IpFamily>,
    /// The addresses, such as 10.0.0.0/24; found in the parent unless given, and fixed from then on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::cidr)]
    pub prefix: Option<String>,
    /// How large a part of the parent is wanted, as the length of a prefix; for a part alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 128))]
    pub prefix_length: Option<i32>,
    /// Prefix that this is a part of; found by parentSelector unless given, and fixed from then on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::label_reference)]
    pub parent_ref: Option<LocalObjectReference>,
    /// Labels of a Prefix that this can be a part of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_selector: Option<LabelSelector>,
}

/// What a prefix is made from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PrefixTemplate {
    /// Labels and annotations of the prefix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<TemplateMetadata>,
    /// What the prefix should be.
    pub spec: PrefixSpec,
}

/// What was last seen of the prefix.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PrefixStatus {
    /// How far the prefix is: Pending or Allocated, from which it never goes back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<PrefixPhase>,
    /// When the phase last changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_phase_transition_time: Option<Time>,
    /// Parts of the prefix that were handed out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = 1024),
        transform = schema::cidrs,
        extend("x-kubernetes-list-type" = "atomic")
    )]
    pub used: Vec<String>,
    /// Generation of the spec that this status answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Detailed conditions, by type: Ready, Reconciling and Stalled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
}

/// Rules over family, prefix and length, which an allocation has as well.
pub(super) const ADDRESSES: &[Rule] = &[
    Rule::required(
        ".ipFamily",
        "has(self.ipFamily) || has(self.prefix)",
        "ipFamily is required without prefix: IPv4 or IPv6",
    ),
    Rule::new(
        "!has(self.ipFamily) || !has(self.prefix) || !isCIDR(self.prefix) \
         || cidr(self.prefix).ip().family() == (self.ipFamily == 'IPv4' ? 4 : 6)",
        "prefix must be of the family that ipFamily names",
    )
    .about(".prefix", "self.prefix"),
    Rule::new(
        "!has(self.prefixLength) || !has(self.ipFamily) || self.ipFamily == 'IPv6' \
         || self.prefixLength <= 32",
        "prefixLength must be at most 32 with IPv4",
    )
    .counting(".prefixLength", "self.prefixLength"),
];

fn rules(schema: &mut Schema) {
    const RULES: &[Rule] = &[
        Rule::required(
            ".prefix",
            "has(self.parentRef) || has(self.parentSelector) || has(self.prefix)",
            "prefix is required without parentRef and parentSelector: there is nothing to take it from",
        ),
        Rule::new(
            "has(self.parentRef) || has(self.parentSelector) || !has(self.prefixLength)",
            "prefixLength needs parentRef or parentSelector: a whole range is given by prefix alone",
        ).forbids(".prefixLength"),
        Rule::new(
            "has(self.prefix) || has(self.prefixLength)",
            "a part of another prefix needs prefix or prefixLength",
        ).demanded(),
        Rule::new(
            "!has(self.prefix) || !has(self.prefixLength) || !isCIDR(self.prefix) \
             || cidr(self.prefix).prefixLength() == self.prefixLength",
            "prefixLength must be the length of prefix where both are given",
        )
        .counting(".prefixLength", "self.prefixLength"),
    ];
    add_rules(schema, ADDRESSES);
    add_rules(schema, RULES);
}

fn a_root_stays_one() -> RootRule {
    RootRule::new(
        "has(oldSelf.spec.parentRef) || has(oldSelf.spec.parentSelector) \
         || !has(self.spec.parentRef)",
    )
    .message("spec.parentRef cannot be given to a prefix that was made without a parent")
    .field_path(".spec.parentRef")
    .reason(Reason::FieldValueForbidden)
}

fn an_allocation_stays() -> RootRule {
    RootRule::new(
        "!has(oldSelf.status) || !has(oldSelf.status.phase) \
         || oldSelf.status.phase != 'Allocated' \
         || (has(self.status) && has(self.status.phase) && self.status.phase == 'Allocated')",
    )
    .message("status.phase cannot leave Allocated")
    .field_path(".status.phase")
    .reason(Reason::FieldValueForbidden)
}

fn allocated_is_known() -> RootRule {
    RootRule::new(
        "!has(self.status) || !has(self.status.phase) || self.status.phase != 'Allocated' \
         || (has(self.spec.prefix) && (!has(self.spec.parentSelector) || has(self.spec.parentRef)))",
    )
    .message(
        "status.phase cannot be Allocated before spec.prefix is known, and spec.parentRef for a part",
    )
    .field_path(".status.phase")
    .reason(Reason::FieldValueForbidden)
}

fn used_is_inside() -> RootRule {
    RootRule::new(
        "!has(self.status) || !has(self.status.used) || self.status.used.size() == 0 \
         || (has(self.status.phase) && self.status.phase == 'Allocated' && has(self.spec.prefix) \
         && isCIDR(self.spec.prefix) && self.status.used.all(used, \
         isCIDR(used) && cidr(self.spec.prefix).containsCIDR(used)))",
    )
    .message(root_message(
        "status.used must lie in spec.prefix, of a prefix whose status.phase is Allocated",
        "self.status.used.join(', ')",
    ))
    .field_path(".status.used")
}
