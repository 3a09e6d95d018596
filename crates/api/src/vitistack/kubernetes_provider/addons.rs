//! What is installed into clusters beside Kubernetes itself.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema;
use crate::wire_enum::wire_enum;

/// What is installed into clusters beside Kubernetes itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = super::rules::addons)]
pub struct Addons {
    /// Cluster DNS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dns: Option<DnsAddon>,
    /// Ingress controller; give either this or ingressController.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ingress: Option<IngressAddon>,
    /// Storage classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub storage: Option<AddonStorage>,
    /// Ingress controller, in the form of the shipped operators; give either this or ingress.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ingress_controller: Option<TypedAddon>,
    /// Monitoring.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub monitoring: Option<MonitoringAddon>,
    /// Service mesh.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service_mesh: Option<TypedAddon>,
    /// Everything else, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub additional: Vec<Addon>,
}

/// Cluster DNS.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DnsAddon {
    /// Whether CoreDNS is installed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Configuration of CoreDNS.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = schema::free_object)]
    pub config: BTreeMap<String, serde_json::Value>,
}

/// Ingress controller.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IngressAddon {
    /// Whether an ingress controller is installed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Which one: nginx, traefik or istio.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_: Option<IngressType>,
}

wire_enum! {
    /// Type of an ingress controller.
    IngressType {
        /// ingress-nginx.
        Nginx = "nginx",
        /// Traefik.
        Traefik = "traefik",
        /// Istio.
        Istio = "istio",
    }
}

/// Storage classes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AddonStorage {
    /// Whether storage classes are installed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Name of the default storage class.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub default_class: Option<String>,
    /// Storage classes, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub classes: Vec<AddonStorageClass>,
}

/// One storage class.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AddonStorageClass {
    /// Name of the storage class.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// What makes the volumes of this class.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, length(min = 1, max = 253))]
    pub provisioner: Option<String>,
    /// Parameters that only the provisioner knows.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = schema::string_map)]
    pub parameters: BTreeMap<String, String>,
    /// Whether volumes that name no class are made in this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<bool>,
}

/// Something of which there are several types.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TypedAddon {
    /// Whether it is installed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    pub enabled: Option<bool>,
    /// Which one, in its own name.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub type_: Option<String>,
    /// Settings that only it knows.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = schema::string_map)]
    pub config: BTreeMap<String, String>,
}

/// Monitoring.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MonitoringAddon {
    /// Whether Prometheus is installed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prometheus: Option<bool>,
    /// Whether Grafana is installed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grafana: Option<bool>,
    /// Whether Alertmanager is installed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alert_manager: Option<bool>,
    /// Settings that only it knows.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = schema::string_map)]
    pub config: BTreeMap<String, String>,
}

/// Something else that is installed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Addon {
    /// Name of what is installed.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Whether it is installed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    pub enabled: Option<bool>,
    /// Version of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub version: Option<String>,
    /// Settings that only it knows.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = schema::string_map)]
    pub config: BTreeMap<String, String>,
}
