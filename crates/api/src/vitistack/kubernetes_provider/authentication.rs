//! How users of clusters prove who they are, in the form of the shipped operators.
//!
//! Secrets are only ever named here.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema;
use crate::vitistack::machine::CredentialsRef;

/// How users of clusters prove who they are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterAuthentication {
    /// By OpenID Connect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oidc: Option<OidcAuthentication>,
    /// By LDAP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ldap: Option<LdapAuthentication>,
    /// How service accounts are signed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service_account: Option<ServiceAccountSigning>,
    /// By something else, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub providers: Vec<ClusterAuthenticator>,
}

/// Authentication by OpenID Connect.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OidcAuthentication {
    /// URL of the issuer.
    #[serde(rename = "issuerURL", skip_serializing_if = "Option::is_none")]
    #[schemars(required, transform = schema::url)]
    pub issuer_url: Option<String>,
    /// ID of the client.
    #[serde(rename = "clientID", skip_serializing_if = "Option::is_none")]
    #[schemars(required, length(min = 1, max = 1024))]
    pub client_id: Option<String>,
    /// Secret that holds the client's secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_secret_ref: Option<CredentialsRef>,
    /// Claim that names the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub username_claim: Option<String>,
    /// Claim that names the user's groups.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub groups_claim: Option<String>,
}

/// Authentication by LDAP.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LdapAuthentication {
    /// URL of the server.
    #[serde(rename = "serverURL", skip_serializing_if = "Option::is_none")]
    #[schemars(required, transform = schema::url)]
    pub server_url: Option<String>,
    /// Distinguished name to bind as.
    #[serde(rename = "bindDN", skip_serializing_if = "Option::is_none")]
    #[schemars(required, length(min = 1, max = 1024))]
    pub bind_dn: Option<String>,
    /// Secret that holds the password to bind with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bind_password_ref: Option<CredentialsRef>,
    /// Where users are looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, length(min = 1, max = 1024))]
    pub user_search_base: Option<String>,
    /// Where groups are looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, length(min = 1, max = 1024))]
    pub group_search_base: Option<String>,
}

/// How service accounts are signed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServiceAccountSigning {
    /// Name of the service account of pods that name none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub default_name: Option<String>,
    /// Secret that holds the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signing_key_ref: Option<CredentialsRef>,
}

/// Authentication by something else.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterAuthenticator {
    /// Name of it.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Type of it.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    #[schemars(required, length(min = 1, max = 253))]
    pub type_: Option<String>,
    /// Settings that only it knows.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = schema::string_map)]
    pub config: BTreeMap<String, String>,
}
