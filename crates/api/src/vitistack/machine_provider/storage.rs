//! The storage that a provider offers, and how it is backed up.
//!
//! Making volumes and backups is left to the driver.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::enums::{BackupDestination, Replication};
use crate::schema;
use crate::vitistack::machine::VolumeType;

/// The provider's storage types and its defaults.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StorageConfig {
    /// Storage type for disks that name none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub default_storage_class: Option<String>,
    /// Size of disks that give none, as a Kubernetes quantity such as 20Gi.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::quantity)]
    pub default_disk_size: Option<String>,
    /// Storage types that disks can be made of, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub available_storage_types: Vec<StorageType>,
    /// How disks are backed up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backup: Option<BackupConfig>,
}

/// One storage type that disks can be made of.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StorageType {
    /// Name of the storage type, unique within the provider.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Kind of medium: ssd, hdd or nvme.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_: Option<VolumeType>,
    /// Input and output operations a second for each GB, such as 3.0.
    #[serde(rename = "iopsPerGB", skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::decimal)]
    pub iops_per_gb: Option<String>,
    /// Throughput in MB/s, such as 40.0.
    #[serde(rename = "throughputMBps", skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::decimal)]
    pub throughput_mbps: Option<String>,
    /// Whether disks of this type are encrypted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encrypted: Option<bool>,
    /// How disks of this type are replicated: none, raid1, raid5 or raid10.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replication: Option<Replication>,
}

/// How disks are backed up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BackupConfig {
    /// Whether disks are backed up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Days that a backup is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub retention_days: Option<i32>,
    /// When backups are made, as a cron expression.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::cron)]
    pub schedule: Option<String>,
    /// Where backups are kept: s3, gcs, azure-blob or local.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destination: Option<BackupDestination>,
    /// Whether backups are encrypted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encryption: Option<bool>,
}
