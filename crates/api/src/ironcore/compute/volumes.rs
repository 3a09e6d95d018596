//! The volumes of a machine, and where each comes from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rules;
use crate::ironcore::common::LocalObjectReference;
use crate::ironcore::storage::VolumeTemplate;
use crate::quantity::QuantityValue;
use crate::schema;

/// One volume of the machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rules::volume_source)]
pub struct MachineVolume {
    /// Name of the volume, unique within the machine.
    #[schemars(transform = schema::object_name)]
    pub name: String,
    /// Device under which the guest sees the volume, such as oda; the first free one unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 4), regex(pattern = "^[a-z]{2}[a-z][a-z]?$"))]
    pub device: Option<String>,
    /// Volume that is attached; one of the four sources.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volume_ref: Option<LocalObjectReference>,
    /// Empty disk that goes with the machine; one of the four sources.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub empty_disk: Option<EmptyDisk>,
    /// Disk on the machine's host, with an image or empty; one of the four sources.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub local_disk: Option<LocalDisk>,
    /// Volume that is made with the machine and goes with it; one of the four sources.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ephemeral: Option<EphemeralVolume>,
}

/// An empty disk that goes with the machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EmptyDisk {
    /// Largest size of the disk as a Kubernetes quantity, such as 500Mi.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::amount)]
    pub size_limit: Option<QuantityValue>,
}

/// A disk on the machine's host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LocalDisk {
    /// Largest size of the disk as a Kubernetes quantity, such as 10Gi.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::amount)]
    pub size_limit: Option<QuantityValue>,
    /// Image that the disk is filled with; it stays as long as the machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub image: Option<String>,
}

/// A Volume that lives as long as the machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rules::volume_template)]
pub struct EphemeralVolume {
    /// What the Volume is made from.
    pub volume_template: VolumeTemplate,
}
