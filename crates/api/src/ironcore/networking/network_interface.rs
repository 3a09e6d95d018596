//! NetworkInterface: what connects a machine to a network.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::interface_rules;
use super::sources::{IpSource, PrefixSource, VirtualIpSource};
use crate::ironcore::common::{
    Condition, IpFamily, LocalObjectReference, LocalUidReference, TemplateMetadata,
};
use crate::schema::{self, immutable, metadata_name, set_once};
use crate::wire_enum::wire_enum;

wire_enum! {
    /// What a network interface is able to do.
    #[derive(Default)]
    NetworkInterfaceState {
        /// The interface is being made.
        #[default]
        Pending = "Pending",
        /// The interface works.
        Available = "Available",
        /// The interface has failed.
        Error = "Error",
    }
}

/// What a network interface should be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[kube(
    group = "networking.ironcore.dev",
    version = "v1alpha1",
    kind = "NetworkInterface",
    plural = "networkinterfaces",
    singular = "networkinterface",
    shortname = "nic",
    category = "ironcore",
    category = "machinist",
    namespaced,
    status = "NetworkInterfaceStatus",
    derive = "PartialEq",
    derive = "Default",
    validation = metadata_name(),
    validation = interface_rules::names_have_room(),
    validation = immutable("spec.networkRef"),
    validation = set_once("spec.ipFamilies"),
    validation = immutable("spec.attributes"),
    doc = "NetworkInterface connects a machine to a network.",
    selectable = ".spec.networkRef.name",
    selectable = ".spec.machineRef.name",
    selectable = ".status.state",
    printcolumn(name = "Network", type_ = "string", json_path = ".spec.networkRef.name"),
    printcolumn(name = "Machine", type_ = "string", json_path = ".spec.machineRef.name"),
    printcolumn(name = "IPs", type_ = "string", json_path = ".status.ips"),
    printcolumn(name = "Prefixes", type_ = "string", json_path = ".status.prefixes"),
    printcolumn(name = "VirtualIP", type_ = "string", json_path = ".status.virtualIP"),
    printcolumn(name = "State", type_ = "string", json_path = ".status.state"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = interface_rules::interface)]
pub struct NetworkInterfaceSpec {
    /// Identifier of the interface at its provider.
    #[serde(rename = "providerID", skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub provider_id: Option<String>,
    /// Network that the interface is part of; it cannot be changed.
    #[schemars(transform = schema::label_reference)]
    pub network_ref: LocalObjectReference,
    /// Machine that uses the interface.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::label_reference)]
    pub machine_ref: Option<LocalUidReference>,
    /// Families of the addresses, IPv4 or IPv6, in the order of ips; those of ips unless given, and fixed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1, max = 2), extend("x-kubernetes-list-type" = "set"))]
    pub ip_families: Vec<IpFamily>,
    /// Addresses of the interface, one for each family.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 2), extend("x-kubernetes-list-type" = "atomic"))]
    pub ips: Vec<IpSource>,
    /// Further ranges of addresses that lead to the interface.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), extend("x-kubernetes-list-type" = "atomic"))]
    pub prefixes: Vec<PrefixSource>,
    /// Public address of the interface.
    #[serde(rename = "virtualIP", skip_serializing_if = "Option::is_none")]
    pub virtual_ip: Option<VirtualIpSource>,
    /// What else the provider should know; it cannot be changed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = schema::string_map)]
    pub attributes: BTreeMap<String, String>,
}

/// What a network interface is made from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NetworkInterfaceTemplate {
    /// Labels and annotations of the interface.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<TemplateMetadata>,
    /// What the interface should be.
    pub spec: NetworkInterfaceSpec,
}

/// What was last seen of the network interface.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NetworkInterfaceStatus {
    /// What the interface is able to do: Pending, Available or Error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<NetworkInterfaceState>,
    /// When the state last changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_state_transition_time: Option<Time>,
    /// Addresses that the interface really has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), transform = schema::ips, extend("x-kubernetes-list-type" = "atomic"))]
    pub ips: Vec<String>,
    /// Ranges that really lead to the interface.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), transform = schema::cidrs, extend("x-kubernetes-list-type" = "atomic"))]
    pub prefixes: Vec<String>,
    /// Public address that the interface really has.
    #[serde(rename = "virtualIP", skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::ip)]
    pub virtual_ip: Option<String>,
    /// Generation of the spec that this status answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Detailed conditions, by type: Ready, Reconciling and Stalled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
}
