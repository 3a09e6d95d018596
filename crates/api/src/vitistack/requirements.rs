//! Requests and limits, as the documents define them for every kind.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema;

/// How much of each resource is asked for, and how much may be used.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResourceRequirements {
    /// How much is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<ResourceAmount>,
    /// How much may be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<ResourceAmount>,
    /// CPUs as a Kubernetes quantity, where requests and limits are the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::quantity)]
    pub cpu: Option<String>,
    /// Memory as a Kubernetes quantity, where requests and limits are the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::quantity)]
    pub memory: Option<String>,
    /// Storage as a Kubernetes quantity, where requests and limits are the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::quantity)]
    pub storage: Option<String>,
}

/// Amounts of CPU, memory and storage.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResourceAmount {
    /// CPUs as a Kubernetes quantity, such as 100m or 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::quantity)]
    pub cpu: Option<String>,
    /// Memory as a Kubernetes quantity, such as 128Mi or 1Gi.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::quantity)]
    pub memory: Option<String>,
    /// Storage as a Kubernetes quantity, such as 10Gi.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::quantity)]
    pub storage: Option<String>,
}
