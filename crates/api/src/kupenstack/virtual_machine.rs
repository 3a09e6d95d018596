//! VirtualMachine: a machine that boots from volumes.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::quantity::QuantityValue;
use crate::schema::{self, metadata_name};
use crate::wire_enum::wire_enum;

wire_enum! {
    /// Where a virtual machine is in its life.
    #[derive(Default)]
    VirtualMachinePhase {
        /// The machine was accepted and waits for what it refers to.
        #[default]
        Pending = "Pending",
        /// The machine is being made.
        Building = "Building",
        /// The machine is running.
        Running = "Running",
        /// The machine is being started again.
        Restarting = "Restarting",
        /// The machine is shut down and kept.
        Shutdown = "Shutdown",
        /// The machine is being deleted.
        Terminating = "Terminating",
        /// The machine cannot be made or has failed.
        Failed = "Failed",
    }
}

/// What a virtual machine should be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[kube(
    group = "kupenstack.io",
    version = "v1alpha1",
    kind = "VirtualMachine",
    plural = "virtualmachines",
    singular = "virtualmachine",
    shortname = "vm",
    category = "kupenstack",
    category = "machinist",
    namespaced,
    status = "VirtualMachineStatus",
    derive = "PartialEq",
    derive = "Default",
    validation = metadata_name(),
    doc = "VirtualMachine is one virtual machine that boots from volumes.",
    selectable = ".status.phase",
    selectable = ".status.node",
    printcolumn(name = "Status", type_ = "string", json_path = ".status.phase"),
    printcolumn(name = "Restarts", type_ = "integer", json_path = ".status.restartCount"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    printcolumn(name = "Node", type_ = "string", json_path = ".status.node", priority = 1),
    printcolumn(name = "Networks(IP)", type_ = "string", json_path = ".status.ip", priority = 1)
)]
#[serde(rename_all = "camelCase")]
pub struct VirtualMachineSpec {
    /// Whether the machine should run, which it does unless this is false, or be shut down.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = true))]
    pub running: Option<bool>,
    /// Number of virtual CPUs of the machine.
    #[schemars(range(min = 1))]
    pub vcpu: i32,
    /// Memory of the machine as a Kubernetes quantity, such as 500Mi; rounded up to whole megabytes.
    #[schemars(transform = schema::positive_amount)]
    pub memory: QuantityValue,
    /// Swap space of the machine as a Kubernetes quantity, such as 1Gi; none unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::amount, extend("default" = 0))]
    pub swap: Option<QuantityValue>,
    /// SSH public key that may log in to the machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::ssh_public_key)]
    pub public_key: Option<String>,
    /// Names of the VirtualNetworks in the same namespace that the machine is connected to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = 64),
        transform = schema::object_names,
        extend("x-kubernetes-list-type" = "set")
    )]
    pub virtual_networks: Vec<String>,
    /// Volumes in the same namespace that the machine has as disks; it boots from the first bootable one.
    #[schemars(
        length(min = 1, max = 64),
        extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"])
    )]
    pub disk_attachments: Vec<DiskAttachment>,
}

/// One volume as a disk of the machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DiskAttachment {
    /// Name of the Volume in the same namespace.
    #[schemars(transform = schema::object_name)]
    pub name: String,
}

/// What was last seen of the virtual machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VirtualMachineStatus {
    /// Identifier of the machine at its platform.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Where the machine is in its life: Pending, Building, Running, Restarting, Shutdown, Terminating or Failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<VirtualMachinePhase>,
    /// Name of the host on which the machine runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// Networks of the machine with its address in each, such as net-db(10.10.120.21), net-backend(10.10.150.12).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ip: Option<String>,
    /// Number of times that the machine was started again after its first start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restart_count: Option<i32>,
    /// Generation of the spec that this status answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// What the machine is doing or waiting for, in one sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Detailed conditions, by type: Ready, Reconciling and Stalled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
}
