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

/// Writes the status, when it says something new. Returns the object as it is then, or
/// nothing when it is gone.
pub(super) async fn report(
    machine: Machine,
    outlook: &Outlook<'_>,
    gathered: &Gathered,
    context: &Context,
) -> Result<Option<Machine>, PassError> {
    let times = Times {
        now: context.clock.now(),
    };
    let provider = gathered
        .provider_name
        .as_ref()
        .map(|(_, name)| name.as_str());
    let status = raise(&machine, outlook, provider, times);
    if machine.status.as_ref() == Some(&status) {
        return Ok(Some(machine));
    }
    let patch = json!({
        "apiVersion": "vitistack.io/v1alpha1",
        "kind": "Machine",
        "metadata": { "uid": machine.uid() },
        "status": status,
    });
    let params = PatchParams::apply(names::MACHINE_FIELD_MANAGER).force();
    let written = api(&machine, context)
        .patch_status(&machine.name_any(), &params, &Patch::Apply(&patch))
        .await;
    match written {
        Ok(machine) => Ok(Some(machine)),
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(None),
        Err(error) => Err(PassError::api("could not write the status")(error)),
    }
}
