//! Machine: one virtual machine, on any platform.
//!
//! Shape A (`cpu`, `memory`, `disks`, `network`, `os`, `providerConfig`), shape B (`resources`,
//! `storage`, `networking`, `operatingSystem`, `providerRef`) and shape C (A's keys with `provider`
//! and `machineClass`) live side by side.

mod cloud_init;
mod compute;
mod enums;
mod extras;
mod network;
mod provider;
mod rules;
mod status;
mod storage;
mod system;

use std::collections::BTreeMap;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use cloud_init::{CloudInit, DataRef};
pub use compute::{Cpu, Gpu, Resources, ResourcesCpu, ResourcesMemory};
pub use enums::{
    AddressSource, Architecture, BootDevice, CloudInitType, FirmwareType, GpuType, ImageSource,
    InterfaceType, MachinePhase, OsFamily, OsType, Platform, PowerState, VolumeType,
};
pub use extras::Backup;
pub use network::{
    IpConfiguration, Network, NetworkInterface, NetworkRef, Networking, NetworkingInterface,
};
pub use provider::{CredentialsRef, ProviderConfig, ProviderRef};
pub use status::{
    DiskStatus, MachineAddresses, MachineStatus, NetworkInterfaceStatus, NetworkStatus,
};
pub use storage::{DataVolume, Disk, RootVolume, Storage};
pub use system::{Boot, Firmware, OperatingSystem, Os, OsImage};

use crate::schema;
use crate::vitistack::metadata_name;

/// What a machine should be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[kube(
    group = "vitistack.io",
    version = "v1alpha1",
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
    validation = rules::kept("providerConfig", "names the platform that the machine was made on"),
    validation = rules::kept("providerRef", "names the provider that the machine was made on"),
    validation = rules::kept("provider", "names the provider that the machine was made on"),
    validation = rules::kept("os", "says what the machine was made from"),
    validation = rules::kept("operatingSystem", "says what the machine was made from"),
    validation = rules::kept("boot", "says how the machine was made to start"),
    validation = rules::kept("userData", "is read at the first start alone"),
    doc = "Machine is one virtual machine, on any platform.",
    selectable = ".status.phase",
    selectable = ".spec.providerConfig.name",
    selectable = ".spec.providerRef.name",
    selectable = ".spec.provider",
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
    /// Name of the machine, as the platform and the guest show it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub name: Option<String>,
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
    /// Whether the machine should be Running or Stopped; Running unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "Running"))]
    pub power_state: Option<PowerState>,
    /// Name or type of the provider that the machine runs on, such as kubevirt; give either this or providerRef.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub provider: Option<String>,
    /// Seconds that the guest may take to shut down before it is ended, when the machine is stopped, restarted or deleted; the provider's own limit unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 86400))]
    pub termination_grace_period_seconds: Option<i64>,
    /// Platform and region that the machine runs in; give either this or providerRef.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_config: Option<ProviderConfig>,
    /// Provider object that the machine runs on; give either this or providerConfig.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_ref: Option<ProviderRef>,
    /// Processor layout; give either this or resources.cpu.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<Cpu>,
    /// Memory in bytes; give either this or resources.memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub memory: Option<i64>,
    /// Processor, memory and accelerators by quantity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<Resources>,
    /// Disks of the machine, by name; give either these or storage.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = 64),
        extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]),
        transform = rules::disks
    )]
    pub disks: Vec<Disk>,
    /// Root and data volumes of the machine; give either these or disks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub storage: Option<Storage>,
    /// The machine's place in the platform's network; give either this or networking.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
    /// The machine's interfaces by NetworkConfiguration; give either these or network.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub networking: Option<Networking>,
    /// Operating system; give either this or operatingSystem.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub os: Option<Os>,
    /// Operating system and image; give either this or os.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operating_system: Option<OperatingSystem>,
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
    /// Cloud-init user data; give either this or cloudInit.userData.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 65536))]
    pub user_data: Option<String>,
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
