//! What a provider offers, v1beta1: capabilities, networks, storage and compute.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema;
use crate::vitistack::machine::VolumeType;
use crate::vitistack::machine_provider::{
    AvailableNetwork, BackupConfig, CpuOptions, GpuSupport, MachineImage, MemoryOptions, Operation,
    ProviderLoadBalancer, Replication, SecurityGroup,
};
use crate::wire_enum::wire_enum;

wire_enum! {
    /// A feature that a provider may support.
    Feature {
        /// Machines can be snapshotted.
        Snapshots = "Snapshots",
        /// A running machine can be resized.
        LiveResize = "LiveResize",
        /// Disks can be attached to a running machine.
        HotPlugDisks = "HotPlugDisks",
        /// Interfaces can be attached to a running machine.
        HotPlugNetworks = "HotPlugNetworks",
        /// Machines can carry metadata of the user's.
        CustomMetadata = "CustomMetadata",
        /// Machines can carry tags.
        Tags = "Tags",
        /// The platform's monitoring can be switched on.
        Monitoring = "Monitoring",
        /// The platform's backup can be switched on.
        Backup = "Backup",
    }
}

/// What the provider offers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Capabilities {
    /// Machine operations that are offered: create, delete, start, stop, restart and resize.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16), extend("x-kubernetes-list-type" = "set"))]
    pub operations: Vec<Operation>,
    /// Operating systems that are offered, such as linux, windows or freebsd.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(min = 1, max = 253)), extend("x-kubernetes-list-type" = "set"))]
    pub os_types: Vec<String>,
    /// Instance types or flavours that are offered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1024), inner(length(min = 1, max = 253)), extend("x-kubernetes-list-type" = "set"))]
    pub instance_types: Vec<String>,
    /// Machine images that are offered, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 512), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub images: Vec<MachineImage>,
    /// Features that are supported: Snapshots, LiveResize, HotPlugDisks, HotPlugNetworks, CustomMetadata, Tags, Monitoring and Backup.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16), extend("x-kubernetes-list-type" = "set"))]
    pub features: Vec<Feature>,
}

/// The provider's networks and its defaults.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Networks {
    /// Network for machines that name none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub default_network: Option<String>,
    /// Subnet for machines that name none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub default_subnet: Option<String>,
    /// Networks that machines can be attached to, by ID.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["id"]))]
    pub available: Vec<AvailableNetwork>,
    /// Security groups that machines can be put in, by ID.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["id"]))]
    pub security_groups: Vec<SecurityGroup>,
    /// Load balancer that the provider puts in front of machines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load_balancer: Option<ProviderLoadBalancer>,
}

/// The provider's storage classes and its defaults.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Storage {
    /// Storage class for disks that name none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub default_class: Option<String>,
    /// Size of disks that give none, as a Kubernetes quantity such as 20Gi.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::quantity)]
    pub default_disk_size: Option<String>,
    /// Storage classes that disks can be made in, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub classes: Vec<StorageClass>,
    /// How disks are backed up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backup: Option<BackupConfig>,
}

/// One storage class that disks can be made in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StorageClass {
    /// Name of the storage class, unique within the provider.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Kind of medium: ssd, hdd or nvme.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub medium: Option<VolumeType>,
    /// Input and output operations a second for each GB, such as 3.0.
    #[serde(rename = "iopsPerGB", skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::decimal)]
    pub iops_per_gb: Option<String>,
    /// Throughput in MB/s, such as 40.0.
    #[serde(rename = "throughputMBps", skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::decimal)]
    pub throughput_mbps: Option<String>,
    /// Whether disks of this class are encrypted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encrypted: Option<bool>,
    /// How disks of this class are replicated: none, raid1, raid5 or raid10.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replication: Option<Replication>,
}

/// The provider's compute defaults, limits and options.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Compute {
    /// Size of machines that give none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub defaults: Option<Amounts>,
    /// Largest size that a machine may have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<Amounts>,
    /// What the provider's processors offer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_options: Option<CpuOptions>,
    /// What the provider's memory offers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_options: Option<MemoryOptions>,
    /// Which GPUs the provider has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu_support: Option<GpuSupport>,
}

/// Amounts of CPU and memory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Amounts {
    /// CPUs as a Kubernetes quantity, such as 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::quantity)]
    pub cpu: Option<String>,
    /// Memory as a Kubernetes quantity, such as 4Gi.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::quantity)]
    pub memory: Option<String>,
}
