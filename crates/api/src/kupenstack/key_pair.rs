//! KeyPair: an SSH key that machines are reached with.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::usage::Usage;
use crate::schema::{self, set_once};

/// What a key pair should be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[kube(
    group = "kupenstack.io",
    version = "v1alpha1",
    kind = "KeyPair",
    plural = "keypairs",
    singular = "keypair",
    category = "kupenstack",
    category = "machinist",
    namespaced,
    status = "KeyPairStatus",
    derive = "PartialEq",
    derive = "Default",
    validation = set_once("spec.publicKey"),
    doc = "KeyPair is an SSH key that virtual machines are reached with.",
    selectable = ".status.id",
    printcolumn(name = "In-Use", type_ = "boolean", json_path = ".status.usage.inUse"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    printcolumn(
        name = "Private-Key",
        type_ = "string",
        json_path = ".status.privateKey.secret",
        priority = 1
    )
)]
#[serde(rename_all = "camelCase")]
pub struct KeyPairSpec {
    /// SSH public key; a pair is made, and its public half written here, unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::ssh_public_key)]
    pub public_key: Option<String>,
}

/// What was last seen of the key pair.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeyPairStatus {
    /// Identifier of the key at its platform.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Where the private half is, if the pair was made here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub private_key: Option<PrivateKey>,
    /// Who uses the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Generation of the spec that this status answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Detailed conditions, by type: Ready, Reconciling and Stalled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
}

/// Where a private key is kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PrivateKey {
    /// Name of the Secret in the same namespace that holds the key under privateKey.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
}
