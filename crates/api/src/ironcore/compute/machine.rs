//! Machine: one virtual machine, in a class, in a pool.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rules;
use super::volumes::MachineVolume;
use crate::ironcore::common::{Condition, LocalObjectReference, SecretKeySelector, Toleration};
use crate::ironcore::networking::NetworkInterfaceTemplate;
use crate::schema::{self, immutable, metadata_name, set_once};
use crate::wire_enum::wire_enum;

wire_enum! {
    /// Whether a machine should be running.
    #[derive(Default)]
    Power {
        /// The machine should run.
        #[default]
        On = "On",
        /// The machine should be off.
        Off = "Off",
    }
}

wire_enum! {
    /// Where a machine is in its life.
    #[derive(Default)]
    MachineState {
        /// The machine was accepted and is not yet started: it waits for a pool, or is being set up there.
        #[default]
        Pending = "Pending",
        /// The machine runs in its pool.
        Running = "Running",
        /// The machine is shut down.
        Shutdown = "Shutdown",
        /// The machine is being ended.
        Terminating = "Terminating",
        /// The machine has ended for good and cannot be started.
        Terminated = "Terminated",
    }
}

wire_enum! {
    /// Whether something is attached to a machine.
    #[derive(Default)]
    AttachmentState {
        /// It is not attached yet.
        #[default]
        Pending = "Pending",
        /// It is attached.
        Attached = "Attached",
    }
}

/// What a machine should be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[kube(
    group = "compute.ironcore.dev",
    version = "v1alpha1",
    kind = "Machine",
    plural = "machines",
    singular = "machine",
    category = "ironcore",
    category = "machinist",
    namespaced,
    status = "MachineStatus",
    derive = "PartialEq",
    derive = "Default",
    validation = metadata_name(),
    validation = immutable("spec.machineClassRef"),
    validation = immutable("spec.image"),
    validation = set_once("spec.machinePoolRef"),
    validation = rules::hostname_stays(),
    validation = rules::images_stay(),
    validation = rules::volumes_return_when_gone(),
    doc = "Machine is one virtual machine, in a class, in a pool.",
    selectable = ".spec.machinePoolRef.name",
    selectable = ".spec.machineClassRef.name",
    selectable = ".status.state",
    printcolumn(name = "MachineClassRef", type_ = "string", json_path = ".spec.machineClassRef.name"),
    printcolumn(name = "Image", type_ = "string", json_path = ".spec.image"),
    printcolumn(name = "MachinePoolRef", type_ = "string", json_path = ".spec.machinePoolRef.name"),
    printcolumn(name = "State", type_ = "string", json_path = ".status.state"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    printcolumn(
        name = "LocalDiskImage",
        type_ = "string",
        json_path = ".spec.volumes[?(@.localDisk.image)].localDisk.image",
        priority = 1
    ),
    printcolumn(name = "Power", type_ = "string", json_path = ".spec.power", priority = 1)
)]
#[serde(rename_all = "camelCase")]
pub struct MachineSpec {
    /// Class of the machine, which says how large it is; it cannot be changed.
    pub machine_class_ref: LocalObjectReference,
    /// Labels that a pool must have for the machine to run in it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = schema::labels)]
    pub machine_pool_selector: BTreeMap<String, String>,
    /// Pool that the machine runs in; a scheduler finds one unless given, and it stays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine_pool_ref: Option<LocalObjectReference>,
    /// Whether the machine should be On or Off; On unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "On"))]
    pub power: Option<Power>,
    /// URL of the operating system image; short for a first local disk with that image.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1024))]
    pub image: Option<String>,
    /// Secret with which the image is fetched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_pull_secret: Option<LocalObjectReference>,
    /// Network interfaces of the machine, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = 32),
        extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"])
    )]
    pub network_interfaces: Vec<MachineNetworkInterface>,
    /// Volumes of the machine, by name; the first is the root disk.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = 64),
        extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]),
        transform = rules::devices_differ
    )]
    pub volumes: Vec<MachineVolume>,
    /// Secret with the ignition that the machine boots with, under the key ignition.yaml unless another is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ignition_ref: Option<SecretKeySelector>,
    /// Variables of the machine's UEFI firmware, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = 64),
        extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"])
    )]
    pub efi_vars: Vec<EfiVar>,
    /// Taints of pools that do not keep the machine away.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "atomic"))]
    pub tolerations: Vec<Toleration>,
    /// What the guest is told about itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guest_config: Option<GuestConfig>,
}

/// One network interface of the machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rules::interface_source)]
pub struct MachineNetworkInterface {
    /// Name of the interface, unique within the machine.
    #[schemars(transform = schema::object_name)]
    pub name: String,
    /// NetworkInterface that is attached; give either this or ephemeral.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network_interface_ref: Option<LocalObjectReference>,
    /// NetworkInterface that is made with the machine and goes with it; give either this or networkInterfaceRef.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ephemeral: Option<EphemeralNetworkInterface>,
}

/// A NetworkInterface that lives as long as the machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EphemeralNetworkInterface {
    /// What the NetworkInterface is made from.
    pub network_interface_template: NetworkInterfaceTemplate,
}

/// A variable of the machine's UEFI firmware.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EfiVar {
    /// Name of the variable.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// GUID of the variable's vendor.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub uuid: Option<String>,
    /// Value of the variable.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 32768))]
    pub value: Option<String>,
}

/// What the guest is told about itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GuestConfig {
    /// Host name that the guest goes by; given at creation or never.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::label_name)]
    pub hostname: Option<String>,
}

/// What was last seen of the machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MachineStatus {
    /// Identifier of the machine at its runtime, as runtime://id.
    #[serde(rename = "machineID", skip_serializing_if = "Option::is_none")]
    pub machine_id: Option<String>,
    /// Generation of the spec that this status answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Where the machine is in its life: Pending, Running, Shutdown, Terminating or Terminated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<MachineState>,
    /// Detailed conditions, by type: Ready, VolumesReady, NetworkInterfacesReady, Reconciling and Stalled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
    /// Each network interface as it really is, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub network_interfaces: Vec<MachineNetworkInterfaceStatus>,
    /// Each volume as it really is, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 128), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub volumes: Vec<MachineVolumeStatus>,
}

/// One network interface as it really is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MachineNetworkInterfaceStatus {
    /// Name of the interface in the spec.
    #[schemars(length(max = 253))]
    pub name: String,
    /// Name of the interface at the runtime.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handle: Option<String>,
    /// Whether the interface is attached: Pending or Attached.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "Pending"))]
    pub state: Option<AttachmentState>,
    /// NetworkInterface that is attached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network_interface_ref: Option<LocalObjectReference>,
    /// When the state last changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_state_transition_time: Option<Time>,
}

/// One volume as it really is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MachineVolumeStatus {
    /// Name of the volume in the spec.
    #[schemars(length(max = 253))]
    pub name: String,
    /// Name of the volume at the runtime.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handle: Option<String>,
    /// Whether the volume is attached: Pending or Attached.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "Pending"))]
    pub state: Option<AttachmentState>,
    /// Volume that is attached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volume_ref: Option<LocalObjectReference>,
    /// When the state last changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_state_transition_time: Option<Time>,
}
