//! VolumeClass: a quality that volumes come in.

use kube::CustomResource;
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};

use crate::ironcore::common::ResourceList;
use crate::schema::{self, immutable};
use crate::wire_enum::wire_enum;

wire_enum! {
    /// Whether the size of a volume can be changed.
    #[derive(Default)]
    ResizePolicy {
        /// The size stays.
        #[default]
        Static = "Static",
        /// The size can grow.
        ExpandOnly = "ExpandOnly",
    }
}

/// What a class of volumes offers. The kind has no spec: its fields stand at the root.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[kube(
    group = "storage.ironcore.dev",
    version = "v1alpha1",
    kind = "VolumeClass",
    plural = "volumeclasses",
    singular = "volumeclass",
    category = "ironcore",
    category = "machinist",
    no_spec,
    derive = "PartialEq",
    derive = "Default",
    validation = immutable("capabilities"),
    doc = "VolumeClass is a quality that volumes come in.",
    selectable = ".resizePolicy",
    printcolumn(name = "TPS", type_ = "string", json_path = ".capabilities.tps"),
    printcolumn(name = "IOPS", type_ = "string", json_path = ".capabilities.iops"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    printcolumn(name = "ResizePolicy", type_ = "string", json_path = ".resizePolicy", priority = 1)
)]
#[serde(rename_all = "camelCase")]
pub struct VolumeClassCapabilities {
    /// What a volume of the class can do: tps, the bytes a second, and iops, the operations a second.
    #[schemars(transform = capabilities)]
    pub capabilities: ResourceList,
    /// Whether the size of a volume can be changed: Static, which it is unless given, or ExpandOnly.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "Static"))]
    pub resize_policy: Option<ResizePolicy>,
}

fn capabilities(schema: &mut Schema) {
    schema::resource_list(schema);
    schema::positive_entries(schema, "capabilities", &["tps", "iops"]);
}
