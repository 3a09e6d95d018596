//! MachineClass: a size that machines come in.

use kube::CustomResource;
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};

use crate::ironcore::common::ResourceList;
use crate::schema::{self, immutable};

/// What a class of machines offers. The kind has no spec: its fields stand at the root.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[kube(
    group = "compute.ironcore.dev",
    version = "v1alpha1",
    kind = "MachineClass",
    plural = "machineclasses",
    singular = "machineclass",
    category = "ironcore",
    category = "machinist",
    no_spec,
    derive = "PartialEq",
    derive = "Default",
    validation = immutable("capabilities"),
    doc = "MachineClass is a size that machines come in.",
    printcolumn(name = "CPU", type_ = "string", json_path = ".capabilities.cpu"),
    printcolumn(name = "Memory", type_ = "string", json_path = ".capabilities.memory"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
pub struct MachineClassCapabilities {
    /// What a machine of the class has: cpu and memory, and whatever else a pool can give, such as nvidia.com/gpu.
    #[schemars(transform = capabilities)]
    pub capabilities: ResourceList,
}

fn capabilities(schema: &mut Schema) {
    schema::resource_list(schema);
    schema::positive_entries(schema, "capabilities", &["cpu", "memory"]);
}
