//! How a provider is reached and treated: endpoint, time-outs, retries, rates and the platform's own settings.
//!
//! Acting on them is left to the decorators around a driver, so that no driver does it itself.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rules;
use crate::schema;

/// How the platform is reached and how gently it is treated.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = schema::open_object)]
pub struct ProviderSettings {
    /// The platform's API endpoint, as a host name or a URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 2048))]
    pub endpoint: Option<String>,
    /// Version of the platform's API to use.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64))]
    pub version: Option<String>,
    /// Time-out of one request, such as 30s or 5m.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::duration)]
    pub timeout: Option<String>,
    /// How failed requests are tried again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_policy: Option<RetryPolicy>,
    /// How many requests the platform is sent at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_limiting: Option<RateLimiting>,
    /// Settings that only this platform knows, such as a datacenter or a resource group.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = schema::string_map)]
    pub custom_settings: BTreeMap<String, String>,
    /// Settings for Proxmox.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxmox: Option<ProxmoxSettings>,
    /// Settings for KubeVirt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kubevirt: Option<KubevirtSettings>,
    /// Settings that only this platform knows, as the shipped operators write them: beside the others, each a string.
    #[serde(flatten)]
    #[schemars(skip)]
    pub further: BTreeMap<String, serde_json::Value>,
}

/// How failed requests are tried again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RetryPolicy {
    /// Maximum retry attempts for one request.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100))]
    pub max_retries: Option<i32>,
    /// Factor by which the delay grows with each attempt, such as 1.5.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::positive_decimal)]
    pub backoff_multiplier: Option<String>,
    /// Longest delay between two attempts, such as 30s.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::duration)]
    pub max_backoff_delay: Option<String>,
}

/// How many requests the platform is sent at most.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RateLimiting {
    /// Requests a second in the long run, such as 10.5.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::positive_decimal)]
    pub requests_per_second: Option<String>,
    /// Requests that may be sent at once after a quiet time.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub burst_limit: Option<i32>,
}

/// Settings for Proxmox.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProxmoxSettings {
    /// Default Proxmox node.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub node: Option<String>,
    /// Default storage pool.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub storage: Option<String>,
    /// Default network bridge.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub network_bridge: Option<String>,
}

/// Settings for KubeVirt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KubevirtSettings {
    /// Default storage class.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub storage_class: Option<String>,
    /// Default network policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub network_policy: Option<String>,
}

/// Where the platform's API is reached.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rules::endpoint)]
pub struct Endpoint {
    /// URL of the platform's API.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 2048), transform = schema::url)]
    pub url: Option<String>,
    /// Whether the server's certificate goes unchecked; for tests alone.
    #[serde(
        rename = "insecureSkipTLSVerify",
        skip_serializing_if = "Option::is_none"
    )]
    pub insecure_skip_tls_verify: Option<bool>,
    /// Whether the server's certificate goes unchecked, in the shipped operators' spelling; for tests alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub insecure_skip_verify: Option<bool>,
    /// Certificates, in PEM, that the server's certificate is checked against.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 65536))]
    pub ca_bundle: Option<String>,
    /// Time-out of one connection in seconds (1-300); give either this or timeout.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 300))]
    pub timeout_seconds: Option<i32>,
    /// Times that a failed request is tried again (0-10); give either this or config.retryPolicy.maxRetries.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 10))]
    pub retry_attempts: Option<i32>,
    /// Time-out of one connection, such as 30s.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::duration)]
    pub timeout: Option<String>,
}
