//! A Machine without who wrote what: managed fields are half of an object as a server shows it, and
//! nothing here asks for them, so that they are passed over while it is read.

use std::{borrow::Cow, collections::BTreeMap};

use k8s_openapi::{
    NamespaceResourceScope,
    apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference, Time},
};
use kube::Resource;
use machinist_api::vitistack::{Machine, MachineSpec, MachineStatus};
use serde::{Deserialize, Deserializer, Serialize};

/// A Machine that is read without its managed fields.
#[derive(Debug, Clone)]
pub(crate) struct Bare(pub(crate) Machine);

/// What a Machine is made of. Read from a server's answer, and written where it is packed.
#[derive(Deserialize)]
pub(super) struct Parts {
    metadata: Meta,
    spec: MachineSpec,
    #[serde(default)]
    status: Option<MachineStatus>,
}

/// The same, borrowed.
#[derive(Serialize)]
pub(super) struct PartsOf<'a> {
    metadata: &'a ObjectMeta,
    spec: &'a MachineSpec,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'a MachineStatus>,
}

/// [`ObjectMeta`] but for its managed fields.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Meta {
    annotations: Option<BTreeMap<String, String>>,
    creation_timestamp: Option<Time>,
    deletion_grace_period_seconds: Option<i64>,
    deletion_timestamp: Option<Time>,
    finalizers: Option<Vec<String>>,
    generate_name: Option<String>,
    generation: Option<i64>,
    labels: Option<BTreeMap<String, String>>,
    name: Option<String>,
    namespace: Option<String>,
    owner_references: Option<Vec<OwnerReference>>,
    resource_version: Option<String>,
    self_link: Option<String>,
    uid: Option<String>,
}

impl From<Meta> for ObjectMeta {
    fn from(meta: Meta) -> ObjectMeta {
        let Meta {
            annotations,
            creation_timestamp,
            deletion_grace_period_seconds,
            deletion_timestamp,
            finalizers,
            generate_name,
            generation,
            labels,
            name,
            namespace,
            owner_references,
            resource_version,
            self_link,
            uid,
        } = meta;
        ObjectMeta {
            annotations,
            creation_timestamp,
            deletion_grace_period_seconds,
            deletion_timestamp,
            finalizers,
            generate_name,
            generation,
            labels,
            managed_fields: None,
            name,
            namespace,
            owner_references,
            resource_version,
            self_link,
            uid,
        }
    }
}

impl From<Parts> for Machine {
    fn from(parts: Parts) -> Machine {
        let Parts {
            metadata,
            spec,
            status,
        } = parts;
        Machine {
            metadata: metadata.into(),
            spec,
            status,
        }
    }
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
        Parts::deserialize(deserializer).map(|parts| Bare(parts.into()))
    }
}

impl Resource for Bare {
    type DynamicType = ();
    type Scope = NamespaceResourceScope;

    fn kind((): &()) -> Cow<'_, str> {
        Machine::kind(&())
    }

    fn group((): &()) -> Cow<'_, str> {
        Machine::group(&())
    }

    fn version((): &()) -> Cow<'_, str> {
        Machine::version(&())
    }

    fn plural((): &()) -> Cow<'_, str> {
        Machine::plural(&())
    }

    fn meta(&self) -> &ObjectMeta {
        self.0.meta()
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        self.0.meta_mut()
    }
}
