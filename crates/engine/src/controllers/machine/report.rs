//! The only writer of a Machine's status.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{
    ResourceExt,
    api::{Patch, PatchParams},
};
use machinist_api::{conditions, names, vitistack::Machine};
use machinist_core::{
    dialect::vitistack::{Times, raise},
    machine::{Outlook, Step},
};
use serde_json::json;

use super::gather::{Gathered, api, known_id};
use crate::{context::Context, error::PassError, packed::Bare, trace};

/// How a report ended.
pub(super) enum Reported {
    /// There was nothing new to say.
    Nothing,
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
    machine: &Machine,
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
    let status = raise(machine, outlook, provider, times);
    if machine.status.as_ref() == Some(&status) {
        return Ok(Reported::Nothing);
    }
    let patch = json!({
        "apiVersion": "vitistack.io/v1alpha1",
        "kind": "Machine",
        "metadata": { "uid": machine.uid(), "resourceVersion": machine.resource_version() },
        "status": status,
    });
    let params = PatchParams::apply(names::MACHINE_FIELD_MANAGER).force();
    let written = api(machine, context)
        .patch_status(&machine.name_any(), &params, &Patch::Apply(&patch))
        .await;
    match written {
        Ok(Bare(machine)) => {
            let version = machine.resource_version().unwrap_or_default();
            let uid = machine.uid().unwrap_or_default();
            context.written.put(&uid, &version);
            trace::note(|span| {
                span.set("machinist.step", outlook.step.name());
                let phase = status.phase.map(|phase| phase.to_string());
                span.set("machinist.phase", phase.unwrap_or_default());
            });
            Ok(Reported::Said(Box::new(machine)))
        }
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(Reported::Gone),
        Err(kube::Error::Api(status)) if status.code == 409 => Ok(Reported::Overtaken),
        Err(error) => Err(PassError::api("could not write the status")(error)),
    }
}

/// Posts what a person must learn besides what is done: that a change costs a restart, that a
/// machine vanished behind everybody's back, and that only a person can help, once each.
pub(super) async fn announce(
    before: &Machine,
    machine: &Machine,
    outlook: &Outlook<'_>,
    context: &Context,
) {
    let events = &context.events;
    let action = outlook.step.name();
    if let Some(note) = outlook.announcement() {
        events.normal(machine, "RestartNeeded", action, note).await;
    }
    if let (Step::Create, Some(id)) = (outlook.step, known_id(before)) {
        let note = format!(
            "Machine {id} is no more at the provider, and was not removed from here; it is made anew as declared."
        );
        events.warning(machine, "Vanished", action, note).await;
    }
    if let (Step::Stall(_), Some(now)) = (outlook.step, stalled(machine))
        && stalled(before).map(|before| &before.reason) != Some(&now.reason)
    {
        let note = now.message.clone();
        events.warning(machine, &now.reason, action, note).await;
    }
}

fn stalled(machine: &Machine) -> Option<&Condition> {
    let conditions = &machine.status.as_ref()?.conditions;
    let found = conditions::find(conditions, conditions::STALLED);
    found.filter(|condition| condition.status == "True")
}
