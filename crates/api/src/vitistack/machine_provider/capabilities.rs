//! What a provider offers: operations, operating systems, instance types, images and features.
//!
//! What it really can do is found out by asking it; this is what its owner declares.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::enums::Operation;
use super::offers::{OperatingSystemOffer, StorageTypeOffer};
use crate::schema;

/// What the provider offers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Capabilities {
    /// Machine operations that are offered: create, delete, start, stop, restart and resize.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16), extend("x-kubernetes-list-type" = "set"))]
    pub supported_operations: Vec<Operation>,
    /// Operating systems that are offered, such as linux, windows or freebsd.
    #[serde(
        default,
        rename = "supportedOSTypes",
        skip_serializing_if = "Vec::is_empty"
    )]
    #[schemars(length(max = 64), inner(length(min = 1, max = 253)), extend("x-kubernetes-list-type" = "set"))]
    pub supported_os_types: Vec<String>,
    /// Instance types or flavours that are offered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1024), inner(length(min = 1, max = 253)), extend("x-kubernetes-list-type" = "set"))]
    pub supported_instance_types: Vec<String>,
    /// Machine images that are offered, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 512), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub available_images: Vec<MachineImage>,
    /// Which features the provider supports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub features: Option<Features>,
    /// MachineClass objects that are offered, kept as they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "atomic"), transform = schema::free_objects)]
    pub machine_classes: Vec<serde_json::Value>,
    /// Operating systems that are offered, by distribution.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["distribution"]))]
    pub operating_systems: Vec<OperatingSystemOffer>,
    /// Storage types that are offered, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub storage_types: Vec<StorageTypeOffer>,
    /// Features of the network that are offered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(min = 1, max = 253)), extend("x-kubernetes-list-type" = "set"))]
    pub network_features: Vec<String>,
    /// Most machines that the provider runs; give either this or capacity.maxMachines.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_machines: Option<i32>,
    /// Whether the provider scales machines by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto_scaling: Option<bool>,
    /// Whether the provider has load balancers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load_balancers: Option<bool>,
    /// Whether disks outlive the machines that they are attached to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub persistent_volumes: Option<bool>,
}

/// One machine image that the provider offers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MachineImage {
    /// Name of the image, unique within the provider.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// The platform's own ID of the image.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 4096))]
    pub id: Option<String>,
    /// Type of the operating system on the image.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub os_type: Option<String>,
    /// Version of the operating system on the image.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub version: Option<String>,
    /// CPU architecture that the image is for, such as x86_64 or arm64.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub architecture: Option<String>,
    /// What the image is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 4096))]
    pub description: Option<String>,
}

/// Which features the provider supports.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Features {
    /// Whether machines can be snapshotted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot_support: Option<bool>,
    /// Whether a running machine can be resized.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub live_resize: Option<bool>,
    /// Whether disks can be attached to a running machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hot_plug_disks: Option<bool>,
    /// Whether interfaces can be attached to a running machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hot_plug_networks: Option<bool>,
    /// Whether machines can carry metadata of the user's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub custom_metadata: Option<bool>,
    /// Whether machines can carry tags.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag_support: Option<bool>,
    /// Whether the platform's monitoring can be switched on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub monitoring_integration: Option<bool>,
    /// Whether the platform's backup can be switched on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backup_integration: Option<bool>,
}
