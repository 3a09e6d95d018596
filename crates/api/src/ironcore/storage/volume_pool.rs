//! VolumePool: where volumes are kept.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ironcore::common::{Condition, LocalObjectReference, ResourceList, Taint};
use crate::schema::{self, set_once_text};
use crate::wire_enum::wire_enum;

wire_enum! {
    /// What a pool is able to do.
    #[derive(Default)]
    VolumePoolState {
        /// Nobody has heard of the pool yet.
        #[default]
        Pending = "Pending",
        /// Volumes can be made in the pool.
        Available = "Available",
        /// Volumes cannot be made in the pool.
        Unavailable = "Unavailable",
    }
}

/// What a pool should be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[kube(
    group = "storage.ironcore.dev",
    version = "v1alpha1",
    kind = "VolumePool",
    plural = "volumepools",
    singular = "volumepool",
    category = "ironcore",
    category = "machinist",
    status = "VolumePoolStatus",
    derive = "PartialEq",
    derive = "Default",
    validation = set_once_text("spec.providerID"),
    doc = "VolumePool is where volumes are kept.",
    selectable = ".spec.providerID",
    selectable = ".status.state",
    printcolumn(
        name = "VolumeClasses",
        type_ = "string",
        json_path = ".status.availableVolumeClasses"
    ),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    printcolumn(name = "State", type_ = "string", json_path = ".status.state", priority = 1)
)]
#[serde(rename_all = "camelCase")]
pub struct VolumePoolSpec {
    /// Identifier of the pool at its provider; it stays once it is given.
    #[serde(rename = "providerID", skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub provider_id: Option<String>,
    /// Reasons to stay away from the pool, unless a volume tolerates them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "atomic"))]
    pub taints: Vec<Taint>,
}

/// What was last heard of the pool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VolumePoolStatus {
    /// What the pool is able to do: Pending, Available or Unavailable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<VolumePoolState>,
    /// Generation of the spec that this status answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Detailed conditions, by type, such as Ready.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
    /// Classes of volumes that can be made in the pool.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), extend("x-kubernetes-list-type" = "atomic"))]
    pub available_volume_classes: Vec<LocalObjectReference>,
    /// What the pool has in all, in bytes, such as class/volume.fast.
    #[serde(default, skip_serializing_if = "ResourceList::is_empty")]
    #[schemars(transform = schema::resource_list)]
    pub capacity: ResourceList,
    /// What of it volumes can have.
    #[serde(default, skip_serializing_if = "ResourceList::is_empty")]
    #[schemars(transform = schema::resource_list)]
    pub allocatable: ResourceList,
}
