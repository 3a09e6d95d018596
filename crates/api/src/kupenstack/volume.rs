//! Volume: a disk that outlives the machines it is attached to.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::quantity::QuantityValue;
use crate::schema::{self, metadata_name, never_smaller, set_once};

/// What a volume should be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[kube(
    group = "kupenstack.io",
    version = "v1alpha1",
    kind = "Volume",
    plural = "volumes",
    singular = "volume",
    category = "kupenstack",
    category = "machinist",
    namespaced,
    status = "VolumeStatus",
    derive = "PartialEq",
    derive = "Default",
    validation = metadata_name(),
    validation = set_once("spec.source"),
    validation = never_smaller("spec.size"),
    doc = "Volume is a disk that outlives the virtual machines it is attached to.",
    selectable = ".status.inUse",
    printcolumn(name = "Ready", type_ = "boolean", json_path = ".status.ready"),
    printcolumn(name = "In-Use", type_ = "boolean", json_path = ".status.inUse"),
    printcolumn(name = "Size", type_ = "string", json_path = ".spec.size"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
pub struct VolumeSpec {
    /// Size of the volume as a Kubernetes quantity, such as 2Gi; it can grow and never shrinks.
    #[schemars(transform = schema::positive_amount)]
    pub size: QuantityValue,
    /// What the volume is filled with when it is made; empty unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<VolumeSource>,
}

/// What a volume is filled with when it is made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VolumeSource {
    /// URL of a machine image that is written to the volume.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::url)]
    pub image: Option<String>,
}

/// What was last seen of the volume.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VolumeStatus {
    /// Identifier of the volume at its platform.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Whether the volume can be attached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready: Option<bool>,
    /// Every virtual machine that the volume is attached to, as namespace/name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), extend("x-kubernetes-list-type" = "atomic"))]
    pub virtual_machines: Vec<String>,
    /// Whether the volume is attached to any virtual machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_use: Option<bool>,
    /// Generation of the spec that this status answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Detailed conditions, by type: Ready, Reconciling and Stalled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
}
