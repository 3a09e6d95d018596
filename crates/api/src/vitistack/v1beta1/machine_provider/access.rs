//! How a provider is reached, v1beta1: endpoint and authentication.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rules;
use crate::schema;
use crate::vitistack::machine_provider::{
    ApiKeyAuthentication, CertificateAuthentication, CredentialsType, OAuth2Authentication,
    SecretReference,
};
use crate::wire_enum::wire_enum;

/// How the platform is reached and how gently it is treated.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Endpoint {
    /// The platform's API endpoint, as a host name or a URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 2048))]
    pub address: Option<String>,
    /// Version of the platform's API to use.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64))]
    pub version: Option<String>,
    /// Certificates, in PEM, that the server's certificate is checked against.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 65536))]
    pub ca_bundle: Option<String>,
    /// Whether the server's certificate goes unchecked; for tests alone.
    #[serde(
        rename = "insecureSkipTLSVerify",
        skip_serializing_if = "Option::is_none"
    )]
    pub insecure_skip_tls_verify: Option<bool>,
    /// Time-out of one request, such as 30s or 5m.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::duration)]
    pub timeout: Option<String>,
    /// How failed requests are tried again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry: Option<Retry>,
    /// How many requests the platform is sent at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_limit: Option<RateLimit>,
}

/// How failed requests are tried again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Retry {
    /// Times that a failed request is tried again.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100))]
    pub attempts: Option<i32>,
    /// Factor by which the delay grows with each attempt, such as 1.5.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::positive_decimal)]
    pub backoff_multiplier: Option<String>,
    /// Longest delay between two attempts, such as 30s.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::duration)]
    pub max_delay: Option<String>,
}

/// How many requests the platform is sent at most.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RateLimit {
    /// Requests a second in the long run, such as 10.5.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::positive_decimal)]
    pub requests_per_second: Option<String>,
    /// Requests that may be sent at once after a quiet time.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub burst: Option<i32>,
}

wire_enum! {
    /// An identity that the platform gives to the place where Machinist runs.
    Ambient {
        /// The instance profile of the host.
        InstanceProfile = "instanceProfile",
        /// The managed identity of the host.
        ManagedIdentity = "managedIdentity",
    }
}

/// How Machinist proves to the platform who it is, in one way.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rules::authentication)]
pub struct Authentication {
    /// Authentication by an API key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_key: Option<ApiKeyAuthentication>,
    /// Authentication by an OAuth2 client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oauth2: Option<OAuth2Authentication>,
    /// Authentication by a client certificate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate: Option<CertificateAuthentication>,
    /// Authentication by a service account.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service_account: Option<ServiceAccount>,
    /// Authentication by whatever one Secret holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credentials: Option<Credentials>,
    /// Authentication by the host's own identity: instanceProfile or managedIdentity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ambient: Option<Ambient>,
    /// Further parameters that only this platform knows; nothing secret belongs here.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = schema::string_map)]
    pub parameters: BTreeMap<String, String>,
}

/// Authentication by a service account.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rules::service_account)]
pub struct ServiceAccount {
    /// Email address or ID of the service account.
    #[serde(rename = "accountID", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1024))]
    pub account_id: Option<String>,
    /// Secret that holds the service account's key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<SecretReference>,
    /// Scopes to ask for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(min = 1, max = 1024)), extend("x-kubernetes-list-type" = "set"))]
    pub scopes: Vec<String>,
}

/// The platform's credentials, in one Secret.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Credentials {
    /// What the Secret holds: password, token or certificate; its keys tell when left out.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_: Option<CredentialsType>,
    /// Secret that holds the credentials.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    pub secret_ref: Option<SecretReference>,
}
