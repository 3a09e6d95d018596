//! Vitistack: one installation, with its providers, settings and quotas.
//!
//! Shape B (`infrastructure` as an object, `settings`, `quotas`) and shape C (`displayName`, `zone`,
//! `region`, `infrastructure` as a word, …) live side by side.

mod infrastructure;
mod networking;
mod operations;
mod rules;
mod status;

use std::collections::BTreeMap;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use infrastructure::{
    Coordinates, Infrastructure, InfrastructureOrName, InfrastructureProvider, Location,
    LoggingSettings, MachineQuota, MonitoringSettings, NetworkQuota, ProviderCredentials,
    ProviderUse, Quotas, ResourceQuotas, Settings, StackProviderType, StorageQuota,
};
pub use networking::{
    StackDns, StackFirewall, StackFirewallRule, StackIpAllocation, StackIpProvider,
    StackLoadBalancer, StackNetworking, StackProtocol, StackSubnet, StackVpc,
};
pub use operations::{
    AccessControl, AuditDestination, AuditLogging, BackupStore, BackupStoreType, DisasterRecovery,
    Encryption, RetentionPolicy, StackBackup, StackMonitoring, StackSecurity,
};
pub use status::{
    ClusterSummary, ProviderKind, ProviderStatus, ProviderSummary, StackPhase, StackResources,
    StackUsage, VitistackStatus,
};

use crate::schema;
use crate::vitistack::metadata_name;

/// What an installation consists of.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[kube(
    group = "vitistack.io",
    version = "v1alpha1",
    kind = "Vitistack",
    plural = "vitistacks",
    singular = "vitistack",
    shortname = "vs",
    category = "vitistack",
    category = "machinist",
    namespaced,
    status = "VitistackStatus",
    derive = "PartialEq",
    derive = "Default",
    validation = metadata_name(),
    doc = "Vitistack is one installation, with its providers, settings and quotas.",
    selectable = ".spec.region",
    selectable = ".status.phase",
    printcolumn(name = "Phase", type_ = "string", json_path = ".status.phase"),
    printcolumn(name = "Machines", type_ = "integer", json_path = ".status.resources.machines"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    printcolumn(
        name = "Display-Name",
        type_ = "string",
        json_path = ".spec.displayName",
        priority = 1
    ),
    printcolumn(name = "Region", type_ = "string", json_path = ".spec.region", priority = 1),
    printcolumn(name = "Zone", type_ = "string", json_path = ".spec.zone", priority = 1),
    printcolumn(
        name = "Country",
        type_ = "string",
        json_path = ".spec.location.country",
        priority = 1
    ),
    printcolumn(
        name = "Machine-Providers",
        type_ = "integer",
        json_path = ".status.machineProviderCount",
        priority = 1
    ),
    printcolumn(
        name = "K8s-Providers",
        type_ = "integer",
        json_path = ".status.kubernetesProviderCount",
        priority = 1
    )
)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rules::spec)]
pub struct VitistackSpec {
    /// Providers of the installation; the shipped operators write a word here, such as prod.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub infrastructure: Option<InfrastructureOrName>,
    /// Settings that hold everywhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settings: Option<Settings>,
    /// How much may be used; give either these or resourceQuotas.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quotas: Option<Quotas>,
    /// Name of the installation for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub display_name: Option<String>,
    /// Region that the installation is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub region: Option<String>,
    /// Availability zone that the installation is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub zone: Option<String>,
    /// What the installation is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 4096))]
    pub description: Option<String>,
    /// Where on earth the installation is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
    /// MachineProviders of the installation, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub machine_providers: Vec<ProviderUse>,
    /// KubernetesProviders of the installation, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub kubernetes_providers: Vec<ProviderUse>,
    /// Networks of the installation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub networking: Option<StackNetworking>,
    /// How the installation is secured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub security: Option<StackSecurity>,
    /// What is recorded of the installation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub monitoring: Option<StackMonitoring>,
    /// How the installation is backed up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backup: Option<StackBackup>,
    /// How much may be used, in the form of the shipped operators; give either these or quotas.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_quotas: Option<ResourceQuotas>,
    /// Tags that everything of the installation carries.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = schema::string_map)]
    pub tags: BTreeMap<String, String>,
}
