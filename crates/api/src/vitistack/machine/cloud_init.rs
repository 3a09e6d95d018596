//! First-boot data of a machine: inline, in base64, or in a Secret or ConfigMap.
//!
//! Reading Secrets and ConfigMaps is left to the engine.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::enums::CloudInitType;
use super::rules;
use crate::schema;

/// First-boot data for cloud-init.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rules::cloud_init)]
pub struct CloudInit {
    /// Whether the machine is given cloud-init data at all; true when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// How the data reaches the guest: noCloud or configDrive; noCloud unless given.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "noCloud"))]
    pub type_: Option<CloudInitType>,
    /// Cloud-init user data, as the guest reads it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 65536))]
    pub user_data: Option<String>,
    /// Cloud-init user data in base64; give either this or userData.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::base64)]
    pub user_data_base64: Option<String>,
    /// Secret that holds the cloud-init user data, under the key userdata unless one is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_data_secret_ref: Option<DataRef>,
    /// ConfigMap that holds the cloud-init user data, under the key userdata unless one is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_data_config_map_ref: Option<DataRef>,
    /// Cloud-init metadata, as the guest reads it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 65536))]
    pub meta_data: Option<String>,
    /// Cloud-init network data, as the guest reads it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 65536))]
    pub network_data: Option<String>,
    /// Cloud-init network data in base64; give either this or networkData.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::base64)]
    pub network_data_base64: Option<String>,
    /// Secret that holds the cloud-init network data, under the key networkdata unless one is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network_data_secret_ref: Option<DataRef>,
    /// ConfigMap that holds the cloud-init network data, under the key networkdata unless one is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network_data_config_map_ref: Option<DataRef>,
}

/// Names a Secret or ConfigMap in the machine's own namespace, and a key in it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
pub struct DataRef {
    /// Name of the Secret or ConfigMap.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, length(min = 1, max = 253))]
    pub name: Option<String>,
    /// Key whose value is read.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub key: Option<String>,
}
