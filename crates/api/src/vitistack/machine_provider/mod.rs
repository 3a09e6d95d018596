//! MachineProvider: one platform that machines run on, with its credentials, offers and limits.
//!
//! Shape A (`region`, `authentication`, `networkConfig`, …), shape B (`endpoint`, `credentials`,
//! `templates`, `capacity`) and shape C (`providerType`, `displayName`, `network`, …) live side by
//! side.

mod authentication;
mod availability;
mod capabilities;
mod capacity;
mod compute;
mod config;
mod enums;
mod network;
mod offers;
mod options;
mod rules;
mod status;
mod storage;

use std::collections::BTreeMap;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use authentication::{
    ApiKeyAuthentication, Authentication, CertificateAuthentication, Credentials,
    OAuth2Authentication, SecretReference, ServiceAccountAuthentication,
};
pub use availability::{AvailableResources, FoundImage, FoundLimits, QuotaStatus};
pub use capabilities::{Capabilities, Features, MachineImage};
pub use capacity::{Capacity, MachineTemplate, ResourceAmounts};
pub use compute::{ComputeConfig, CpuOptions, GpuSupport, MemoryOptions};
pub use config::{
    Endpoint, KubevirtSettings, ProviderSettings, ProxmoxSettings, RateLimiting, RetryPolicy,
};
pub use enums::{
    Algorithm, AuthenticationState, AuthenticationType, BackupDestination, ConnectivityState,
    CredentialsType, Direction, HealthState, LoadBalancerType, NetworkType, Operation, Protocol,
    ProviderPhase, ProviderType, Replication,
};
pub use network::{
    AvailableNetwork, HealthCheck, NetworkConfig, ProviderLoadBalancer, SecurityGroup,
    SecurityGroupRule,
};
pub use offers::{OfferedRange, OperatingSystemOffer, StorageTypeOffer};
pub use options::{
    ComputeOptions, NetworkOptions, StorageClassOption, StorageOptions, Vpc, VpcSubnet,
};
pub use status::{
    AuthenticationStatus, CapabilityStatus, CapacityStatus, ConnectivityStatus, HealthMetrics,
    HealthStatus, MachineProviderStatus, ResourceLimits, ResourceQuota, ResourceQuotaStatus,
    ResourceStatus, ResourceUsage,
};
pub use storage::{BackupConfig, StorageConfig, StorageType};

use crate::schema;
use crate::vitistack::metadata_name;

/// What a provider is, and how it is reached.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[kube(
    group = "vitistack.io",
    version = "v1alpha1",
    kind = "MachineProvider",
    plural = "machineproviders",
    singular = "machineprovider",
    shortname = "mp",
    category = "vitistack",
    category = "machinist",
    namespaced,
    status = "MachineProviderStatus",
    derive = "PartialEq",
    derive = "Default",
    validation = metadata_name(),
    doc = "MachineProvider is one platform that machines run on.",
    selectable = ".spec.type",
    selectable = ".spec.providerType",
    selectable = ".spec.region",
    selectable = ".status.phase",
    printcolumn(name = "Type", type_ = "string", json_path = ".spec.type"),
    printcolumn(name = "Region", type_ = "string", json_path = ".spec.region"),
    printcolumn(
        name = "Ready",
        type_ = "string",
        json_path = r#".status.conditions[?(@.type=="Ready")].status"#
    ),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    ),
    printcolumn(
        name = "Phase",
        type_ = "string",
        json_path = ".status.phase",
        priority = 1
    ),
    printcolumn(
        name = "Provider-Type",
        type_ = "string",
        json_path = ".spec.providerType",
        priority = 1
    ),
    printcolumn(
        name = "Machines",
        type_ = "integer",
        json_path = ".status.machines",
        priority = 1
    )
)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rules::provider_spec)]
pub struct MachineProviderSpec {
    /// Type of the provider: aws, azure, gcp, vsphere, openstack, libvirt, proxmox, kubevirt, vmware, qemu, iri, sim, cloudstack, nutanix or ovirt; give either this or providerType.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_: Option<ProviderType>,
    /// Type of the provider, in the spelling of the shipped operators; give either this or type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_type: Option<ProviderType>,
    /// Name of the provider for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub display_name: Option<String>,
    /// Primary region or datacenter of the provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub region: Option<String>,
    /// Availability zones, or clusters, within the region.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = 64),
        inner(length(min = 1, max = 253)),
        extend("x-kubernetes-list-type" = "set")
    )]
    pub availability_zones: Vec<String>,
    /// Availability zones within the region, in the spelling of the shipped operators; give either these or availabilityZones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = 64),
        inner(length(min = 1, max = 253)),
        extend("x-kubernetes-list-type" = "set")
    )]
    pub zones: Vec<String>,
    /// How the platform is reached and how gently it is treated; further keys are settings that only this platform knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config: Option<ProviderSettings>,
    /// How Machinist proves to the platform who it is; give either this or credentials.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authentication: Option<Authentication>,
    /// What the provider offers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<Capabilities>,
    /// The provider's networks and its defaults.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network_config: Option<NetworkConfig>,
    /// The provider's storage types and its defaults.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub storage_config: Option<StorageConfig>,
    /// The provider's compute defaults, limits and options.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compute_config: Option<ComputeConfig>,
    /// The provider's networks, in the form of the shipped operators; give either this or networkConfig.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkOptions>,
    /// The provider's storage, in the form of the shipped operators; give either this or storageConfig.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub storage: Option<StorageOptions>,
    /// The provider's compute limits, in the form of the shipped operators; give either this or computeConfig.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compute: Option<ComputeOptions>,
    /// Tags that every machine of the provider carries.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = schema::string_map)]
    pub default_tags: BTreeMap<String, String>,
    /// Where the platform's API is reached; give either this or config.endpoint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<Endpoint>,
    /// The platform's credentials; give either these or authentication.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credentials: Option<Credentials>,
    /// Named sizes that machines can be made in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = 256),
        extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"])
    )]
    pub templates: Vec<MachineTemplate>,
    /// How much of the provider machines may use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity: Option<Capacity>,
}
