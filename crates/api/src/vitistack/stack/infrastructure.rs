//! Providers, settings and quotas of an installation.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use crate::schema;
use crate::vitistack::machine_provider::SecretReference;
use crate::wire_enum::wire_enum;

/// Providers of an installation, or the word that the shipped operators write in their place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum InfrastructureOrName {
    /// The providers.
    Providers(Infrastructure),
    /// The word.
    Name(String),
    /// Something else, which no schema can refuse here.
    Other(serde_json::Value),
}

impl JsonSchema for InfrastructureOrName {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "InfrastructureOrName".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        // Without a type, because Kubernetes has none for "an object or a string".
        let mut schema = Infrastructure::json_schema(generator);
        schema.remove("type");
        schema.insert(
            "x-kubernetes-preserve-unknown-fields".to_owned(),
            true.into(),
        );
        schema
    }
}

/// Providers of an installation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Infrastructure {
    /// Providers, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub providers: Vec<InfrastructureProvider>,
}

/// One provider of the installation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InfrastructureProvider {
    /// Name of the provider, unique within the installation.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Type of the provider: proxmox, talos, kubevirt or kea.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_: Option<StackProviderType>,
    /// Endpoint of the provider's API.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 2048))]
    pub endpoint: Option<String>,
    /// Region or zone of the provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub region: Option<String>,
    /// Credentials for the provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credentials: Option<ProviderCredentials>,
}

wire_enum! {
    /// Type of a provider of an installation.
    StackProviderType {
        /// Proxmox VE.
        Proxmox = "proxmox",
        /// Talos Linux.
        Talos = "talos",
        /// KubeVirt.
        Kubevirt = "kubevirt",
        /// Kea.
        Kea = "kea",
    }
}

/// Credentials for a provider.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProviderCredentials {
    /// Secret that holds the credentials.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    pub secret_ref: Option<SecretReference>,
}

/// Settings that hold everywhere.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Settings {
    /// Storage class of volumes that name none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub default_storage_class: Option<String>,
    /// Network policy of networks that name none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub default_network_policy: Option<String>,
    /// Whether and where monitoring runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub monitoring: Option<MonitoringSettings>,
    /// Whether and where logs are collected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logging: Option<LoggingSettings>,
}

/// Whether and where monitoring runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MonitoringSettings {
    /// Whether monitoring is integrated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Namespace that monitoring runs in.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 1, max = 63),
        regex(pattern = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")
    )]
    pub namespace: Option<String>,
}

/// Whether and where logs are collected.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoggingSettings {
    /// Whether logs are collected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Endpoint that logs are sent to.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 2048))]
    pub endpoint: Option<String>,
}

/// How much may be used.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Quotas {
    /// How many machines there may be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machines: Option<MachineQuota>,
    /// How much storage there may be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub storage: Option<StorageQuota>,
    /// How many networks there may be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkQuota>,
}

/// How many machines there may be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = super::rules::machine_quota)]
pub struct MachineQuota {
    /// Most machines over all providers.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub total: Option<i32>,
    /// Most machines of one provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub per_provider: Option<i32>,
}

/// How much storage there may be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = super::rules::storage_quota)]
pub struct StorageQuota {
    /// Most storage in all, as a Kubernetes quantity such as 1Ti.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::quantity)]
    pub total: Option<String>,
    /// Most storage of one machine, as a Kubernetes quantity.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::quantity)]
    pub per_machine: Option<String>,
}

/// How many networks there may be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NetworkQuota {
    /// Most networks in one namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub max_networks: Option<i32>,
}

/// How much may be used, in the form of the shipped operators.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResourceQuotas {
    /// Most machines.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_machines: Option<i32>,
    /// Most clusters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_clusters: Option<i32>,
    /// Most CPU cores.
    #[serde(rename = "maxCPUCores", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_cpu_cores: Option<i32>,
    /// Most memory, in GB.
    #[serde(rename = "maxMemoryGB", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_memory_gb: Option<i32>,
    /// Most storage, in GB.
    #[serde(rename = "maxStorageGB", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_storage_gb: Option<i32>,
    /// Most network interfaces.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_network_interfaces: Option<i32>,
}

/// Where on earth an installation is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Location {
    /// The country.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub country: Option<String>,
    /// The city.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub city: Option<String>,
    /// Street and number.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1024))]
    pub address: Option<String>,
    /// Latitude and longitude.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coordinates: Option<Coordinates>,
}

/// Latitude and longitude.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Coordinates {
    /// Degrees from the equator, as a decimal string from -90 to 90.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 1, max = 32),
        regex(pattern = r"^-?([0-8]?[0-9](\.[0-9]+)?|90(\.0+)?)$")
    )]
    pub latitude: Option<String>,
    /// Degrees from Greenwich, as a decimal string from -180 to 180.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 1, max = 32),
        regex(pattern = r"^-?(1[0-7][0-9](\.[0-9]+)?|180(\.0+)?|[0-9]?[0-9](\.[0-9]+)?)$")
    )]
    pub longitude: Option<String>,
}

/// One provider object that the installation uses.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProviderUse {
    /// Name of the provider object.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Namespace of the provider object; the namespace of this object when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub namespace: Option<String>,
    /// Which provider is asked first; the smallest number is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub priority: Option<i32>,
    /// Whether the provider is used; true unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = true))]
    pub enabled: Option<bool>,
    /// Settings that only this provider knows.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = schema::string_map)]
    pub configuration: BTreeMap<String, String>,
}
