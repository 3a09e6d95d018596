//! The only writer of a Vitistack's status.

use kube::{
    Api, ResourceExt,
    api::{Patch, PatchParams},
};
use machinist_api::{conditions, names, vitistack::Vitistack};
use machinist_core::dialect::vitistack::{StackOutlook, raise_stack};
use serde_json::json;

use crate::{context::Context, error::PassError};

/// Writes the status, when it says something new.
pub(super) async fn report(
    stack: &Vitistack,
    outlook: &StackOutlook<'_>,
    context: &Context,
) -> Result<(), PassError> {
    let status = raise_stack(stack, outlook);
    if stack.status.as_ref() == Some(&status) {
        return Ok(());
    }
    let reason = |all: &[_], kind| conditions::find(all, kind).map(|c| c.reason.clone());
    let old = stack
        .status
        .as_ref()
        .map(|status| status.conditions.as_slice());
    for kind in [
        conditions::READY,
        conditions::QUOTA_AVAILABLE,
        conditions::LOGS_COLLECTED,
        conditions::TARGETS_PUBLISHED,
    ] {
        let now = conditions::find(&status.conditions, kind).filter(|c| c.status == "False");
        if let Some(now) = now
            && reason(old.unwrap_or_default(), kind).as_ref() != Some(&now.reason)
        {
            let note = now.message.clone();
            let events = &context.events;
            events.warning(stack, &now.reason, "look", note).await;
        }
    }
    let patch = json!({
        "apiVersion": "vitistack.io/v1alpha1",
        "kind": "Vitistack",
        "metadata": { "uid": stack.uid() },
        "status": status,
    });
    let namespace = stack.namespace().unwrap_or_default();
    let api: Api<Vitistack> = Api::namespaced(context.client.clone(), &namespace);
    let params = PatchParams::apply(names::STACK_FIELD_MANAGER).force();
    let written = api
        .patch_status(&stack.name_any(), &params, &Patch::Apply(&patch))
        .await;
    match written {
        Ok(_) => Ok(()),
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
        Err(error) => Err(PassError::api("could not write the Vitistack's status")(
            error,
        )),
    }
}
