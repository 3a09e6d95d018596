//! Networks, storage and compute of a provider, in the third documented form.
//!
//! Whether they exist on the platform is left to the driver.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema;

/// The provider's networks and what they can do.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NetworkOptions {
    /// Virtual network for machines that name none.
    #[serde(rename = "defaultVPC", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub default_vpc: Option<String>,
    /// Virtual networks that machines can be attached to, by ID.
    #[serde(
        default,
        rename = "availableVPCs",
        skip_serializing_if = "Vec::is_empty"
    )]
    #[schemars(length(max = 256), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["id"]))]
    pub available_vp_cs: Vec<Vpc>,
    /// Security groups of machines that name none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(min = 1, max = 253)), extend("x-kubernetes-list-type" = "set"))]
    pub default_security_groups: Vec<String>,
    /// Whether machines can have public addresses.
    #[serde(rename = "publicIPSupport", skip_serializing_if = "Option::is_none")]
    pub public_ip_support: Option<bool>,
    /// Whether machines can have IPv6 addresses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ipv6_support: Option<bool>,
    /// Whether load balancers are offered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load_balancer_support: Option<bool>,
}

/// One virtual network that machines can be attached to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Vpc {
    /// The platform's own ID of the virtual network.
    #[schemars(length(min = 1, max = 253))]
    pub id: String,
    /// Name of the virtual network.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, length(min = 1, max = 253))]
    pub name: Option<String>,
    /// Address range of the virtual network in CIDR notation.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, transform = schema::cidr)]
    pub cidr: Option<String>,
    /// Subnets of the virtual network, by ID.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["id"]))]
    pub subnets: Vec<VpcSubnet>,
}

/// One subnet of a virtual network.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VpcSubnet {
    /// The platform's own ID of the subnet.
    #[schemars(length(min = 1, max = 253))]
    pub id: String,
    /// Name of the subnet.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, length(min = 1, max = 253))]
    pub name: Option<String>,
    /// Address range of the subnet in CIDR notation.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, transform = schema::cidr)]
    pub cidr: Option<String>,
    /// Availability zone that the subnet is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, length(min = 1, max = 253))]
    pub zone: Option<String>,
    /// Whether the subnet is reachable from outside.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    pub public: Option<bool>,
}

/// The provider's storage and its defaults.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StorageOptions {
    /// Storage type for disks that name none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub default_type: Option<String>,
    /// Storage classes that disks can be made in, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub storage_classes: Vec<StorageClassOption>,
    /// Whether disks are encrypted unless they say otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_encryption: Option<bool>,
    /// Most storage in GB that machines may have.
    #[serde(rename = "maxStorageGB", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_storage_gb: Option<i32>,
}

/// One storage class that disks can be made in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StorageClassOption {
    /// Name of the storage class, unique within the provider.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Name of the storage class for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub display_name: Option<String>,
    /// What makes the disks of this class.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, length(min = 1, max = 253))]
    pub provisioner: Option<String>,
    /// Parameters that only the provisioner knows.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = schema::string_map)]
    pub parameters: BTreeMap<String, String>,
    /// Whether disks that name no class are made in this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<bool>,
}

/// The provider's compute limits and options.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ComputeOptions {
    /// MachineClass of machines that name none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub default_machine_class: Option<String>,
    /// Most CPUs that a machine may have.
    #[serde(rename = "maxCPUs", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_cp_us: Option<i32>,
    /// Most memory in GB that a machine may have.
    #[serde(rename = "maxMemoryGB", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_memory_gb: Option<i32>,
    /// Whether machines can have GPUs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu_support: Option<bool>,
    /// GPU types that are offered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(min = 1, max = 253)), extend("x-kubernetes-list-type" = "set"))]
    pub gpu_types: Vec<String>,
    /// Whether machines can run machines themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nested_virtualization: Option<bool>,
}
