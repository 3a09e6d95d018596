//! The disks of a machine, in both documented forms.
//!
//! Which platform disk a type or storage class stands for is left to the providers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::enums::VolumeType;
use crate::schema;

/// One disk of the machine, sized in whole gigabytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Disk {
    /// Name of the disk, unique within the machine.
    #[schemars(length(min = 1, max = 63))]
    pub name: String,
    /// Size in GB (1-65536), counted as binary gigabytes.
    #[serde(rename = "sizeGB", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65536))]
    pub size_gb: Option<i32>,
    /// Disk type in the platform's own naming, such as gp3.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub type_: Option<String>,
    /// Device name that the guest should see, such as /dev/sdb, where the platform lets it be chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub device: Option<String>,
    /// Whether the machine boots from this disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boot: Option<bool>,
    /// Whether the platform encrypts the disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encrypted: Option<bool>,
    /// Provisioned input and output operations a second (100-64000).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 100, max = 64000))]
    pub iops: Option<i32>,
    /// Provisioned throughput in MB/s (125-4000).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 125, max = 4000))]
    pub throughput: Option<i32>,
}

/// The root volume and the data volumes of the machine, sized by quantity.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Storage {
    /// Volume that the machine boots from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root_volume: Option<RootVolume>,
    /// Further volumes of the machine, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub data_volumes: Vec<DataVolume>,
}

/// The volume that the machine boots from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RootVolume {
    /// Root volume size as a Kubernetes quantity from 1Gi to 100Ti, such as 20Gi.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::volume_size)]
    pub size: Option<String>,
    /// Name of the storage class that the volume is made in.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub storage_class: Option<String>,
    /// Kind of medium: ssd, hdd or nvme.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_: Option<VolumeType>,
}

/// One further volume of the machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DataVolume {
    /// Identifier of the volume, unique within the machine.
    #[schemars(length(min = 1, max = 63))]
    pub name: String,
    /// Volume size as a Kubernetes quantity from 1Gi to 100Ti, such as 1Ti.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::volume_size)]
    pub size: Option<String>,
    /// Name of the storage class that the volume is made in.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub storage_class: Option<String>,
    /// Absolute path at which the guest mounts the volume.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 4096), regex(pattern = r"^/"))]
    pub mount_path: Option<String>,
}
