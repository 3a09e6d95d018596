//! VolumeSnapshot: a volume as it was at one moment.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ironcore::common::{Condition, LocalObjectReference};
use crate::quantity::QuantityValue;
use crate::schema::{self, immutable};
use crate::wire_enum::wire_enum;

wire_enum! {
    /// How far a snapshot is.
    #[derive(Default)]
    VolumeSnapshotState {
        /// The snapshot is being made.
        #[default]
        Pending = "Pending",
        /// Volumes can be made from the snapshot.
        Ready = "Ready",
        /// The snapshot could not be made.
        Failed = "Failed",
    }
}

/// What a snapshot should be of.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[kube(
    group = "storage.ironcore.dev",
    version = "v1alpha1",
    kind = "VolumeSnapshot",
    plural = "volumesnapshots",
    singular = "volumesnapshot",
    category = "ironcore",
    category = "machinist",
    namespaced,
    status = "VolumeSnapshotStatus",
    derive = "PartialEq",
    derive = "Default",
    validation = immutable("spec.volumeRef"),
    doc = "VolumeSnapshot is a volume as it was at one moment.",
    selectable = ".spec.volumeRef.name",
    printcolumn(name = "VolumeRef", type_ = "string", json_path = ".spec.volumeRef.name"),
    printcolumn(name = "State", type_ = "string", json_path = ".status.state"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    printcolumn(name = "Size", type_ = "string", json_path = ".status.size", priority = 1)
)]
#[serde(rename_all = "camelCase")]
pub struct VolumeSnapshotSpec {
    /// Volume that the snapshot is of; it cannot be changed.
    pub volume_ref: LocalObjectReference,
}

/// What was last seen of the snapshot.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VolumeSnapshotStatus {
    /// Identifier of the snapshot at its runtime, as runtime://id.
    #[serde(rename = "snapshotID", skip_serializing_if = "Option::is_none")]
    pub snapshot_id: Option<String>,
    /// How far the snapshot is: Pending, Ready or Failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<VolumeSnapshotState>,
    /// When the state last changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_state_transition_time: Option<Time>,
    /// Size of the volume at that moment, as a Kubernetes quantity.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::amount)]
    pub size: Option<QuantityValue>,
    /// Generation of the spec that this status answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Detailed conditions, by type: Ready, Reconciling and Stalled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
}
