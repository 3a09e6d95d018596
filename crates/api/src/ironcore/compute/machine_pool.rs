//! MachinePool: where machines run.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ironcore::common::{Condition, LocalObjectReference, ResourceList, Taint};
use crate::schema::{self, set_once_text};
use crate::wire_enum::wire_enum;

wire_enum! {
    /// What a pool is able to do.
    #[derive(Default)]
    MachinePoolState {
        /// Nobody has heard of the pool yet.
        #[default]
        Pending = "Pending",
        /// Machines can run in the pool.
        Ready = "Ready",
        /// The pool has failed.
        Error = "Error",
        /// The pool does not answer.
        Offline = "Offline",
    }
}

wire_enum! {
    /// What an address of a pool is.
    MachinePoolAddressType {
        /// A host name.
        Hostname = "Hostname",
        /// An address inside the cluster's network.
        InternalIp = "InternalIP",
        /// An address that is reachable from outside.
        ExternalIp = "ExternalIP",
        /// A name that resolves inside the cluster's network.
        InternalDns = "InternalDNS",
        /// A name that resolves outside.
        ExternalDns = "ExternalDNS",
    }
}

/// What a pool should be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[kube(
    group = "compute.ironcore.dev",
    version = "v1alpha1",
    kind = "MachinePool",
    plural = "machinepools",
    singular = "machinepool",
    category = "ironcore",
    category = "machinist",
    status = "MachinePoolStatus",
    derive = "PartialEq",
    derive = "Default",
    validation = set_once_text("spec.providerID"),
    doc = "MachinePool is where machines run: a host, or whatever stands behind one provider.",
    selectable = ".spec.providerID",
    selectable = ".status.state",
    printcolumn(
        name = "MachineClasses",
        type_ = "string",
        json_path = ".status.availableMachineClasses"
    ),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    printcolumn(name = "State", type_ = "string", json_path = ".status.state", priority = 1)
)]
#[serde(rename_all = "camelCase")]
pub struct MachinePoolSpec {
    /// Identifier of the pool at its provider; it stays once it is given.
    #[serde(rename = "providerID", skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub provider_id: Option<String>,
    /// Reasons to stay away from the pool, unless a machine tolerates them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "atomic"))]
    pub taints: Vec<Taint>,
}

/// What was last heard of the pool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MachinePoolStatus {
    /// What the pool is able to do: Pending, Ready, Error or Offline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<MachinePoolState>,
    /// Generation of the spec that this status answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Detailed conditions, by type, such as Ready.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
    /// Classes of machines that can run in the pool.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), extend("x-kubernetes-list-type" = "atomic"))]
    pub available_machine_classes: Vec<LocalObjectReference>,
    /// Where the pool is reached.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "atomic"))]
    pub addresses: Vec<MachinePoolAddress>,
    /// Ports of the programs that serve the pool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub daemon_endpoints: Option<MachinePoolDaemonEndpoints>,
    /// What the pool has in all, such as class/machine.small.
    #[serde(default, skip_serializing_if = "ResourceList::is_empty")]
    #[schemars(transform = schema::resource_list)]
    pub capacity: ResourceList,
    /// What of it machines can have.
    #[serde(default, skip_serializing_if = "ResourceList::is_empty")]
    #[schemars(transform = schema::resource_list)]
    pub allocatable: ResourceList,
}

/// One address of the pool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MachinePoolAddress {
    /// What the address is: Hostname, InternalIP, ExternalIP, InternalDNS or ExternalDNS.
    #[serde(rename = "type")]
    pub type_: MachinePoolAddressType,
    /// The address itself.
    #[schemars(length(min = 1, max = 253))]
    pub address: String,
}

/// Ports of the programs that serve the pool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MachinePoolDaemonEndpoints {
    /// Where the pool's agent listens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machinepoollet_endpoint: Option<MachinePoolEndpoint>,
}

/// Where a program listens.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MachinePoolEndpoint {
    /// Port on which it listens.
    #[schemars(range(min = 0, max = 65535))]
    pub port: i32,
}
