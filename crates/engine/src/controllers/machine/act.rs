//! Carries out one step. It does I/O and makes no choices.

use kube::{
    ResourceExt,
    api::{Patch, PatchParams},
};
use machinist_api::{names, vitistack::Machine};
use machinist_core::{
    machine::{Change, Power, Step, Trouble, Want},
    provider::{Provider, ProviderError},
};
use serde_json::json;

use super::gather::{Gathered, Told, api, trouble};
use crate::{context::Context, error::PassError, packed::Bare, trace};

/// How a step ended.
pub(super) enum Acted {
    /// It was carried out, and this was learnt about the platform.
    Done(Told),
    /// The object is bound now, and is this.
    Bound(Box<Machine>),
    /// The object changed since it was read, or is gone; nothing was done.
    Overtaken,
    /// The object was let go.
    Gone,
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
    let provider_name = gathered.provider_name.as_ref();
    let attempt = context.backoff.count(&machine.uid().unwrap_or_default()) + 1;
    trace::note(|span| {
        if let Some((namespace, name)) = provider_name {
            span.set("machinist.provider", format!("{namespace}/{name}"));
        }
        span.set("machinist.step", step.name());
        span.set("machinist.attempt", attempt);
    });
    tracing::info!(
        machine = %machine.name_any(),
        namespace = machine.namespace().unwrap_or_default(),
        provider = provider_name.map(|(_, name)| name.as_str()).unwrap_or_default(),
        step = step.name(),
        attempt,
        "step"
    );
    let outcome = match step {
        Step::Bind => return bind(machine, gathered, context).await,
        Step::Release => return release(machine, context).await,
        Step::Wait(_) | Step::Stall(_) | Step::Settled => Ok(Told::Nothing),
        Step::Create | Step::Reclaim | Step::Update(..) | Step::Delete(_) => {
            match &gathered.provider {
                Some(provider) => ask(provider.as_ref(), step, gathered).await,
                None => Ok(Told::Nothing),
            }
        }
    };
    let action = step.name();
    match outcome {
        Ok(told) => {
            let note = format!("The provider was asked to {action} the machine.");
            context
                .events
                .normal(machine, done(step), action, note)
                .await;
            Ok(Acted::Done(told))
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
) -> Result<Told, ProviderError> {
    let key = &gathered.key;
    match (step, &gathered.want) {
        (Step::Create, Some(want)) => {
            let facts = provider.create(key, &want.at_birth()).await?;
            Ok(Told::Machine(Box::new(facts)))
        }
        (Step::Reclaim, Some(want)) => reclaim(provider, gathered, want).await,
        (Step::Update(id, change), _) => {
            provider.update(key, id, change).await?;
            Ok(Told::Nothing)
        }
        (Step::Delete(id), want) => {
            let grace = want.as_ref().and_then(|want| want.grace);
            match provider.delete(key, id, grace).await {
                // Gone already is as good as removed: the next look proves it either way.
                Ok(()) | Err(ProviderError::NotFound { .. }) => Ok(Told::Nothing),
                Err(error) => Err(error),
            }
        }
        _ => Ok(Told::Nothing),
    }
}

/// Asks for the machine under its key, not to be started. The platform answers with the one
/// that there is; where it refuses, there is none.
async fn reclaim(
    provider: &dyn Provider,
    gathered: &Gathered,
    want: &Want,
) -> Result<Told, ProviderError> {
    let idle = Want {
        power: Power::Off,
        ..want.at_birth().into_owned()
    };
    match provider.create(&gathered.key, &idle).await {
        Ok(facts) => Ok(Told::Machine(Box::new(facts))),
        Err(
            ProviderError::Rejected { .. }
            | ProviderError::NoCapacity { .. }
            | ProviderError::Unsupported { .. },
        ) => Ok(Told::Absent),
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
        return Ok(Acted::Done(Told::Nothing));
    };
    let mut annotations = json!({
        names::PROVIDER_ANNOTATION: format!("{namespace}/{name}"),
        names::CLUSTER_ANNOTATION: &*context.cluster,
    });
    if let Some(note) = &gathered.placement {
        annotations[names::PLACEMENT_ANNOTATION] = note.as_str().into();
    }
    let patch = json!({
        "apiVersion": "vitistack.io/v1alpha1",
        "kind": "Machine",
        "metadata": {
            "uid": machine.uid(),
            "resourceVersion": machine.resource_version(),
            "finalizers": [names::MACHINE_FINALIZER],
            "annotations": annotations,
        },
    });
    let params = PatchParams::apply(names::MACHINE_FIELD_MANAGER).force();
    let bound = api(machine, context)
        .patch(&machine.name_any(), &params, &Patch::Apply(&patch))
        .await;
    let bound = match bound {
        Ok(Bare(bound)) => bound,
        Err(kube::Error::Api(status)) if [404, 409].contains(&status.code) => {
            return Ok(Acted::Overtaken);
        }
        Err(error) => return Err(PassError::api("could not bind the machine")(error)),
    };
    let note = match &gathered.placement {
        Some(note) => format!("Bound. {note}"),
        None => format!("Bound to MachineProvider {namespace}/{name}."),
    };
    context.events.normal(machine, "Bound", "bind", note).await;
    Ok(Acted::Bound(Box::new(bound)))
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
        return Ok(Acted::Gone);
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
    Ok(Acted::Gone)
}

/// The stable reasons of a step's events: when it was carried out, and when it failed.
fn reasons(step: &Step) -> (&'static str, &'static str) {
    match step {
        Step::Bind => ("Bound", "BindFailed"),
        Step::Create => ("Created", "CreateFailed"),
        Step::Reclaim => ("Reclaimed", "ReclaimFailed"),
        Step::Update(_, Change::Start) => ("Started", "StartFailed"),
        Step::Update(_, Change::Stop { .. }) => ("Stopped", "StopFailed"),
        Step::Update(_, Change::Restart { .. }) => ("Restarted", "RestartFailed"),
        Step::Update(_, Change::Resize(_)) => ("Resized", "ResizeFailed"),
        Step::Update(_, Change::AttachDisk(_)) => ("DiskAttached", "AttachDiskFailed"),
        Step::Update(_, Change::DetachDisk(_)) => ("DiskDetached", "DetachDiskFailed"),
        Step::Update(_, Change::GrowDisk { .. }) => ("DiskEnlarged", "GrowDiskFailed"),
        Step::Update(_, Change::AttachNic(_)) => ("InterfaceAttached", "AttachInterfaceFailed"),
        Step::Update(_, Change::DetachNic(_)) => ("InterfaceDetached", "DetachInterfaceFailed"),
        Step::Update(_, Change::Tags(_)) => ("Tagged", "TagFailed"),
        Step::Delete(_) => ("Deleted", "DeleteFailed"),
        Step::Release => ("Released", "ReleaseFailed"),
        Step::Wait(_) | Step::Stall(_) | Step::Settled => ("Looked", "LookFailed"),
    }
}

fn done(step: &Step) -> &'static str {
    reasons(step).0
}

fn failed(step: &Step) -> &'static str {
    reasons(step).1
}
