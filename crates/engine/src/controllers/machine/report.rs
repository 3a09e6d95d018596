//! The only writer of a Machine's status.

use kube::{
    ResourceExt,
    api::{Patch, PatchParams},
};
use machinist_api::{names, vitistack::Machine};
use machinist_core::{
    dialect::vitistack::{Times, raise},
    machine::Outlook,
};
use serde_json::json;

use super::gather::{Gathered, api};
use crate::{context::Context, error::PassError};

/// How a report ended.
pub(super) enum Reported {
    /// The object as it is now.
    Said(Box<Machine>),
    /// The object changed since it was read; nothing was written.
    Overtaken,
    /// The object is no more.
    Gone,
}

/// Writes the status, when it says something new, on the object as it was read or not at all:
/// what another engine, or an earlier pass, found out since is not put back.
pub(super) async fn report(
    machine: Machine,
    outlook: &Outlook<'_>,
    gathered: &Gathered,
    context: &Context,
) -> Result<Reported, PassError> {
    let times = Times {
        now: context.clock.now(),
    };
    let provider = gathered
        .provider_name
        .as_ref()
        .map(|(_, name)| name.as_str());
    let status = raise(&machine, outlook, provider, times);
    if machine.status.as_ref() == Some(&status) {
        return Ok(Reported::Said(Box::new(machine)));
    }
    let patch = json!({
        "apiVersion": "vitistack.io/v1alpha1",
        "kind": "Machine",
        "metadata": { "uid": machine.uid(), "resourceVersion": machine.resource_version() },
        "status": status,
    });
    let params = PatchParams::apply(names::MACHINE_FIELD_MANAGER).force();
    let written = api(&machine, context)
        .patch_status(&machine.name_any(), &params, &Patch::Apply(&patch))
        .await;
    match written {
        Ok(machine) => Ok(Reported::Said(Box::new(machine))),
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(Reported::Gone),
        Err(kube::Error::Api(status)) if status.code == 409 => Ok(Reported::Overtaken),
        Err(error) => Err(PassError::api("could not write the status")(error)),
    }
}
