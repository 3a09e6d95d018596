//! A Machine without who wrote what: managed fields are half of an object as a server shows it, and
//! nothing here asks for them, so that they are passed over while it is read.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{
    ManagedFieldsEntry, ObjectMeta, OwnerReference, Time,
};
use kube::Resource;
use machinist_api::vitistack::{Machine, MachineSpec, MachineStatus};
use serde::{Deserialize, Deserializer, Serialize};

/// A Machine that is read without its managed fields.
#[derive(Debug, Clone)]
pub(crate) struct Bare(pub(crate) Machine);

/// What a Machine is read by: its parts, and the metadata without who wrote what.
#[derive(Deserialize)]
#[serde(remote = "Machine")]
struct Parts {
    #[serde(with = "Meta")]
    metadata: ObjectMeta,
    spec: MachineSpec,
    #[serde(default)]
    status: Option<MachineStatus>,
}

/// What a Machine is written as where it is packed.
#[derive(Serialize)]
pub(super) struct PartsOf<'a> {
    metadata: &'a ObjectMeta,
    spec: &'a MachineSpec,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'a MachineStatus>,
}

/// [`ObjectMeta`] but for its managed fields.
#[derive(Deserialize)]
#[serde(remote = "ObjectMeta", rename_all = "camelCase")]
struct Meta {
    annotations: Option<BTreeMap<String, String>>,
    creation_timestamp: Option<Time>,
    deletion_grace_period_seconds: Option<i64>,
    deletion_timestamp: Option<Time>,
    finalizers: Option<Vec<String>>,
    generate_name: Option<String>,
    generation: Option<i64>,
    labels: Option<BTreeMap<String, String>>,
    #[serde(skip)]
    managed_fields: Option<Vec<ManagedFieldsEntry>>,
    name: Option<String>,
    namespace: Option<String>,
    owner_references: Option<Vec<OwnerReference>>,
    resource_version: Option<String>,
    self_link: Option<String>,
    uid: Option<String>,
}

impl<'a> From<&'a Machine> for PartsOf<'a> {
    fn from(machine: &'a Machine) -> PartsOf<'a> {
        let Machine {
            metadata,
            spec,
            status,
        } = machine;
        PartsOf {
            metadata,
            spec,
            status: status.as_ref(),
        }
    }
}

impl<'de> Deserialize<'de> for Bare {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Bare, D::Error> {
        Parts::deserialize(deserializer).map(Bare)
    }
}

/// Has a form of a Machine answer to the same names at the API server.
macro_rules! named_as_a_machine {
    () => {
        type DynamicType = ();
        type Scope = k8s_openapi::NamespaceResourceScope;

        fn kind((): &()) -> std::borrow::Cow<'_, str> {
            Machine::kind(&())
        }

        fn group((): &()) -> std::borrow::Cow<'_, str> {
            Machine::group(&())
        }

        fn version((): &()) -> std::borrow::Cow<'_, str> {
            Machine::version(&())
        }

        fn plural((): &()) -> std::borrow::Cow<'_, str> {
            Machine::plural(&())
        }
    };
}
pub(super) use named_as_a_machine;

impl Resource for Bare {
    named_as_a_machine!();

    fn meta(&self) -> &ObjectMeta {
        self.0.meta()
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        self.0.meta_mut()
    }
}
