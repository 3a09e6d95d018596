//! The disks and network interfaces of a machine, v1beta1: one list of each.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema;
use crate::vitistack::machine::{InterfaceType, VolumeType};
use crate::wire_enum::wire_enum;

wire_enum! {
    /// What a disk is for.
    DiskRole {
        /// The machine boots from it.
        Boot = "Boot",
        /// It holds data.
        Data = "Data",
    }
}

/// One disk of the machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Disk {
    /// Name of the disk, unique within the machine.
    #[schemars(length(min = 1, max = 63))]
    pub name: String,
    /// What the disk is for: Boot or Data; the first disk boots when none is marked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<DiskRole>,
    /// Size as a Kubernetes quantity from 1Gi to 100Ti, such as 20Gi.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::volume_size)]
    pub size: Option<String>,
    /// Storage class or disk type in the platform's own naming, such as gp3.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub class: Option<String>,
    /// Kind of medium: ssd, hdd or nvme.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub medium: Option<VolumeType>,
    /// Device name that the guest should see, such as /dev/sdb, where the platform lets it be chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub device: Option<String>,
    /// Whether the platform encrypts the disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encrypted: Option<bool>,
    /// Provisioned input and output operations a second (100-64000).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 100, max = 64000))]
    pub iops: Option<i32>,
    /// Provisioned throughput in MB/s (125-4000).
    #[serde(rename = "throughputMBps", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 125, max = 4000))]
    pub throughput_mbps: Option<i32>,
    /// Absolute path at which the guest mounts the disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 4096), regex(pattern = r"^/"))]
    pub mount_path: Option<String>,
}

/// The network that interfaces are in unless they say otherwise.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Network {
    /// The platform's own ID of the VPC or virtual network.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub id: Option<String>,
    /// The platform's own ID of the subnet.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub subnet: Option<String>,
    /// Name of the NetworkNamespace that the machine is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub namespace: Option<String>,
}

/// One network interface of the machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Interface {
    /// Name of the interface, unique within the machine.
    #[schemars(length(min = 1, max = 63))]
    pub name: String,
    /// Whether the interface carries the default route; the first does when none is marked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub primary: Option<bool>,
    /// NetworkConfiguration that the interface is attached to; give either this or subnet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network_ref: Option<NetworkRef>,
    /// The platform's own ID of the subnet; the machine's when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub subnet: Option<String>,
    /// Static IP address; the network assigns one when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::ip)]
    pub ip_address: Option<String>,
    /// MAC address; derived from the machine when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::mac)]
    pub mac_address: Option<String>,
    /// Network mask of the static address, such as 255.255.255.0.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::ip)]
    pub netmask: Option<String>,
    /// Address of the gateway, beside a static address.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::ip)]
    pub gateway: Option<String>,
    /// How the interface is attached to the host's network: bridge, macvlan or ipvlan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attachment: Option<InterfaceType>,
    /// Largest packet that the interface carries, in bytes (68-65535).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 68, max = 65535))]
    pub mtu: Option<i32>,
    /// VLAN ID that the interface is on (1-4094).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 4094))]
    pub vlan: Option<i32>,
    /// Address under which the interface is reached from outside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public_address: Option<PublicAddress>,
    /// Security groups or firewall rules that apply to the interface.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = 64),
        inner(length(min = 1, max = 253)),
        extend("x-kubernetes-list-type" = "set")
    )]
    pub security_groups: Vec<String>,
}

/// Names a NetworkConfiguration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NetworkRef {
    /// Name of the NetworkConfiguration.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Namespace of the NetworkConfiguration; the namespace of the machine when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub namespace: Option<String>,
}

/// An address under which an interface is reached from outside.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PublicAddress {
    /// Whether the platform assigns an address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assign: Option<bool>,
    /// Address to use, or the platform's ID of a reserved one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub address: Option<String>,
}
