//! KubevirtConfig: where a KubeVirt cluster is, and what machines on it get unless they say otherwise.
//!
//! Talking to the cluster is left to the driver.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};

use crate::schema::{self, Rule, add_rules};
use crate::vitistack::metadata_name;
use crate::wire_enum::wire_enum;

/// A KubeVirt cluster and its defaults.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[kube(
    group = "vitistack.io",
    version = "v1alpha1",
    kind = "KubevirtConfig",
    plural = "kubevirtconfigs",
    singular = "kubevirtconfig",
    shortname = "kvc",
    category = "vitistack",
    category = "machinist",
    namespaced,
    status = "KubevirtConfigStatus",
    derive = "PartialEq",
    derive = "Default",
    validation = metadata_name(),
    doc = "KubevirtConfig is the configuration of one KubeVirt cluster.",
    selectable = ".status.phase",
    printcolumn(name = "Version", type_ = "string", json_path = ".spec.kubevirt.version"),
    printcolumn(name = "Phase", type_ = "string", json_path = ".status.phase"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    printcolumn(
        name = "Applied",
        type_ = "string",
        json_path = ".status.appliedVersion",
        priority = 1
    ),
    printcolumn(name = "Status", type_ = "string", json_path = ".status.status", priority = 1),
    printcolumn(name = "Created", type_ = "string", json_path = ".status.created", priority = 1)
)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = spec)]
pub struct KubevirtConfigSpec {
    /// Name of the cluster, as machines refer to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub name: Option<String>,
    /// Name of the Secret that holds, under the key kubeconfig, how the cluster is reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub kubeconfig_secret_ref: Option<String>,
    /// Namespace of that Secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub secret_namespace: Option<String>,
    /// Version and namespace of KubeVirt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kubevirt: Option<KubevirtVersion>,
    /// Feature gates of KubeVirt, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 128), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub feature_gates: Vec<FeatureGate>,
    /// What virtual hardware machines get.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<KubevirtResources>,
    /// What storage machines get.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub storage: Option<KubevirtStorage>,
    /// What network machines get.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<KubevirtNetwork>,
}

/// Version and namespace of KubeVirt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KubevirtVersion {
    /// Version of KubeVirt, such as v1.6.0.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 1, max = 64),
        regex(pattern = r"^v?[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$")
    )]
    pub version: Option<String>,
    /// Namespace that KubeVirt runs in.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 1, max = 63),
        regex(pattern = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")
    )]
    pub namespace: Option<String>,
}

/// One feature gate of KubeVirt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FeatureGate {
    /// Name of the feature gate.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Whether the feature is switched on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
}

/// What virtual hardware machines get.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KubevirtResources {
    /// CPU model of machines that name none, such as host-model.
    #[serde(rename = "vmiCPUModel", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub vmi_cpu_model: Option<String>,
    /// Machine type of machines that name none, such as q35.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub machine_type: Option<String>,
    /// Machine types that may be emulated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(min = 1, max = 253)), extend("x-kubernetes-list-type" = "set"))]
    pub emulated_machines: Vec<String>,
}

/// What storage machines get.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KubevirtStorage {
    /// Storage class of disks that name none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub default_storage_class: Option<String>,
    /// Volume modes that disks may have, first choice first: Block or Filesystem.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 2), extend("x-kubernetes-list-type" = "set"))]
    pub volume_modes: Vec<VolumeMode>,
    /// Access modes that disks may have, first choice first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 4), extend("x-kubernetes-list-type" = "set"))]
    pub access_modes: Vec<AccessMode>,
}

wire_enum! {
    /// How a volume is presented.
    VolumeMode {
        /// As a block device.
        Block = "Block",
        /// As a mounted file system.
        Filesystem = "Filesystem",
    }
}

wire_enum! {
    /// Who may mount a volume, and how.
    AccessMode {
        /// One node, for writing.
        ReadWriteOnce = "ReadWriteOnce",
        /// Many nodes, for reading.
        ReadOnlyMany = "ReadOnlyMany",
        /// Many nodes, for writing.
        ReadWriteMany = "ReadWriteMany",
        /// One pod, for writing.
        ReadWriteOncePod = "ReadWriteOncePod",
    }
}

/// What network machines get.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KubevirtNetwork {
    /// Interface of machines that name none, such as bridge or masquerade.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub default_network_interface: Option<String>,
    /// Network binding as KubeVirt reads it, passed on as it is.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = schema::free_object)]
    pub binding: BTreeMap<String, serde_json::Value>,
}

/// What is known about the configuration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KubevirtConfigStatus {
    /// Generation of the spec that this status answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Where the configuration is in its life: Pending, Ready or Failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// Version of KubeVirt that was found or installed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub applied_version: Option<String>,
    /// Detailed conditions, by type.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
    /// Name of the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
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
    const RULES: &[Rule] = &[Rule::required(
        ".secretNamespace",
        "!has(self.kubeconfigSecretRef) || has(self.secretNamespace)",
        "spec.secretNamespace is required with spec.kubeconfigSecretRef",
    )];
    add_rules(schema, RULES);
}
