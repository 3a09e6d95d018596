//! Flavor: a size that machines come in.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::usage::Usage;
use crate::quantity::QuantityValue;
use crate::schema;

/// What a flavor should be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[kube(
    group = "kupenstack.io",
    version = "v1alpha1",
    kind = "Flavor",
    plural = "flavors",
    singular = "flavor",
    category = "kupenstack",
    category = "machinist",
    status = "FlavorStatus",
    derive = "PartialEq",
    derive = "Default",
    doc = "Flavor is a size that virtual machines come in.",
    selectable = ".status.id",
    printcolumn(name = "In-Use", type_ = "boolean", json_path = ".status.usage.inUse"),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
#[serde(rename_all = "camelCase")]
pub struct FlavorSpec {
    /// Number of virtual CPUs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub vcpu: Option<i32>,
    /// Memory in MB.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub ram: Option<i32>,
    /// Root disk in GB; 0 is the size of the image.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub disk: Option<i32>,
    /// Swap space in MB.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub swap: Option<i32>,
    /// Share of the network's bandwidth beside other flavors, such as 1 or 500m.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::amount)]
    pub rxtx: Option<QuantityValue>,
    /// Further disk in GB that goes with the machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub ephemeral: Option<i32>,
}

/// What was last seen of the flavor.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FlavorStatus {
    /// Identifier of the flavor at its platform.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Who uses the flavor.
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
