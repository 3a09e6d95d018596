//! NetworkConfiguration: one network that machines are attached to, or the interfaces of one machine.
//!
//! Shape B (`networkId`, `vlan`, `ipam`, `dhcp`, `security`) describes a network; shape C (`name`,
//! `networkInterfaces`) lists the interfaces of the machine that has the object's name.

mod dhcp;
mod firewall;
mod interfaces;
mod rules;
mod status;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use dhcp::{DhcpConfig, DhcpReservation, Ipam, IpamType};
pub use firewall::{FirewallRule, NetworkSecurity};
pub use interfaces::AllocatedInterface;
pub use status::NetworkConfigurationStatus;

use crate::vitistack::metadata_name;

/// What a network is, or which interfaces a machine has.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[kube(
    group = "vitistack.io",
    version = "v1alpha1",
    kind = "NetworkConfiguration",
    plural = "networkconfigurations",
    singular = "networkconfiguration",
    shortname = "nc",
    category = "vitistack",
    category = "machinist",
    namespaced,
    status = "NetworkConfigurationStatus",
    derive = "PartialEq",
    derive = "Default",
    validation = metadata_name(),
    doc = "NetworkConfiguration is one network that machines are attached to, or the interfaces of one machine.",
    selectable = ".spec.networkId",
    selectable = ".spec.networkNamespaceName",
    selectable = ".status.phase",
    printcolumn(name = "Network", type_ = "string", json_path = ".spec.networkId"),
    printcolumn(name = "VLAN", type_ = "integer", json_path = ".spec.vlan"),
    printcolumn(name = "Subnet", type_ = "string", json_path = ".spec.ipam.subnet"),
    printcolumn(name = "Ready", type_ = "boolean", json_path = ".status.ready"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    printcolumn(name = "Name", type_ = "string", json_path = ".spec.name", priority = 1),
    printcolumn(name = "Phase", type_ = "string", json_path = ".status.phase", priority = 1),
    printcolumn(name = "Status", type_ = "string", json_path = ".status.status", priority = 1),
    printcolumn(
        name = "Interfaces",
        type_ = "string",
        json_path = ".status.networkInterfaces[*].name",
        priority = 1
    )
)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rules::spec)]
pub struct NetworkConfigurationSpec {
    /// Identifier of the network: lower-case letters, digits and dashes, such as prod-network.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 1, max = 63),
        regex(pattern = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")
    )]
    pub network_id: Option<String>,
    /// VLAN ID of the network (1-4094).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 4094))]
    pub vlan: Option<i32>,
    /// Name of the bridge interface that the network is on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub bridge: Option<String>,
    /// Largest packet that the network carries, in bytes (68-65535).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 68, max = 65535))]
    pub mtu: Option<i32>,
    /// How the network's addresses are given out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ipam: Option<Ipam>,
    /// How the network's DHCP server works; goes with an ipam.type of kea or dhcp.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dhcp: Option<DhcpConfig>,
    /// What traffic may enter and leave the network.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub security: Option<NetworkSecurity>,
    /// Name of the interfaces' machine, shortened to 32 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 2, max = 32), regex(pattern = r"^[A-Za-z0-9_-]+$"))]
    pub name: Option<String>,
    /// What the object is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 256))]
    pub description: Option<String>,
    /// Name of the NetworkNamespace that addresses are taken from.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub network_namespace_name: Option<String>,
    /// Name of what gives out addresses, such as kea.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 32), regex(pattern = r"^[A-Za-z0-9_-]+$"))]
    pub provider: Option<String>,
    /// Identifier of the datacenter.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 2, max = 32), regex(pattern = r"^[A-Za-z0-9_-]+$"))]
    pub datacenter_identifier: Option<String>,
    /// Identifier of the supervisor cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 2, max = 32), regex(pattern = r"^[A-Za-z0-9_-]+$"))]
    pub supervisor_identifier: Option<String>,
    /// Identifier of the cluster that the machine belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 2, max = 32), regex(pattern = r"^[A-Za-z0-9_-]+$"))]
    pub cluster_identifier: Option<String>,
    /// Interfaces of the machine, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub network_interfaces: Vec<AllocatedInterface>,
}
