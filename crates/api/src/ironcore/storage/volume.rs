//! Volume: a disk in a pool, or one that somebody else provides.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::CustomResource;
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};

use crate::ironcore::common::{
    Condition, LocalObjectReference, LocalUidReference, ResourceList, TemplateMetadata, Toleration,
};
use crate::schema::{self, Rule, add_rules, immutable, set_once};
use crate::wire_enum::wire_enum;

wire_enum! {
    /// What a volume is able to do.
    #[derive(Default)]
    VolumeState {
        /// The volume is being made.
        #[default]
        Pending = "Pending",
        /// The volume can be attached.
        Available = "Available",
        /// The volume has failed.
        Error = "Error",
    }
}

/// What a volume should be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[kube(
    group = "storage.ironcore.dev",
    version = "v1alpha1",
    kind = "Volume",
    plural = "volumes",
    singular = "volume",
    category = "ironcore",
    category = "machinist",
    namespaced,
    status = "VolumeStatus",
    derive = "PartialEq",
    derive = "Default",
    validation = immutable("spec.volumeClassRef"),
    validation = immutable("spec.encryption"),
    validation = set_once("spec.volumePoolRef"),
    doc = "Volume is a disk in a pool, or one that somebody else provides.",
    selectable = ".spec.volumePoolRef.name",
    selectable = ".spec.volumeClassRef.name",
    selectable = ".status.state",
    printcolumn(name = "VolumePoolRef", type_ = "string", json_path = ".spec.volumePoolRef.name"),
    printcolumn(name = "Image", type_ = "string", json_path = ".spec.dataSource.osImage.image"),
    printcolumn(name = "VolumeClass", type_ = "string", json_path = ".spec.volumeClassRef.name"),
    printcolumn(name = "State", type_ = "string", json_path = ".status.state"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    printcolumn(name = "Size", type_ = "string", json_path = ".spec.resources.storage", priority = 1)
)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rules)]
pub struct VolumeSpec {
    /// Class of the volume; left out for a volume that somebody else provides, and fixed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volume_class_ref: Option<LocalObjectReference>,
    /// Labels that a pool must have for the volume to be kept in it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = schema::labels)]
    pub volume_pool_selector: BTreeMap<String, String>,
    /// Pool that the volume is kept in; a scheduler finds one unless given, and it stays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volume_pool_ref: Option<LocalObjectReference>,
    /// Machine that uses the volume.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claim_ref: Option<LocalUidReference>,
    /// What the volume needs: storage, as a Kubernetes quantity above zero.
    #[serde(default, skip_serializing_if = "ResourceList::is_empty")]
    #[schemars(transform = resources)]
    pub resources: ResourceList,
    /// Secret with which the image is fetched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_pull_secret_ref: Option<LocalObjectReference>,
    /// Whether no machine can have the volume.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unclaimable: Option<bool>,
    /// Taints of pools that do not keep the volume away.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "atomic"))]
    pub tolerations: Vec<Toleration>,
    /// How the volume is encrypted; it is not unless given, and that is fixed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encryption: Option<VolumeEncryption>,
    /// What the volume is filled with when it is made; empty unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_source: Option<VolumeDataSource>,
    /// URL of the image that the volume is filled with; an older form of dataSource.osImage.image.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1024))]
    pub image: Option<String>,
}

/// How a volume is encrypted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VolumeEncryption {
    /// Secret that holds the key of 256 bits under encryptionKey.
    pub secret_ref: LocalObjectReference,
}

/// What a volume is filled with when it is made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = data_source)]
pub struct VolumeDataSource {
    /// Snapshot that the volume starts from; give either this or osImage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volume_snapshot_ref: Option<LocalObjectReference>,
    /// Image of an operating system; give either this or volumeSnapshotRef.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub os_image: Option<OsImage>,
}

/// An image of an operating system.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OsImage {
    /// URL of the image.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub image: Option<String>,
    /// Processor that the image is made for, such as amd64; that of the machine's class unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub architecture: Option<String>,
}

/// What a volume is made from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VolumeTemplate {
    /// Labels and annotations of the volume.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<TemplateMetadata>,
    /// What the volume should be.
    pub spec: VolumeSpec,
}

/// What was last seen of the volume.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VolumeStatus {
    /// Identifier of the volume at its runtime, as runtime://id.
    #[serde(rename = "volumeID", skip_serializing_if = "Option::is_none")]
    pub volume_id: Option<String>,
    /// What the volume is able to do: Pending, Available or Error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<VolumeState>,
    /// When the state last changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_state_transition_time: Option<Time>,
    /// How machines reach the volume.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access: Option<VolumeAccess>,
    /// Generation of the spec that this status answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Detailed conditions, by type: Ready, Reconciling and Stalled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
    /// What the volume really has, such as storage.
    #[serde(default, skip_serializing_if = "ResourceList::is_empty")]
    #[schemars(transform = schema::resource_list)]
    pub resources: ResourceList,
}

/// How machines reach a volume.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VolumeAccess {
    /// Secret with which the volume is reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<LocalObjectReference>,
    /// Name of the driver that attaches the volume.
    #[schemars(length(min = 1, max = 253))]
    pub driver: String,
    /// Name of the volume as the driver knows it.
    #[schemars(length(min = 1, max = 1024))]
    pub handle: String,
    /// What else the driver needs to know.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = schema::string_map)]
    pub volume_attributes: BTreeMap<String, String>,
}

fn resources(schema: &mut Schema) {
    schema::resource_list(schema);
    schema::positive_if_given(schema, "resources", &["storage"]);
}

fn rules(schema: &mut Schema) {
    const RULES: &[Rule] = &[
        Rule::required(
            ".resources",
            "!has(self.volumeClassRef) || (has(self.resources) && 'storage' in self.resources)",
            "resources.storage is required with volumeClassRef",
        ),
        Rule::new(
            "has(self.volumeClassRef) || !has(self.volumePoolSelector)",
            "volumePoolSelector needs volumeClassRef: a volume without a class is provided by somebody else",
        ).forbids(".volumePoolSelector"),
        Rule::new(
            "has(self.volumeClassRef) || !has(self.volumePoolRef)",
            "volumePoolRef needs volumeClassRef: a volume without a class is provided by somebody else",
        ).forbids(".volumePoolRef"),
        Rule::new(
            "has(self.volumeClassRef) || !has(self.resources)",
            "resources need volumeClassRef: a volume without a class is provided by somebody else",
        ).forbids(".resources"),
        Rule::new(
            "has(self.volumeClassRef) || !has(self.tolerations)",
            "tolerations need volumeClassRef: a volume without a class is provided by somebody else",
        ).forbids(".tolerations"),
        Rule::new(
            "has(self.volumeClassRef) || !has(self.dataSource) || !has(self.dataSource.osImage)",
            "dataSource.osImage needs volumeClassRef: a volume without a class is provided by somebody else",
        ).forbids(".dataSource.osImage"),
        Rule::new(
            "!has(self.claimRef) || !has(self.unclaimable) || !self.unclaimable",
            "claimRef and unclaimable exclude each other; keep one of them",
        ).forbids(".unclaimable"),
        Rule::new(
            "!has(self.image) || !has(self.dataSource)",
            "image and dataSource say the same thing in two forms; keep one of them",
        ).forbids(".dataSource"),
    ];
    add_rules(schema, RULES);
}

fn data_source(schema: &mut Schema) {
    const RULES: &[Rule] = &[Rule::new(
        "!has(self.volumeSnapshotRef) || !has(self.osImage)",
        "dataSource takes one source: give either volumeSnapshotRef or osImage",
    )
    .forbidden()];
    add_rules(schema, RULES);
}
