//! MachineClass: a named size that machines of every provider can be made in.
//!
//! Turning it into numbers for a platform is left to the domain model.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::quantity::QuantityValue;
use crate::schema;
use crate::vitistack::metadata_name;

/// What machines of a class have.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[kube(
    group = "vitistack.io",
    version = "v1alpha1",
    kind = "MachineClass",
    plural = "machineclasses",
    singular = "machineclass",
    shortname = "mc",
    category = "vitistack",
    category = "machinist",
    status = "MachineClassStatus",
    derive = "PartialEq",
    derive = "Default",
    validation = metadata_name(),
    doc = "MachineClass is a named size that machines can be made in.",
    selectable = ".spec.category",
    printcolumn(name = "Display-Name", type_ = "string", json_path = ".spec.displayName"),
    printcolumn(name = "Category", type_ = "string", json_path = ".spec.category"),
    printcolumn(name = "Cores", type_ = "integer", json_path = ".spec.cpu.cores"),
    printcolumn(name = "Memory", type_ = "string", json_path = ".spec.memory.quantity"),
    printcolumn(name = "Default", type_ = "boolean", json_path = ".spec.default"),
    printcolumn(name = "Enabled", type_ = "boolean", json_path = ".spec.enabled"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    printcolumn(
        name = "Sockets",
        type_ = "integer",
        json_path = ".spec.cpu.sockets",
        priority = 1
    ),
    printcolumn(
        name = "Threads",
        type_ = "integer",
        json_path = ".spec.cpu.threads",
        priority = 1
    ),
    printcolumn(
        name = "GPU-Cores",
        type_ = "integer",
        json_path = ".spec.gpu.cores",
        priority = 1
    )
)]
#[serde(rename_all = "camelCase")]
pub struct MachineClassSpec {
    /// Name of the class for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub display_name: Option<String>,
    /// What the class is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 4096))]
    pub description: Option<String>,
    /// Category of the class; Standard unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253), extend("default" = "Standard"))]
    pub category: Option<String>,
    /// Whether machines that name no class are made in this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub default: Option<bool>,
    /// Whether machines can be made in this class.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = true))]
    pub enabled: Option<bool>,
    /// Processor layout of machines of this class.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    pub cpu: Option<ClassCpu>,
    /// Memory of machines of this class.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    pub memory: Option<ClassMemory>,
    /// Graphics accelerators of machines of this class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu: Option<ClassGpu>,
    /// Names of the providers that offer the class; all of them when left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), inner(length(min = 1, max = 253)), extend("x-kubernetes-list-type" = "set"))]
    pub machine_providers: Vec<String>,
}

/// Processor layout of machines of a class.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClassCpu {
    /// Number of CPU cores (1-256).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, range(min = 1, max = 256))]
    pub cores: Option<i32>,
    /// Number of CPU sockets (1-16).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 16))]
    pub sockets: Option<i32>,
    /// Threads of each core (1-8).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 8))]
    pub threads: Option<i32>,
}

/// Memory of machines of a class.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClassMemory {
    /// Memory as a Kubernetes quantity, such as 8Gi.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, transform = schema::amount)]
    pub quantity: Option<QuantityValue>,
    /// Least memory that a machine of this class may ask for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::amount)]
    pub min_quantity: Option<QuantityValue>,
    /// Most memory that a machine of this class may ask for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::amount)]
    pub max_quantity: Option<QuantityValue>,
}

/// Graphics accelerators of machines of a class.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClassGpu {
    /// Number of GPUs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, range(min = 0))]
    pub cores: Option<i32>,
    /// Maker of the GPUs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub manufacturer: Option<String>,
}

/// What is known about the class.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MachineClassStatus {
    /// Generation of the spec that this status answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Whether the class can be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// Detailed conditions, by type.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
    /// Name of the class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// State of the class in one word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// What is wrong with the class, in one sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// When the class was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<String>,
}
