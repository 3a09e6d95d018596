//! Network: what interfaces are part of, and which other networks it is joined with.

use kube::CustomResource;
use kube::core::Rule as RootRule;
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};

use crate::ironcore::common::{Condition, LocalObjectReference, UidReference};
use crate::schema::{self, Rule, add_rules, metadata_name, root_message, set_once_text};
use crate::wire_enum::wire_enum;

wire_enum! {
    /// What a network is able to do.
    #[derive(Default)]
    NetworkState {
        /// The network is being made.
        #[default]
        Pending = "Pending",
        /// The network works.
        Available = "Available",
        /// The network has failed.
        Error = "Error",
    }
}

wire_enum! {
    /// How far two networks are joined.
    #[derive(Default)]
    NetworkPeeringState {
        /// The other network has not agreed yet.
        #[default]
        Pending = "Pending",
        /// The networks are joined.
        Ready = "Ready",
        /// The networks cannot be joined.
        Error = "Error",
    }
}

/// What a network should be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[kube(
    group = "networking.ironcore.dev",
    version = "v1alpha1",
    kind = "Network",
    plural = "networks",
    singular = "network",
    shortname = "net",
    category = "ironcore",
    category = "machinist",
    namespaced,
    status = "NetworkStatus",
    derive = "PartialEq",
    derive = "Default",
    validation = metadata_name(),
    validation = set_once_text("spec.providerID"),
    validation = no_peering_with_itself(),
    validation = no_claim_by_itself(),
    doc = "Network is what network interfaces are part of.",
    selectable = ".status.state",
    printcolumn(name = "State", type_ = "string", json_path = ".status.state"),
    printcolumn(name = "ProviderID", type_ = "string", json_path = ".spec.providerID"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
pub struct NetworkSpec {
    /// Identifier of the network at its provider; it stays once it is given.
    #[serde(rename = "providerID", skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub provider_id: Option<String>,
    /// Networks that this one is joined with, by the name of the peering.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = 64),
        extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]),
        transform = targets_differ
    )]
    pub peerings: Vec<NetworkPeering>,
    /// Networks that asked to be joined with this one, by their name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = 64),
        extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"])
    )]
    pub incoming_peerings: Vec<UidReference>,
}

/// One network that this one is joined with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NetworkPeering {
    /// Name of the peering.
    #[schemars(transform = schema::label_name)]
    pub name: String,
    /// The other network.
    pub network_ref: NetworkReference,
    /// Parts of this network that the other one reaches; all of it unless given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub prefixes: Vec<PeeringPrefix>,
}

/// A network in this or another namespace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NetworkReference {
    /// Namespace of the network; the same one unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::label_name)]
    pub namespace: Option<String>,
    /// Name of the network.
    #[schemars(transform = schema::label_name)]
    pub name: String,
}

/// A part of a network that another one reaches.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = peering_prefix)]
pub struct PeeringPrefix {
    /// Name of the part.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// The part itself; give either this or prefixRef.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::cidr)]
    pub prefix: Option<String>,
    /// Prefix that the part is; give either this or prefix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix_ref: Option<LocalObjectReference>,
}

/// What was last seen of the network.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NetworkStatus {
    /// What the network is able to do: Pending, Available or Error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<NetworkState>,
    /// How far each peering is, by its name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub peerings: Vec<NetworkPeeringStatus>,
    /// Generation of the spec that this status answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Detailed conditions, by type: Ready, Reconciling and Stalled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
}

/// How far one peering is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NetworkPeeringStatus {
    /// Name of the peering.
    #[schemars(length(max = 253))]
    pub name: String,
    /// How far it is: Pending, Ready or Error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<NetworkPeeringState>,
    /// Parts that are really reached, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub prefixes: Vec<PeeringPrefixStatus>,
}

/// A part that is really reached.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PeeringPrefixStatus {
    /// Name of the part.
    #[schemars(length(max = 253))]
    pub name: String,
    /// The part itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::cidr)]
    pub prefix: Option<String>,
}

fn targets_differ(schema: &mut Schema) {
    const RULES: &[Rule] = &[Rule::new(
        "self.all(a, self.exists_one(b, a.networkRef.name == b.networkRef.name \
         && (has(a.networkRef.__namespace__) ? a.networkRef.__namespace__ : '') \
         == (has(b.networkRef.__namespace__) ? b.networkRef.__namespace__ : '')))",
        "spec.peerings names a network twice; name each network once",
    )
    .forbidden()];
    add_rules(schema, RULES);
}

fn peering_prefix(schema: &mut Schema) {
    const RULES: &[Rule] = &[Rule::new(
        "!has(self.prefix) || !has(self.prefixRef)",
        "a part of a network is named once: give either prefix or prefixRef",
    )
    .forbidden()];
    add_rules(schema, RULES);
}

/// Rules do not see the namespace, so a network that names its own is found by the webhook. The
/// word is one of CEL's own, hence its spelling.
fn no_peering_with_itself() -> RootRule {
    RootRule::new(
        "!has(self.spec.peerings) || self.spec.peerings.all(peering, \
         has(peering.networkRef.__namespace__) || peering.networkRef.name != self.metadata.name)",
    )
    .message(root_message(
        "spec.peerings must name networks other than this one",
        "self.metadata.name",
    ))
    .field_path(".spec.peerings")
}

fn no_claim_by_itself() -> RootRule {
    RootRule::new(
        "!has(self.spec.incomingPeerings) || self.spec.incomingPeerings.all(claim, \
         has(claim.__namespace__) || claim.name != self.metadata.name)",
    )
    .message(root_message(
        "spec.incomingPeerings must name networks other than this one",
        "self.metadata.name",
    ))
    .field_path(".spec.incomingPeerings")
}
