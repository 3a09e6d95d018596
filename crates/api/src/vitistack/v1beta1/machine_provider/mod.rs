//! MachineProvider, v1beta1: one platform that machines run on.

mod access;
mod offers;
mod rules;
mod status;

use std::collections::BTreeMap;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use access::{
    Ambient, Authentication, Credentials, Endpoint, RateLimit, Retry, ServiceAccount,
};
pub use offers::{Amounts, Capabilities, Compute, Feature, Networks, Storage, StorageClass};
pub use status::MachineProviderStatus;

pub use crate::vitistack::machine_provider::{
    ApiKeyAuthentication, AvailableNetwork, BackupConfig, Capacity, CertificateAuthentication,
    CpuOptions, CredentialsType, GpuSupport, KubevirtSettings, MachineImage, MachineTemplate,
    MemoryOptions, OAuth2Authentication, Operation, ProviderLoadBalancer, ProviderPhase,
    ProxmoxSettings, Replication, SecretReference, SecurityGroup,
};

use crate::schema;
use crate::vitistack::metadata_name;
use crate::wire_enum::wire_enum;

wire_enum! {
    /// Type of a provider, each under one name.
    ProviderType {
        /// Amazon EC2.
        Aws = "aws",
        /// Azure virtual machines.
        Azure = "azure",
        /// Google Compute Engine.
        Gcp = "gcp",
        /// VMware vSphere.
        Vsphere = "vsphere",
        /// OpenStack.
        Openstack = "openstack",
        /// libvirt.
        Libvirt = "libvirt",
        /// Proxmox VE.
        Proxmox = "proxmox",
        /// KubeVirt.
        Kubevirt = "kubevirt",
        /// Apache CloudStack.
        Cloudstack = "cloudstack",
        /// Nutanix AHV.
        Nutanix = "nutanix",
        /// oVirt.
        Ovirt = "ovirt",
        /// QEMU on the host that Machinist runs on.
        Qemu = "qemu",
        /// A provider behind the IRI protocol.
        Iri = "iri",
        /// The simulator.
        Sim = "sim",
    }
}

/// What a provider is, and how it is reached.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[kube(
    group = "vitistack.io",
    version = "v1beta1",
    kind = "MachineProvider",
    plural = "machineproviders",
    singular = "machineprovider",
    shortname = "mp",
    category = "vitistack",
    category = "machinist",
    namespaced,
    status = "MachineProviderStatus",
    derive = "PartialEq",
    derive = "Default",
    validation = metadata_name(),
    doc = "MachineProvider is one platform that machines run on.",
    selectable = ".spec.type",
    selectable = ".spec.region",
    selectable = ".status.phase",
    printcolumn(name = "Type", type_ = "string", json_path = ".spec.type"),
    printcolumn(name = "Region", type_ = "string", json_path = ".spec.region"),
    printcolumn(
        name = "Ready",
        type_ = "string",
        json_path = r#".status.conditions[?(@.type=="Ready")].status"#
    ),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    ),
    printcolumn(
        name = "Phase",
        type_ = "string",
        json_path = ".status.phase",
        priority = 1
    ),
    printcolumn(
        name = "Machines",
        type_ = "integer",
        json_path = ".status.machines",
        priority = 1
    )
)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rules::provider_spec)]
pub struct MachineProviderSpec {
    /// Type of the provider: aws, azure, gcp, vsphere, openstack, libvirt, proxmox, kubevirt, cloudstack, nutanix, ovirt, qemu, iri or sim.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    pub type_: Option<ProviderType>,
    /// Name that people read; the object's own name when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub display_name: Option<String>,
    /// Primary region or datacenter of the provider, where the platform has any.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub region: Option<String>,
    /// Availability zones, or clusters, within the region.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = 64),
        inner(length(min = 1, max = 253)),
        extend("x-kubernetes-list-type" = "set")
    )]
    pub zones: Vec<String>,
    /// How the platform is reached and how gently it is treated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<Endpoint>,
    /// How Machinist proves to the platform who it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authentication: Option<Authentication>,
    /// Settings that only this platform knows, such as a datacenter or a resource group.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = schema::string_map)]
    pub parameters: BTreeMap<String, String>,
    /// Settings for Proxmox.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxmox: Option<ProxmoxSettings>,
    /// Settings for KubeVirt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kubevirt: Option<KubevirtSettings>,
    /// What the provider offers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<Capabilities>,
    /// The provider's networks and its defaults.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub networks: Option<Networks>,
    /// The provider's storage classes and its defaults.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub storage: Option<Storage>,
    /// The provider's compute defaults, limits and options.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compute: Option<Compute>,
    /// Named sizes that machines can be made in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = 256),
        extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"])
    )]
    pub templates: Vec<MachineTemplate>,
    /// How much of the provider machines may use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity: Option<Capacity>,
    /// Tags that every machine of the provider carries.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = schema::string_map)]
    pub default_tags: BTreeMap<String, String>,
}
