//! What is known about a machine, in the vocabulary of both documented forms.
//!
//! Only the reporter writes it; nothing reads it back to decide.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::enums::MachinePhase;
use crate::schema;

/// What was last seen of the machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MachineStatus {
    /// Generation of the spec that this status answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Where the machine is in its life: Pending, Creating, Running, Stopping, Stopped, Terminating, Terminated or Failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<MachinePhase>,
    /// What the machine is doing or waiting for, in one sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Detailed conditions, by type: Ready, NetworkReady, BootstrapReady, InfrastructureReady, DrainReady, BackupReady, Reconciling and Stalled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
    /// Name of the provider that runs the machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// Region in which the machine runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// Availability zone in which the machine runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    /// Unique identifier that the provider gave the machine.
    #[serde(rename = "providerID", skip_serializing_if = "Option::is_none")]
    pub provider_id: Option<String>,
    /// Identifier that Machinist gave the machine.
    #[serde(rename = "machineID", skip_serializing_if = "Option::is_none")]
    pub machine_id: Option<String>,
    /// State of the machine in the provider's own words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Why the machine failed, in one word for programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure_reason: Option<String>,
    /// Why the machine failed, in one sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure_message: Option<String>,
    /// When this status was last changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_updated: Option<Time>,
    /// All IP addresses of the machine, the primary one first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), extend("x-kubernetes-list-type" = "atomic"))]
    pub ip_addresses: Vec<String>,
    /// The IPv6 addresses among them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), extend("x-kubernetes-list-type" = "atomic"))]
    pub ipv6_addresses: Vec<String>,
    /// The addresses that are reachable from outside.
    #[serde(
        default,
        rename = "publicIPAddresses",
        skip_serializing_if = "Vec::is_empty"
    )]
    #[schemars(length(max = 256), extend("x-kubernetes-list-type" = "atomic"))]
    pub public_ip_addresses: Vec<String>,
    /// The addresses that are reachable from inside alone.
    #[serde(
        default,
        rename = "privateIPAddresses",
        skip_serializing_if = "Vec::is_empty"
    )]
    #[schemars(length(max = 256), extend("x-kubernetes-list-type" = "atomic"))]
    pub private_ip_addresses: Vec<String>,
    /// Each network interface as it really is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub network_interfaces: Vec<NetworkInterfaceStatus>,
    /// Number of CPUs that the machine really has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpus: Option<i32>,
    /// Memory that the machine really has, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<i64>,
    /// CPU architecture of the machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub architecture: Option<String>,
    /// Each disk as it really is, with its usage where that is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 128), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub disks: Vec<DiskStatus>,
    /// Host name that the guest goes by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hostname: Option<String>,
    /// Operating system found in the guest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operating_system: Option<String>,
    /// Version of the operating system found in the guest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operating_system_version: Option<String>,
    /// Version of the kernel that the guest runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel_version: Option<String>,
    /// When the guest last started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boot_time: Option<Time>,
    /// When the provider made the machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub creation_time: Option<Time>,
    /// Status that only this provider knows, passed on as it is.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = schema::free_object)]
    pub provider_status: BTreeMap<String, serde_json::Value>,
    /// Network status in the second documented form; the same interfaces as networkInterfaces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network_status: Option<NetworkStatus>,
    /// Addresses in the second documented form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub addresses: Option<MachineAddresses>,
}

/// One network interface as it really is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NetworkInterfaceStatus {
    /// Name of the interface, as in the spec where it is named there.
    pub name: String,
    /// MAC address of the interface.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mac_address: Option<String>,
    /// IP addresses of the interface, the primary one first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "atomic"))]
    pub ip_addresses: Vec<String>,
    /// The IPv6 addresses among them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "atomic"))]
    pub ipv6_addresses: Vec<String>,
    /// Largest packet that the interface carries, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mtu: Option<i32>,
    /// Type of the interface in the provider's own words, such as ethernet.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_: Option<String>,
    /// Subnet that the interface is attached to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subnet: Option<String>,
    /// Network that the interface is attached to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<String>,
    /// Whether the interface carries the default route.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub primary: Option<bool>,
    /// State of the interface in the provider's own words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
}

/// One disk as it really is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DiskStatus {
    /// Name of the disk, as in the spec where it is named there.
    pub name: String,
    /// Device under which the guest sees the disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Size in GB, counted as binary gigabytes.
    #[serde(rename = "sizeGB", skip_serializing_if = "Option::is_none")]
    pub size_gb: Option<i64>,
    /// Size in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<i64>,
    /// Bytes that are free, where the provider or the guest tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub available_bytes: Option<i64>,
    /// File system on the disk, such as ext4.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filesystem_type: Option<String>,
    /// Label of the disk's file system.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// UUID of the disk's file system.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
    /// Serial number of the disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub serial_number: Option<String>,
    /// Path at which the guest mounts the disk; the same as mountPath.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mount_point: Option<String>,
    /// PersistentVolumeClaim behind the disk, on platforms that have any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pvc_name: Option<String>,
    /// Mode of the volume behind the disk: Block or Filesystem.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volume_mode: Option<String>,
    /// Access modes of the volume behind the disk.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 8), extend("x-kubernetes-list-type" = "atomic"))]
    pub access_modes: Vec<String>,
    /// Bytes in use, where the provider or the guest tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used_bytes: Option<i64>,
    /// Share of the disk in use as a decimal string, such as 41.5.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage_percent: Option<String>,
    /// Disk type in the provider's own naming.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_: Option<String>,
    /// Path at which the guest mounts the disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mount_path: Option<String>,
    /// State of the disk in the provider's own words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
}

/// The network status of the machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NetworkStatus {
    /// Each network interface as it really is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub interfaces: Vec<NetworkInterfaceStatus>,
}

/// The addresses of the machine, by where they are reachable from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MachineAddresses {
    /// Internal IP addresses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), extend("x-kubernetes-list-type" = "atomic"))]
    pub internal: Vec<String>,
    /// External IP addresses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), extend("x-kubernetes-list-type" = "atomic"))]
    pub external: Vec<String>,
}
