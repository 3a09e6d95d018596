//! The network interfaces of a machine, in both documented forms.
//!
//! Whether a subnet or network exists is left to the providers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::enums::{AddressSource, InterfaceType};
use super::rules;
use crate::schema;

/// The machine's place in the platform's network.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Network {
    /// ID of the VPC or virtual network.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub vpc: Option<String>,
    /// ID of the subnet.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub subnet: Option<String>,
    /// Name of the NetworkNamespace that the machine is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub network_namespace_name: Option<String>,
    /// Whether the machine gets a public IP address.
    #[serde(rename = "assignPublicIP", skip_serializing_if = "Option::is_none")]
    pub assign_public_ip: Option<bool>,
    /// Static private IP address.
    #[serde(rename = "privateIP", skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::ip)]
    pub private_ip: Option<String>,
    /// Static public IP address, or the platform's ID of a reserved one.
    #[serde(rename = "publicIP", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub public_ip: Option<String>,
    /// Network interfaces of the machine, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]), transform = rules::interfaces)]
    pub interfaces: Vec<NetworkInterface>,
}

/// One network interface, placed by subnet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NetworkInterface {
    /// Name of the interface, unique within the machine.
    #[schemars(length(min = 1, max = 63))]
    pub name: String,
    /// Whether this is the interface that carries the default route.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub primary: Option<bool>,
    /// ID of the subnet that the interface is attached to.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub subnet: Option<String>,
    /// Security groups that apply to this interface.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(min = 1, max = 253)), extend("x-kubernetes-list-type" = "set"))]
    pub security_groups: Vec<String>,
}

/// The machine's interfaces, each tied to a NetworkConfiguration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Networking {
    /// Network interfaces of the machine, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = 32),
        extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"])
    )]
    pub interfaces: Vec<NetworkingInterface>,
}

/// One network interface, placed by a reference to its network.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rules::networking_interface)]
pub struct NetworkingInterface {
    /// Name of the interface, unique within the machine.
    #[schemars(length(min = 1, max = 63))]
    pub name: String,
    /// NetworkConfiguration that the interface is attached to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network_ref: Option<NetworkRef>,
    /// Static IP address; the network assigns one when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::ip)]
    pub ip_address: Option<String>,
    /// MAC address; derived from the machine when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::mac)]
    pub mac_address: Option<String>,
    /// How the interface is attached to the host's network: bridge, macvlan or ipvlan.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub attachment: Option<InterfaceType>,
    /// Largest packet that the interface carries, in bytes (68-65535).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 68, max = 65535))]
    pub mtu: Option<i32>,
    /// VLAN ID that the interface is on (1-4094).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 4094))]
    pub vlan: Option<i32>,
    /// How the interface gets its address; the network decides when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ip_configuration: Option<IpConfiguration>,
}

/// How an interface gets its address.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rules::ip_configuration)]
pub struct IpConfiguration {
    /// Where the address comes from: static or dhcp.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub source: Option<AddressSource>,
    /// Static IP address.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::ip)]
    pub address: Option<String>,
    /// Network mask of the address, such as 255.255.255.0.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::ip)]
    pub netmask: Option<String>,
    /// Address of the gateway.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::ip)]
    pub gateway: Option<String>,
}

/// Names a NetworkConfiguration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NetworkRef {
    /// Name of the NetworkConfiguration.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, length(min = 1, max = 253))]
    pub name: Option<String>,
    /// Namespace of the NetworkConfiguration; the namespace of the machine when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub namespace: Option<String>,
}
