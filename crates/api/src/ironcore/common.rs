//! What the kinds of all groups share: references, selectors, taints, conditions, resources.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};

use crate::quantity::QuantityValue;
use crate::schema::{self, Rule, add_rules};
use crate::wire_enum::wire_enum;

/// Quantities by the name of a resource, such as cpu and memory.
pub type ResourceList = BTreeMap<String, QuantityValue>;

wire_enum! {
    /// Family of an IP address.
    IpFamily {
        /// IPv4.
        V4 = "IPv4",
        /// IPv6.
        V6 = "IPv6",
    }
}

/// Another object in the same namespace, or one that is in none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LocalObjectReference {
    /// Name of the object.
    #[schemars(transform = schema::object_name)]
    pub name: String,
}

/// Another object in the same namespace, and no other one of that name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LocalUidReference {
    /// Name of the object.
    #[schemars(transform = schema::object_name)]
    pub name: String,
    /// UID of the object, so that a later one of the same name is not meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub uid: Option<String>,
}

/// An object in this or another namespace, and no other one of that name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UidReference {
    /// Namespace of the object; the same one unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::label_name)]
    pub namespace: Option<String>,
    /// Name of the object.
    #[schemars(transform = schema::label_name)]
    pub name: String,
    /// UID of the object, so that a later one of the same name is not meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub uid: Option<String>,
}

/// One entry of a Secret in the same namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SecretKeySelector {
    /// Name of the Secret.
    #[schemars(transform = schema::object_name)]
    pub name: String,
    /// Key of the entry; the usual key for what is looked for unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253), regex(pattern = "^[-._a-zA-Z0-9]*$"))]
    pub key: Option<String>,
}

wire_enum! {
    /// What a taint does to machines that do not tolerate it.
    TaintEffect {
        /// New ones stay away.
        NoSchedule = "NoSchedule",
        /// New ones stay away and those that are there must go.
        NoExecute = "NoExecute",
    }
}

wire_enum! {
    /// How a toleration compares with a taint.
    #[derive(Default)]
    TolerationOperator {
        /// Key and value are the same.
        #[default]
        Equal = "Equal",
        /// The key is the same.
        Exists = "Exists",
    }
}

/// A reason to stay away from a pool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Taint {
    /// Name of the reason.
    #[schemars(length(min = 1, max = 316))]
    pub key: String,
    /// Value that goes with the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub value: Option<String>,
    /// What the reason does: NoSchedule or NoExecute.
    pub effect: TaintEffect,
}

/// A taint that does not matter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Toleration {
    /// Key of the taint; every key unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 316))]
    pub key: Option<String>,
    /// How key and value are compared: Equal, which it is unless given, or Exists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operator: Option<TolerationOperator>,
    /// Value of the taint; none with the operator Exists.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub value: Option<String>,
    /// Effect of the taint; every effect unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<TaintEffect>,
}

/// The metadata of an object that is made from a template: nothing else of it can be chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TemplateMetadata {
    /// Labels of the object.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = schema::labels)]
    pub labels: BTreeMap<String, String>,
    /// Annotations of the object.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = schema::string_map)]
    pub annotations: BTreeMap<String, String>,
}

wire_enum! {
    /// How a requirement compares a label.
    LabelSelectorOperator {
        /// The label has one of the values.
        In = "In",
        /// The label is absent or has none of the values.
        NotIn = "NotIn",
        /// The label is there.
        Exists = "Exists",
        /// The label is absent.
        DoesNotExist = "DoesNotExist",
    }
}

/// Which objects are meant, by their labels; an empty one means all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LabelSelector {
    /// Labels that an object must have, with these values.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = schema::labels)]
    pub match_labels: BTreeMap<String, String>,
    /// Further requirements on an object's labels; all of them must hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16), extend("x-kubernetes-list-type" = "atomic"))]
    pub match_expressions: Vec<LabelSelectorRequirement>,
}

/// One requirement on an object's labels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = operator_and_values)]
pub struct LabelSelectorRequirement {
    /// Key of the label.
    #[schemars(transform = schema::label_key)]
    pub key: String,
    /// How the label is compared: In, NotIn, Exists or DoesNotExist.
    pub operator: LabelSelectorOperator,
    /// Values to compare with; given with In and NotIn, and with them alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = 16),
        transform = schema::label_values,
        extend("x-kubernetes-list-type" = "atomic")
    )]
    pub values: Vec<String>,
}

/// Which operators of a requirement take values.
pub(super) fn operator_and_values(schema: &mut Schema) {
    const RULES: &[Rule] = &[Rule::new(
        "(self.operator in ['In', 'NotIn']) == (has(self.values) && self.values.size() > 0)",
        "values must be given with the operators In and NotIn, and left out with Exists and DoesNotExist",
    ).demanded()];
    add_rules(schema, RULES);
}

/// One aspect of an object's state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    /// Name of the aspect, such as Ready.
    #[serde(rename = "type")]
    #[schemars(length(min = 1, max = 316))]
    pub type_: String,
    /// Whether it holds: True, False or Unknown.
    #[schemars(length(max = 7), regex(pattern = "^(True|False|Unknown)$"))]
    pub status: String,
    /// Why it holds or not, in one word.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub reason: Option<String>,
    /// Why it holds or not, in a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 32768))]
    pub message: Option<String>,
    /// Generation of the object that the condition was computed from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// When the condition was last computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_update_time: Option<Time>,
    /// When the status last changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_transition_time: Option<Time>,
}
