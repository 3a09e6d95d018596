//! What is known about a provider, v1beta1: each fact once.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema;
use crate::vitistack::machine_provider::{
    AuthenticationStatus, AvailableResources, CapabilityStatus, ConnectivityStatus, HealthStatus,
    ProviderPhase, ResourceStatus,
};

/// What was last seen of the provider.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MachineProviderStatus {
    /// Generation of the spec that this status answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Overall state of the provider: Ready, NotReady, Error or Initializing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<ProviderPhase>,
    /// Detailed conditions, by type, such as Ready, Authenticated and NetworkConfigured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
    /// What the provider is doing or waiting for, in one sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Number of machines that the provider runs now.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub machines: Option<i32>,
    /// Whether the platform's API can be reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connectivity: Option<ConnectivityStatus>,
    /// Whether the platform accepts the credentials.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authentication: Option<AuthenticationStatus>,
    /// What is used and what is left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<ResourceStatus>,
    /// How well the platform has been answering.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub health: Option<HealthStatus>,
    /// Which declared capabilities were found to be true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<CapabilityStatus>,
    /// What the platform was found to offer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub available_resources: Option<AvailableResources>,
    /// Status that only this provider knows, passed on as it is.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = schema::string_map)]
    pub provider_status: BTreeMap<String, String>,
}
