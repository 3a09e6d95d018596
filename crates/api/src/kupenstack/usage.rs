//! Who uses an object that machines share.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who uses the object.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Every virtual machine that uses the object, as namespace/name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 4096), extend("x-kubernetes-list-type" = "atomic"))]
    pub instances: Vec<String>,
    /// Whether any virtual machine uses the object.
    pub in_use: bool,
}
