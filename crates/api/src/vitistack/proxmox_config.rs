//! ProxmoxConfig: where a Proxmox cluster is, and what machines on it get unless they say otherwise.
//!
//! Talking to the cluster is left to the driver.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};

use super::machine_provider::SecretReference;
use super::requirements::ResourceRequirements;
use crate::schema::{self, Rule, add_rules};
use crate::vitistack::metadata_name;
use crate::wire_enum::wire_enum;

/// A Proxmox cluster and its defaults.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[kube(
    group = "vitistack.io",
    version = "v1alpha1",
    kind = "ProxmoxConfig",
    plural = "proxmoxconfigs",
    singular = "proxmoxconfig",
    shortname = "pxc",
    category = "vitistack",
    category = "machinist",
    namespaced,
    status = "ProxmoxConfigStatus",
    derive = "PartialEq",
    derive = "Default",
    validation = metadata_name(),
    doc = "ProxmoxConfig is the configuration of one Proxmox cluster.",
    selectable = ".status.phase",
    printcolumn(name = "Endpoint", type_ = "string", json_path = ".spec.cluster.endpoint"),
    printcolumn(name = "Ready", type_ = "boolean", json_path = ".status.ready"),
    printcolumn(name = "Version", type_ = "string", json_path = ".status.clusterVersion"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    printcolumn(name = "Phase", type_ = "string", json_path = ".status.phase", priority = 1),
    printcolumn(name = "Host", type_ = "string", json_path = ".spec.endpoint", priority = 1),
    printcolumn(name = "Created", type_ = "string", json_path = ".status.created", priority = 1)
)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = spec)]
pub struct ProxmoxConfigSpec {
    /// Nodes and endpoint of the cluster; give either this or endpoint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<ProxmoxCluster>,
    /// Against what users are checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authentication: Option<ProxmoxAuthentication>,
    /// Secret that holds the user name and the token; give either this or token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credentials_secret_ref: Option<SecretReference>,
    /// What machines get unless they say otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub defaults: Option<ProxmoxDefaults>,
    /// How much machines may have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<ProxmoxLimits>,
    /// Templates that machines can be made from, by ID.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["id"]))]
    pub templates: Vec<ProxmoxTemplate>,
    /// Name of the cluster, as machines refer to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub name: Option<String>,
    /// Host name or URL of the cluster's API; give either this or cluster.endpoint.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 2048))]
    pub endpoint: Option<String>,
    /// Port of the cluster's API, from 1 to 65535.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::port)]
    pub port: Option<String>,
    /// User name, such as root@pam.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub username: Option<String>,
    /// API token in clear text; prefer credentialsSecretRef, which keeps it in a Secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1024))]
    pub token: Option<String>,
}

/// Nodes and endpoint of a Proxmox cluster.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProxmoxCluster {
    /// Names of the nodes that machines may run on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(min = 1, max = 253)), extend("x-kubernetes-list-type" = "set"))]
    pub nodes: Vec<String>,
    /// URL of the cluster's API.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::url)]
    pub endpoint: Option<String>,
}

/// Against what users are checked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProxmoxAuthentication {
    /// Type of the realm: pam, pve, ad or ldap.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_: Option<ProxmoxRealmType>,
    /// Name of the realm.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub realm: Option<String>,
}

wire_enum! {
    /// Type of an authentication realm.
    ProxmoxRealmType {
        /// The host's own users.
        Pam = "pam",
        /// Proxmox's own users.
        Pve = "pve",
        /// Active Directory.
        Ad = "ad",
        /// LDAP.
        Ldap = "ldap",
    }
}

/// What machines get unless they say otherwise.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProxmoxDefaults {
    /// Storage pool of disks that name none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub storage: Option<String>,
    /// Network bridge of interfaces that name none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub network: Option<String>,
    /// Type of the operating system of machines that name none, such as l26.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub os_type: Option<String>,
}

/// How much machines may have.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProxmoxLimits {
    /// Most machines on one node.
    #[serde(rename = "maxVMsPerNode", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_vms_per_node: Option<i32>,
    /// Most CPU cores of one machine.
    #[serde(rename = "maxCPUCores", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_cpu_cores: Option<i32>,
    /// Most memory of one machine, as a Kubernetes quantity.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::quantity)]
    pub max_memory: Option<String>,
}

/// One template that machines can be made from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProxmoxTemplate {
    /// ID of the template, unique within the cluster.
    #[schemars(length(min = 1, max = 253))]
    pub id: String,
    /// Name of the template.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub name: Option<String>,
    /// Type of the operating system on the template.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub os_type: Option<String>,
    /// Resources of machines that give none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<ResourceRequirements>,
}

/// What is known about the configuration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProxmoxConfigStatus {
    /// Generation of the spec that this status answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Whether the cluster can be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready: Option<bool>,
    /// Version of Proxmox that the cluster runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster_version: Option<String>,
    /// Names of the nodes that answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "atomic"))]
    pub available_nodes: Vec<String>,
    /// Where the configuration is in its life: Pending, Ready or Failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// Detailed conditions, by type.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
    /// State of the configuration in one word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// What is wrong with the configuration, in one sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// When the configuration was first applied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<String>,
}

/// Rules over the whole spec.
fn spec(schema: &mut Schema) {
    const RULES: &[Rule] = &[
        Rule::new(
            "!(has(self.endpoint) && has(self.cluster) && has(self.cluster.endpoint))",
            "spec.endpoint and spec.cluster.endpoint say the same thing in two forms; keep one of them",
        ).forbids(".cluster.endpoint"),
        Rule::new(
            "!(has(self.token) && has(self.credentialsSecretRef))",
            "spec.token and spec.credentialsSecretRef say the same thing in two forms; keep one of them",
        ).forbids(".credentialsSecretRef"),
        Rule::required(
            ".username",
            "!has(self.token) || has(self.username)",
            "spec.username is required with spec.token",
        ),
    ];
    add_rules(schema, RULES);
}
