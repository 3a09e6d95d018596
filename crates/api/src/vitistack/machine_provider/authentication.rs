//! How Machinist proves to a platform who it is, in both documented forms.
//!
//! Secrets are only ever named here; reading them is left to the engine.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::enums::{AuthenticationType, CredentialsType};
use super::rules;
use crate::schema;
use crate::vitistack::machine::CredentialsRef;

/// How Machinist proves to the platform who it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rules::authentication)]
pub struct Authentication {
    /// Method of authentication: apikey, oauth2, certificate, serviceaccount, credentials, serviceAccount, instanceProfile, managedIdentity or token.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_: Option<AuthenticationType>,
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
    pub service_account: Option<ServiceAccountAuthentication>,
    /// Secret that holds whatever the platform asks for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credentials_ref: Option<CredentialsRef>,
    /// Further parameters that only this platform knows; nothing secret belongs here.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = schema::string_map)]
    pub parameters: BTreeMap<String, String>,
}

/// Authentication by an API key.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApiKeyAuthentication {
    /// Secret that holds the API key.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    pub secret_ref: Option<SecretReference>,
}

/// Authentication by an OAuth2 client.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OAuth2Authentication {
    /// ID of the client.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, length(min = 1, max = 1024))]
    pub client_id: Option<String>,
    /// Secret that holds the client's secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    pub client_secret_ref: Option<SecretReference>,
    /// URL at which tokens are issued.
    #[serde(rename = "tokenURL", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 2048), transform = schema::url)]
    pub token_url: Option<String>,
    /// Scopes to ask for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(min = 1, max = 1024)), extend("x-kubernetes-list-type" = "set"))]
    pub scopes: Vec<String>,
}

/// Authentication by a client certificate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CertificateAuthentication {
    /// Secret that holds the certificate in PEM.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    pub cert_secret_ref: Option<SecretReference>,
    /// Secret that holds the private key in PEM.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    pub key_secret_ref: Option<SecretReference>,
}

/// Authentication by a service account.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rules::service_account)]
pub struct ServiceAccountAuthentication {
    /// Secret that holds the service account's key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<SecretReference>,
    /// Email address or ID of the service account.
    #[serde(rename = "accountID", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1024))]
    pub account_id: Option<String>,
    /// Secret that holds the service account's key; give either this or secretRef.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_ref: Option<CredentialsRef>,
    /// Scopes to ask for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(min = 1, max = 1024)), extend("x-kubernetes-list-type" = "set"))]
    pub scopes: Vec<String>,
}

/// The platform's credentials, in one Secret.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Credentials {
    /// Method of authentication: password, token or certificate.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_: Option<CredentialsType>,
    /// Secret that holds the credentials.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    pub secret_ref: Option<SecretReference>,
}

/// Names a Secret, and a key in it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
pub struct SecretReference {
    /// Name of the Secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, length(min = 1, max = 253))]
    pub name: Option<String>,
    /// Namespace of the Secret; the namespace of the provider when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub namespace: Option<String>,
    /// Key within the Secret; the method's own keys are read when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub key: Option<String>,
}
