//! `core.ironcore.dev`: ResourceQuota, how much of IronCore's resources a namespace may use.

use kube::CustomResource;
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};

use super::common::{Condition, LabelSelectorOperator, ResourceList, operator_and_values};
use crate::schema::{self, Rule, add_rules, metadata_name};
use crate::wire_enum::wire_enum;

/// API group of the kind.
pub const GROUP: &str = "core.ironcore.dev";

wire_enum! {
    /// What a quota can be narrowed to.
    ResourceScope {
        /// Machines of some classes.
        MachineClass = "MachineClass",
        /// Volumes of some classes.
        VolumeClass = "VolumeClass",
        /// Buckets of some classes.
        BucketClass = "BucketClass",
    }
}

/// What a namespace may use.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[kube(
    group = "core.ironcore.dev",
    version = "v1alpha1",
    kind = "ResourceQuota",
    plural = "resourcequotas",
    singular = "resourcequota",
    category = "ironcore",
    category = "machinist",
    namespaced,
    status = "ResourceQuotaStatus",
    derive = "PartialEq",
    derive = "Default",
    validation = metadata_name(),
    doc = "ResourceQuota is how much of IronCore's resources a namespace may use.",
    printcolumn(name = "Request", type_ = "string", json_path = ".status.used"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    printcolumn(name = "Hard", type_ = "string", json_path = ".spec.hard", priority = 1)
)]
#[serde(rename_all = "camelCase")]
pub struct ResourceQuotaSpec {
    /// The most of each resource that may be used, such as requests.cpu or count/machines.compute.ironcore.dev.
    #[serde(default, skip_serializing_if = "ResourceList::is_empty")]
    #[schemars(transform = hard)]
    pub hard: ResourceList,
    /// What the quota is narrowed to; everything unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope_selector: Option<ScopeSelector>,
}

/// What a quota is narrowed to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScopeSelector {
    /// Requirements on what is counted; all of them must hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16), extend("x-kubernetes-list-type" = "atomic"))]
    pub match_expressions: Vec<ScopeRequirement>,
}

/// One requirement on what is counted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = operator_and_values)]
pub struct ScopeRequirement {
    /// What is compared: MachineClass, VolumeClass or BucketClass.
    pub scope_name: ResourceScope,
    /// How it is compared: In, NotIn, Exists or DoesNotExist.
    pub operator: LabelSelectorOperator,
    /// Names of classes; given with In and NotIn, and with them alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = 64),
        transform = schema::object_names,
        extend("x-kubernetes-list-type" = "atomic")
    )]
    pub values: Vec<String>,
}

/// What a namespace uses.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResourceQuotaStatus {
    /// The most of each resource that is enforced.
    #[serde(default, skip_serializing_if = "ResourceList::is_empty")]
    #[schemars(transform = schema::resource_list)]
    pub hard: ResourceList,
    /// How much of each resource is used.
    #[serde(default, skip_serializing_if = "ResourceList::is_empty")]
    #[schemars(transform = schema::resource_list)]
    pub used: ResourceList,
    /// Generation of the spec that this status answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Detailed conditions, by type: Ready, Reconciling and Stalled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
}

fn hard(schema: &mut Schema) {
    const RULES: &[Rule] = &[Rule::new(
        "self.all(name, name in ['requests.cpu', 'requests.memory', 'requests.storage', \
         'requests.tps', 'requests.iops', 'count/machines.compute.ironcore.dev', \
         'count/volumes.storage.ironcore.dev', 'count/buckets.storage.ironcore.dev'])",
        "spec.hard limits what nobody counts; it may name requests.cpu, requests.memory, \
         requests.storage, requests.tps, requests.iops, count/machines.compute.ironcore.dev, \
         count/volumes.storage.ironcore.dev and count/buckets.storage.ironcore.dev",
    )
    .forbidden()];
    schema::resource_list(schema);
    add_rules(schema, RULES);
}
