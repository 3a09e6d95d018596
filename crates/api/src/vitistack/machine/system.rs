//! What runs inside a machine and how it starts: operating system and boot.
//!
//! Finding and fetching the image is left to the providers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::enums::{Architecture, BootDevice, FirmwareType, ImageSource, OsFamily, OsType};
use super::rules;

/// The operating system, by family, distribution and version.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Os {
    /// Family of the operating system: linux or windows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub family: Option<OsFamily>,
    /// Distribution, such as ubuntu, centos or rhel.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub distribution: Option<String>,
    /// Version of the distribution.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub version: Option<String>,
    /// CPU architecture: amd64, arm64 or x86_64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub architecture: Option<Architecture>,
    /// The platform's own ID of the image to boot.
    #[serde(rename = "imageID", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 4096))]
    pub image_id: Option<String>,
    /// Image family or marketplace image to boot the newest of.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub image_family: Option<String>,
    /// URI of an installation medium to start from, instead of an image.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 4096))]
    pub iso_uri: Option<String>,
}

/// The operating system and the image that it comes from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OperatingSystem {
    /// Type of the operating system: linux, windows or freebsd.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_: Option<OsType>,
    /// Distribution, such as ubuntu, centos or windows-server.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub distribution: Option<String>,
    /// Version of the operating system.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub version: Option<String>,
    /// Image that the machine is made from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<OsImage>,
}

/// The image that a machine is made from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OsImage {
    /// What kind of image it is: iso, template or cloud-image.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<ImageSource>,
    /// URL of the image, or the name of the template.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 4096))]
    pub url: Option<String>,
}

/// How the machine starts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Boot {
    /// Devices to start from, first choice first: disk, network or cdrom.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 8), extend("x-kubernetes-list-type" = "atomic"), transform = rules::boot_order)]
    pub order: Vec<BootDevice>,
    /// Firmware of the machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub firmware: Option<Firmware>,
}

/// The firmware that starts the machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rules::firmware)]
pub struct Firmware {
    /// Firmware type: bios or uefi.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_: Option<FirmwareType>,
    /// Whether the firmware starts signed loaders alone; needs uefi.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secure_boot: Option<bool>,
}
