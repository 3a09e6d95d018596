//! Image: a machine image that everybody in the cloud can boot from.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::usage::Usage;
use crate::schema;
use crate::wire_enum::wire_enum;

wire_enum! {
    /// How an image's data is laid out.
    DiskFormat {
        /// The disk's bytes as they are.
        Raw = "raw",
        /// QEMU's format.
        Qcow2 = "qcow2",
        /// An optical disc.
        Iso = "iso",
        /// VirtualBox's format.
        Vdi = "vdi",
        /// An Amazon machine image.
        Ami = "ami",
        /// An Amazon ramdisk image.
        Ari = "ari",
        /// An Amazon kernel image.
        Aki = "aki",
        /// Hyper-V's format.
        Vhd = "vhd",
        /// VMware's format.
        Vmdk = "vmdk",
    }
}

/// What an image should be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[kube(
    group = "kupenstack.io",
    version = "v1alpha1",
    kind = "Image",
    plural = "images",
    singular = "image",
    category = "kupenstack",
    category = "machinist",
    status = "ImageStatus",
    derive = "PartialEq",
    derive = "Default",
    doc = "Image is a machine image that every namespace can use.",
    selectable = ".spec.format",
    selectable = ".status.ready",
    selectable = ".status.id",
    printcolumn(name = "In-Use", type_ = "boolean", json_path = ".status.usage.inUse"),
    printcolumn(name = "Ready", type_ = "boolean", json_path = ".status.ready"),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
#[serde(rename_all = "camelCase")]
pub struct ImageSpec {
    /// URL that the image is fetched from.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::url)]
    pub src: Option<String>,
    /// How the image's data is laid out: raw, qcow2, iso, vdi, ami, ari, aki, vhd or vmdk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<DiskFormat>,
    /// What the image is wrapped in; bare, which is nothing, unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63), extend("default" = "bare"))]
    pub container_format: Option<String>,
    /// Smallest disk in GB that the image boots from.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub min_disk: Option<i32>,
    /// Smallest memory in MB that the image boots with.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub min_ram: Option<i32>,
}

/// What was last seen of the image.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImageStatus {
    /// Identifier of the image at its platform.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Whether machines can boot from the image.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready: Option<bool>,
    /// Who uses the image.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Generation of the spec that this status answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Detailed conditions, by type: Ready, Reconciling and Stalled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
}
