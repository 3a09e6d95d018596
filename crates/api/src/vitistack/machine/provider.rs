//! Where a machine runs: by platform and region (`providerConfig`) or by the name of a provider object (`providerRef`).
//!
//! Which of the two a manifest must give is decided by the rules beside the kind, not here.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::enums::Platform;
use super::rules;
use crate::schema;

/// The platform and the region that the machine runs in, with the platform's own settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProviderConfig {
    /// Name of the platform: aws, azure, gcp, vsphere, openstack, libvirt, proxmox, kubevirt, qemu, iri or sim.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Platform>,
    /// Region of the platform in which the machine is made.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub region: Option<String>,
    /// Availability zone within the region; the platform chooses one when it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub zone: Option<String>,
    /// Settings that only this platform knows, such as an instance profile or a datastore.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = schema::string_map)]
    pub config: BTreeMap<String, String>,
    /// Secret that holds the credentials for this machine, instead of those of the provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credentials_ref: Option<CredentialsRef>,
}

/// Points at the Secret that holds a platform's credentials.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rules::credentials_ref)]
pub struct CredentialsRef {
    /// Name of the Secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub name: Option<String>,
    /// Name of the Secret, in the spelling of the shipped operators; give either this or name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub secret_name: Option<String>,
    /// Namespace of the Secret; the namespace of the machine when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub namespace: Option<String>,
    /// Key within the Secret; every key is read when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub key: Option<String>,
}

/// Names the MachineProvider object that the machine runs on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rules::provider_ref)]
pub struct ProviderRef {
    /// API version of the provider object; vitistack.io/v1alpha1 when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub api_version: Option<String>,
    /// Kind of the provider object; MachineProvider when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub kind: Option<String>,
    /// Name of the provider object.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, length(min = 1, max = 253))]
    pub name: Option<String>,
    /// Namespace of the provider object; the namespace of the machine when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub namespace: Option<String>,
    /// UID of the provider object, for those who want to tell it from another of the same name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub uid: Option<String>,
}
