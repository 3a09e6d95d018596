//! MachineProvider: one platform that machines run on, with its credentials, offers and limits.
//!
//! Shape A (`region`, `authentication`, `networkConfig`, …) and shape B (`endpoint`,
//! `credentials`, `templates`, `capacity`) live side by side.

mod authentication;
mod capabilities;
mod capacity;
mod compute;
mod config;
mod enums;
mod network;
mod rules;
mod status;
mod storage;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use authentication::{
    ApiKeyAuthentication, Authentication, CertificateAuthentication, Credentials,
    OAuth2Authentication, SecretReference, ServiceAccountAuthentication,
};
pub use capabilities::{Capabilities, Features, MachineImage};
pub use capacity::{Capacity, MachineTemplate, ResourceAmounts};
pub use compute::{ComputeConfig, CpuOptions, GpuSupport, MemoryOptions};
pub use config::{
    Endpoint, KubevirtSettings, ProviderSettings, ProxmoxSettings, RateLimiting, RetryPolicy,
};
pub use enums::{
    Algorithm, AuthenticationState, AuthenticationType, BackupDestination, ConnectivityState,
    CredentialsType, Direction, LoadBalancerType, NetworkType, Operation, Protocol, ProviderPhase,
    ProviderType, Replication,
};
pub use network::{
    AvailableNetwork, HealthCheck, NetworkConfig, ProviderLoadBalancer, SecurityGroup,
    SecurityGroupRule,
};
pub use status::{
    AuthenticationStatus, CapabilityStatus, CapacityStatus, ConnectivityStatus, HealthMetrics,
    HealthStatus, MachineProviderStatus, ResourceLimits, ResourceQuota, ResourceQuotaStatus,
    ResourceStatus, ResourceUsage,
};
pub use storage::{BackupConfig, StorageConfig, StorageType};

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
        name = "Machines",
        type_ = "integer",
        json_path = ".status.machines",
        priority = 1
    )
)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rules::provider_spec)]
pub struct MachineProviderSpec {
    /// Type of the provider: aws, azure, gcp, vsphere, openstack, libvirt, proxmox, kubevirt, vmware, qemu, iri or sim.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    pub type_: Option<ProviderType>,
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
    /// How the platform is reached and how gently it is treated.
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
