//! A Machine as the view keeps it: what every look asks for at hand, and the rest packed until a pass
//! works on it.
//!
//! Most machines are as declared for most of their lives, and nobody reads them meanwhile. A Machine
//! unpacked takes some four times the memory of its text, and the text of one that is like most others
//! more than eight times that of the text packed.

mod bare;
mod text;

use std::{fmt, sync::Arc};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::{Resource, ResourceExt, runtime::reflector::ObjectRef};
use machinist_api::{
    names,
    vitistack::{Machine, MachinePhase},
};
use machinist_core::{
    dialect::vitistack::{Used, take, target},
    machine::Uid,
    place::Take,
};
use serde::{Deserialize, Deserializer, de::Error as _};
use thiserror::Error;

use crate::controllers::declared;
pub(crate) use bare::Bare;
use bare::{PartsOf, named_as_a_machine};
use text::Text;

/// Why a Machine cannot be packed or unpacked.
#[derive(Debug, Error)]
pub(crate) enum PackError {
    /// Its text is not that of a Machine.
    #[error("the machine's text cannot be read")]
    Text(#[from] serde_json::Error),
    /// What is kept is no packed text.
    #[error("the machine's text cannot be unpacked")]
    Packed(#[from] lz4_flex::block::DecompressError),
}

/// A Machine in the view. Clones share it.
#[derive(Clone)]
pub(crate) struct Packed(Arc<Kept>);

#[derive(Clone)]
struct Kept {
    /// Name, namespace, UID and version alone; the rest is in the text.
    meta: ObjectMeta,
    declared: u64,
    phase: Option<MachinePhase>,
    take: Take,
    used: Used,
    provider: Option<Box<str>>,
    target: Option<Box<str>>,
    text: Text,
}

impl Packed {
    /// Packs a Machine; its managed fields are left out.
    pub(crate) fn new(mut machine: Machine) -> Result<Packed, PackError> {
        machine.metadata.managed_fields = None;
        let text = serde_json::to_vec(&PartsOf::from(&machine))?;
        let provider = machine.annotations().get(names::PROVIDER_ANNOTATION);
        let status = machine.status.as_ref();
        Ok(Packed(Arc::new(Kept {
            declared: declared(&machine.metadata),
            phase: status.and_then(|status| status.phase),
            take: take(&machine),
            used: Used::by(&machine),
            provider: provider.map(|provider| provider.as_str().into()),
            target: target(&machine).map(Into::into),
            text: Text::pack(&text),
            meta: ObjectMeta {
                name: machine.metadata.name,
                namespace: machine.metadata.namespace,
                resource_version: machine.metadata.resource_version,
                uid: machine.metadata.uid,
                ..ObjectMeta::default()
            },
        })))
    }

    /// The whole Machine.
    pub(crate) fn unpack(&self) -> Result<Machine, PackError> {
        let text = self.0.text.unpack()?;
        let Bare(machine) = serde_json::from_slice(&text)?;
        Ok(machine)
    }

    /// Stands for everything but status and bookkeeping, see [`declared`].
    pub(crate) fn declared(&self) -> u64 {
        self.0.declared
    }

    /// Where it is in its life.
    pub(crate) fn phase(&self) -> Option<MachinePhase> {
        self.0.phase
    }

    /// How much of a provider it takes.
    pub(crate) fn take(&self) -> Take {
        self.0.take
    }

    /// How much it was seen to have.
    pub(crate) fn used(&self) -> Used {
        self.0.used
    }

    /// The provider that it is bound to, as its annotation says.
    pub(crate) fn provider(&self) -> Option<&str> {
        self.0.provider.as_deref()
    }

    /// Its UID, in short.
    pub(crate) fn short_uid(&self) -> Uid {
        Uid::of(self.0.meta.uid.as_deref().unwrap_or_default())
    }

    /// Where monitoring watches it, if it does.
    pub(crate) fn target(&self) -> Option<&str> {
        self.0.target.as_deref()
    }
}

/// Refers to a machine by its name alone, which is all that a view is asked by.
pub(crate) fn reference(machine: &impl Resource) -> ObjectRef<Packed> {
    let meta = machine.meta();
    let (name, namespace) = (meta.name.as_deref(), meta.namespace.as_deref());
    ObjectRef::new(name.unwrap_or_default()).within(namespace.unwrap_or_default())
}

impl fmt::Debug for Packed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_tuple("Packed");
        shown.field(&self.name_any()).finish()
    }
}

impl<'de> Deserialize<'de> for Packed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Packed, D::Error> {
        let Bare(machine) = Bare::deserialize(deserializer)?;
        Packed::new(machine).map_err(D::Error::custom)
    }
}

impl Resource for Packed {
    named_as_a_machine!();

    fn meta(&self) -> &ObjectMeta {
        &self.0.meta
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut Arc::make_mut(&mut self.0).meta
    }
}

#[cfg(test)]
mod tests;
