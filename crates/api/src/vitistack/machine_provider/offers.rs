//! What a provider offers, in the third documented form: operating systems, storage types and limits.
//!
//! What it really can do is found out by asking it; this is what its owner declares.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One operating system that the provider offers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OperatingSystemOffer {
    /// Family of the operating system, such as linux.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, length(min = 1, max = 253))]
    pub family: Option<String>,
    /// Distribution, such as ubuntu.
    #[schemars(length(min = 1, max = 253))]
    pub distribution: String,
    /// Versions of the distribution that are offered.
    #[schemars(required, length(max = 64), inner(length(min = 1, max = 253)), extend("x-kubernetes-list-type" = "set"))]
    pub versions: Vec<String>,
    /// CPU architectures that are offered.
    #[schemars(required, length(max = 16), inner(length(min = 1, max = 63)), extend("x-kubernetes-list-type" = "set"))]
    pub architectures: Vec<String>,
    /// Image for machines that name none.
    #[serde(rename = "defaultImageID", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 4096))]
    pub default_image_id: Option<String>,
}

/// One storage type that the provider offers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StorageTypeOffer {
    /// Name of the storage type, unique within the provider.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Name of the storage type for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub display_name: Option<String>,
    /// Class of the storage type, such as SSD, HDD or NVMe.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, length(min = 1, max = 253))]
    pub class: Option<String>,
    /// Input and output operations a second that a disk may have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iops_range: Option<OfferedRange>,
    /// Throughput in MB/s that a disk may have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throughput_range: Option<OfferedRange>,
    /// Whether disks of this type can be encrypted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encryption_supported: Option<bool>,
}

/// The least and the most of something that may be asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = super::rules::offered_range)]
pub struct OfferedRange {
    /// Least that may be asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, range(min = 0))]
    pub min: Option<i32>,
    /// Most that may be asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, range(min = 0))]
    pub max: Option<i32>,
}
