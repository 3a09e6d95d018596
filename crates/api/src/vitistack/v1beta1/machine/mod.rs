//! Machine, v1beta1: one virtual machine, on any platform.

mod compute;
mod devices;
mod rules;
mod status;
mod system;

use std::collections::BTreeMap;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use compute::{Cpu, Gpu, Resources};
pub use devices::{Disk, DiskRole, Interface, Network, NetworkRef, PublicAddress};
pub use status::{DiskStatus, InterfaceStatus, MachineStatus};
pub use system::{Architecture, Image, Os};

pub use crate::vitistack::machine::{
    Backup, Boot, BootDevice, CloudInit, Firmware, FirmwareType, GpuType, MachinePhase, OsType,
    Platform, PowerState, VolumeType,
};

use crate::schema;
use crate::vitistack::metadata_name;

/// What a machine should be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[kube(
    group = "vitistack.io",
    version = "v1beta1",
    kind = "Machine",
    plural = "machines",
    singular = "machine",
    shortname = "m",
    category = "vitistack",
    category = "machinist",
    namespaced,
    status = "MachineStatus",
    derive = "PartialEq",
    derive = "Default",
    validation = metadata_name(),
    doc = "Machine is one virtual machine, on any platform.",
    selectable = ".status.phase",
    selectable = ".spec.providerRef.name",
    selectable = ".spec.providerSelector.type",
    printcolumn(name = "Phase", type_ = "string", json_path = ".status.phase"),
    printcolumn(
        name = "Ready",
        type_ = "string",
        json_path = r#".status.conditions[?(@.type=="Ready")].status"#
    ),
    printcolumn(name = "IP", type_ = "string", json_path = ".status.ipAddresses[0]"),
    printcolumn(name = "Provider", type_ = "string", json_path = ".status.provider"),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    ),
    printcolumn(
        name = "Instance-Type",
        type_ = "string",
        json_path = ".spec.instanceType",
        priority = 1
    ),
    printcolumn(
        name = "Machine-Class",
        type_ = "string",
        json_path = ".spec.machineClass",
        priority = 1
    ),
    printcolumn(
        name = "State",
        type_ = "string",
        json_path = ".status.state",
        priority = 1
    ),
    printcolumn(
        name = "Public-IPs",
        type_ = "string",
        json_path = ".status.publicIPAddresses",
        priority = 1
    ),
    printcolumn(
        name = "Provider-ID",
        type_ = "string",
        json_path = ".status.providerID",
        priority = 1
    ),
    printcolumn(
        name = "Message",
        type_ = "string",
        json_path = ".status.message",
        priority = 1
    )
)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rules::machine_spec)]
pub struct MachineSpec {
    /// Name that the platform and the guest show; the object's own name when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub display_name: Option<String>,
    /// MachineProvider that the machine runs on; give either this or providerSelector, or neither to have one chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_ref: Option<ProviderRef>,
    /// Platform and region of the MachineProvider that the machine runs on; give either this or providerRef.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_selector: Option<ProviderSelector>,
    /// Availability zone; the platform chooses one when it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub zone: Option<String>,
    /// Settings that only this platform knows, such as an instance profile or a datastore.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = schema::string_map)]
    pub parameters: BTreeMap<String, String>,
    /// Secret that holds the credentials for this machine, instead of those of the provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credentials_ref: Option<CredentialsRef>,
    /// Instance type in the platform's own naming, such as t3.medium or Standard_B2s.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub instance_type: Option<String>,
    /// Name of the MachineClass that gives the machine its size; give either this or instanceType.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub machine_class: Option<String>,
    /// Machine type in the platform's own naming, such as q35, in place of the one that it would choose.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub machine_type: Option<String>,
    /// Processor, memory and accelerators.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<Resources>,
    /// Whether the machine should be Running or Stopped; Running unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "Running"))]
    pub power_state: Option<PowerState>,
    /// Seconds that the guest may take to shut down before it is ended, when the machine is stopped, restarted or deleted; the provider's own limit unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 86400))]
    pub termination_grace_period_seconds: Option<i64>,
    /// Disks of the machine, by name; one of the image's size when there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = 65),
        extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]),
        transform = rules::disks
    )]
    pub disks: Vec<Disk>,
    /// Network that interfaces are in unless they say otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
    /// Network interfaces of the machine, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = 32),
        extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]),
        transform = rules::interfaces
    )]
    pub interfaces: Vec<Interface>,
    /// Operating system of the machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub os: Option<Os>,
    /// Image that the machine is made from; found by its operating system when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<Image>,
    /// How the machine starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boot: Option<Boot>,
    /// First-boot data for cloud-init.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cloud_init: Option<CloudInit>,
    /// SSH public keys that may log in to the machine.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = 64),
        inner(length(min = 1, max = 16384)),
        extend("x-kubernetes-list-type" = "set")
    )]
    pub ssh_keys: Vec<String>,
    /// Tags that the machine carries at its platform.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = schema::string_map)]
    pub tags: BTreeMap<String, String>,
    /// Security groups or firewall rules that apply to the whole machine.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = 64),
        inner(length(min = 1, max = 253)),
        extend("x-kubernetes-list-type" = "set")
    )]
    pub security_groups: Vec<String>,
    /// Whether the platform's monitoring is switched on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub monitoring: Option<bool>,
    /// When and how long the machine is backed up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backup: Option<Backup>,
}

/// Names the MachineProvider that the machine runs on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProviderRef {
    /// Name of the MachineProvider.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Namespace of the MachineProvider; the namespace of the machine when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub namespace: Option<String>,
}

/// Describes the MachineProvider that the machine runs on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProviderSelector {
    /// Type of the provider: aws, azure, gcp, vsphere, openstack, libvirt, proxmox, kubevirt, qemu, iri or sim.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    pub type_: Option<Platform>,
    /// Region of the provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, length(min = 1, max = 253))]
    pub region: Option<String>,
}

/// Names the Secret that holds a platform's credentials.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
pub struct CredentialsRef {
    /// Name of the Secret.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Namespace of the Secret; the namespace of the machine when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub namespace: Option<String>,
    /// Key within the Secret; every key is read when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub key: Option<String>,
}
