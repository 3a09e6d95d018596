//! VirtualIP: a public address that leads to an interface.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ironcore::common::{Condition, IpFamily, LocalUidReference};
use crate::schema::{self, immutable, metadata_name};
use crate::wire_enum::wire_enum;

wire_enum! {
    /// Where an address is reachable from.
    #[derive(Default)]
    PublicType {
        /// Everywhere.
        #[default]
        Public = "Public",
    }
}

/// What a public address should be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[kube(
    group = "networking.ironcore.dev",
    version = "v1alpha1",
    kind = "VirtualIP",
    root = "VirtualIp",
    plural = "virtualips",
    singular = "virtualip",
    shortname = "vip",
    category = "ironcore",
    category = "machinist",
    namespaced,
    status = "VirtualIpStatus",
    derive = "PartialEq",
    validation = metadata_name(),
    validation = immutable("spec.type"),
    validation = immutable("spec.ipFamily"),
    doc = "VirtualIP is a public address that leads to an interface.",
    selectable = ".spec.targetRef.name",
    printcolumn(name = "ExternalIP", type_ = "string", json_path = ".status.ip"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
pub struct VirtualIpSpec {
    /// Kind of address: Public; it cannot be changed.
    #[serde(rename = "type")]
    pub type_: PublicType,
    /// Family of the address: IPv4 or IPv6; it cannot be changed.
    pub ip_family: IpFamily,
    /// Interface that the address leads to.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::label_reference)]
    pub target_ref: Option<LocalUidReference>,
}

/// What was last seen of the public address.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VirtualIpStatus {
    /// The address itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::ip)]
    pub ip: Option<String>,
    /// Generation of the spec that this status answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Detailed conditions, by type: Ready, Reconciling and Stalled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
}
