//! Carries out one step. It does I/O and makes no choices.

use kube::{
    ResourceExt,
    api::{Patch, PatchParams},
};
use machinist_api::{names, vitistack::Machine};
use machinist_core::{
    machine::{MachineId, Power, Step, Trouble},
    provider::{Change, Provider, ProviderError},
};
use serde_json::json;

use super::gather::{Gathered, api, trouble};
use crate::{context::Context, error::PassError};

/// How a step ended.
pub(super) enum Acted {
    /// It was carried out; the object as it is now, unless it was let go.
    Done(Option<Box<Machine>>),
    /// The platform did not carry it out, or did not say.
    Failed(Trouble),
}

/// Carries out a step.
pub(super) async fn act(
    machine: &Machine,
    step: &Step,
    gathered: &Gathered,
    context: &Context,
) -> Result<Acted, PassError> {
    tracing::info!(
        machine = %machine.name_any(),
        namespace = machine.namespace().unwrap_or_default(),
        step = step.name(),
        "step"
    );
    let outcome = match step {
        Step::Bind => return bind(machine, gathered, context).await,
        Step::Release => return release(machine, context).await,
        Step::Wait(_) | Step::Stall(_) | Step::Settled => Ok(()),
        Step::Create | Step::Power(..) | Step::Restart(_) | Step::Delete(_) => {
            match &gathered.provider {
                Some(provider) => ask(provider.as_ref(), step, gathered).await,
                None => Ok(()),
            }
        }
    };
    let action = step.name();
    match outcome {
        Ok(()) => {
            let note = format!("The provider was asked to {action} the machine.");
            context
                .events
                .normal(machine, reason(step), action, note)
                .await;
            Ok(Acted::Done(Some(Box::new(machine.clone()))))
        }
        Err(error) => {
            let trouble = trouble(&error);
            context
                .events
                .warning(machine, failed(step), action, trouble.message.clone())
                .await;
            Ok(Acted::Failed(trouble))
        }
    }
}

async fn ask(
    provider: &dyn Provider,
    step: &Step,
    gathered: &Gathered,
) -> Result<(), ProviderError> {
    let key = &gathered.key;
    match (step, &gathered.want) {
        (Step::Create, Some(want)) => provider.create(key, want).await.map(drop),
        (Step::Power(id, power), _) => provider.update(key, id, &Change::Power(*power)).await,
        (Step::Restart(id), _) => provider.update(key, id, &Change::Restart).await,
        (Step::Delete(id), _) => delete(provider, gathered, id).await,
        _ => Ok(()),
    }
}

/// Gone already is as good as removed: the next look proves it either way.
async fn delete(
    provider: &dyn Provider,
    gathered: &Gathered,
    id: &MachineId,
) -> Result<(), ProviderError> {
    match provider.delete(&gathered.key, id).await {
        Ok(()) | Err(ProviderError::NotFound { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Makes finalizer, provider and cluster durable in one write, on this very object or not at all.
async fn bind(
    machine: &Machine,
    gathered: &Gathered,
    context: &Context,
) -> Result<Acted, PassError> {
    let Some((namespace, name)) = &gathered.provider_name else {
        return Ok(Acted::Done(Some(Box::new(machine.clone()))));
    };
    let patch = json!({
        "apiVersion": "vitistack.io/v1alpha1",
        "kind": "Machine",
        "metadata": {
            "uid": machine.uid(),
            "resourceVersion": machine.resource_version(),
            "finalizers": [names::MACHINE_FINALIZER],
            "annotations": {
                names::PROVIDER_ANNOTATION: format!("{namespace}/{name}"),
                names::CLUSTER_ANNOTATION: context.cluster,
            },
        },
    });
    let params = PatchParams::apply(names::MACHINE_FIELD_MANAGER).force();
    let bound = api(machine, context)
        .patch(&machine.name_any(), &params, &Patch::Apply(&patch))
        .await
        .map_err(PassError::api("could not bind the machine"))?;
    let note = format!("Bound to MachineProvider {namespace}/{name}.");
    context.events.normal(machine, "Bound", "bind", note).await;
    Ok(Acted::Done(Some(Box::new(bound))))
}

/// Takes our finalizer off, and no one else's. The resource version keeps a stale list from
/// bringing back or dropping another's.
async fn release(machine: &Machine, context: &Context) -> Result<Acted, PassError> {
    let others: Vec<&String> = machine
        .finalizers()
        .iter()
        .filter(|finalizer| *finalizer != names::MACHINE_FINALIZER)
        .collect();
    if others.len() == machine.finalizers().len() {
        return Ok(Acted::Done(None));
    }
    let patch = json!({
        "metadata": {
            "resourceVersion": machine.resource_version(),
            "finalizers": others,
        },
    });
    let params = PatchParams {
        field_manager: Some(names::MACHINE_FIELD_MANAGER.into()),
        ..PatchParams::default()
    };
    let released = api(machine, context)
        .patch(&machine.name_any(), &params, &Patch::Merge(&patch))
        .await;
    match released {
        Ok(_) => {}
        Err(kube::Error::Api(status)) if status.code == 404 => {}
        Err(error) => return Err(PassError::api("could not release the machine")(error)),
    }
    tracing::info!(machine = %machine.name_any(), "released");
    Ok(Acted::Done(None))
}

/// The stable reason of a step's event.
fn reason(step: &Step) -> &'static str {
    match step {
        Step::Bind => "Bound",
        Step::Create => "Created",
        Step::Power(_, Power::On) => "Started",
        Step::Power(_, Power::Off) => "Stopped",
        Step::Restart(_) => "Restarted",
        Step::Delete(_) => "Deleted",
        Step::Release => "Released",
        Step::Wait(_) | Step::Stall(_) | Step::Settled => "Looked",
    }
}

/// The stable reason of the event of a step that failed.
fn failed(step: &Step) -> &'static str {
    match step {
        Step::Bind => "BindFailed",
        Step::Create => "CreateFailed",
        Step::Power(_, Power::On) => "StartFailed",
        Step::Power(_, Power::Off) => "StopFailed",
        Step::Restart(_) => "RestartFailed",
        Step::Delete(_) => "DeleteFailed",
        Step::Release => "ReleaseFailed",
        Step::Wait(_) | Step::Stall(_) | Step::Settled => "LookFailed",
    }
}
