//! The provider controller: connects declared providers and says how they are.

mod connect;
mod poll;
mod report;
mod stock;
mod sweep;

use std::{
    future::Future,
    sync::Arc,
    time::{Duration, Instant},
};

use futures::Stream;
use kube::{
    Api, ResourceExt,
    api::{Patch, PatchParams},
    runtime::{
        controller::Action,
        reflector::{ObjectRef, store::Writer},
        watcher,
    },
};
use machinist_api::{names, vitistack::MachineProvider};
use machinist_core::{
    dialect::vitistack::located,
    machine::Trouble,
    place::Standing,
    provider::{Health, Inventory, Lately},
};
use serde_json::json;

use super::{Parts, declared};
use crate::{
    Readiness,
    connections::{Connection, ProviderName},
    context::Context,
    error::{PassError, chain},
    packed::{self, Packed},
};

/// How often a healthy provider is asked how it is.
const PROBE_EVERY: Duration = Duration::from_secs(60);
/// How often a provider that is to go is checked for machines that still need it.
const IN_USE_EVERY: Duration = Duration::from_secs(5);

/// What one pass found out.
pub(super) struct Findings {
    /// The machines that are bound to it.
    pub(super) machines: Vec<Arc<Packed>>,
    /// The connection and what the probe said, or why there is none.
    pub(super) outcome: Result<(Connection, Health), Trouble>,
    /// How long the probe took.
    pub(super) latency: Option<Duration>,
    /// How it answered lately.
    pub(super) lately: Option<Lately>,
    /// What it was last found to have to offer.
    pub(super) inventory: Option<Arc<Inventory>>,
}

/// Runs the controller until shutdown.
pub(crate) async fn run(
    context: Arc<Context>,
    view: Writer<MachineProvider>,
    due: impl Stream<Item = ObjectRef<MachineProvider>> + Send + 'static,
    shutdown: impl Future<Output = ()> + Send + Sync + 'static,
) {
    let parts = Parts {
        view,
        due,
        declared: |provider| declared(&provider.metadata),
        saw: |context, event| {
            context.tally.touch(String::new());
            if let watcher::Event::Delete(provider) = event {
                context.secrets.follow(&name_of(provider), &[]);
            }
            context.wake(context.placing.provider_event(event));
        },
        listed: Readiness::providers_are_listed,
        reconcile,
        on_error,
    };
    super::run(context, parts, shutdown).await;
}

async fn reconcile(
    provider: Arc<MachineProvider>,
    context: Arc<Context>,
) -> Result<Action, PassError> {
    let began = Instant::now();
    let outcome = pass(&provider, &context).await;
    let ok = outcome.is_ok();
    context.metrics.reconciled("provider", ok, began.elapsed());
    outcome
}

fn on_error(provider: Arc<MachineProvider>, error: &PassError, context: Arc<Context>) -> Action {
    let wait = context.backoff.failed(&provider.uid().unwrap_or_default());
    tracing::warn!(
        provider = %provider.name_any(),
        namespace = provider.namespace().unwrap_or_default(),
        error = %chain(error),
        retry_in = ?wait,
        "pass failed"
    );
    Action::requeue(wait)
}

async fn pass(provider: &MachineProvider, context: &Arc<Context>) -> Result<Action, PassError> {
    let name = name_of(provider);
    let uid = provider.uid().unwrap_or_default();
    let machines = bound_machines(&name, context);
    let deleting = provider.metadata.deletion_timestamp.is_some();
    if deleting && machines.is_empty() {
        context.connections.remove(&name);
        context.secrets.follow(&name, &[]);
        context.backoff.forget(&uid);
        hold(provider, false, context).await?;
        return Ok(Action::await_change());
    }
    if !deleting {
        hold(provider, true, context).await?;
    }
    let before = context.connections.get(&name);
    let connected = connect::connect(provider, before.as_ref(), context).await?;
    let outcome = match connected {
        Ok(connection) => match connection.provider.probe().await {
            Ok(health) => Ok((connection, health)),
            Err(error) => Err(located(provider, super::machine::trouble(&error))),
        },
        Err(trouble) => Err(located(provider, trouble)),
    };
    let track = context.connections.track(&name);
    let mut findings = Findings {
        machines,
        outcome,
        latency: track.probe(),
        lately: track.lately(),
        inventory: track.stock(),
    };
    remember(name.clone(), before, &findings, context);
    offer(provider, &findings, context);
    report::report(provider, &findings, context).await?;
    if let Ok((connection, _)) = &findings.outcome
        && !deleting
    {
        sweep::sweep(provider, connection.provider.as_ref(), context).await?;
        if let Some(news) = stock::news(&name, connection, context).await {
            findings.inventory = Some(news);
            report::write(provider, &findings, context).await?;
        }
    }
    Ok(match &findings.outcome {
        Ok(_) => {
            context.backoff.forget(&uid);
            Action::requeue(if deleting { IN_USE_EVERY } else { PROBE_EVERY })
        }
        Err(_) => Action::requeue(context.backoff.failed(&uid)),
    })
}

pub(super) fn name_of(provider: &MachineProvider) -> ProviderName {
    (
        provider.namespace().unwrap_or_default(),
        provider.name_any(),
    )
}

/// Keeps what was found out, and wakes the machines when that is news to them: the provider came
/// or went, or is declared otherwise. Other credentials are not: the next call is made with them.
fn remember(
    name: ProviderName,
    before: Option<crate::connections::Attempt>,
    findings: &Findings,
    context: &Context,
) {
    let before = before.map(|attempt| attempt.ok().map(|connection| connection.fingerprint));
    let now = findings.outcome.as_ref().ok();
    let news = before != Some(now.map(|(connection, _)| connection.fingerprint.clone()));
    let attempt = match &findings.outcome {
        Ok((connection, _)) => Ok(connection.clone()),
        Err(trouble) => Err(trouble.clone()),
    };
    context.connections.put(name, attempt);
    if news {
        context
            .machines
            .state()
            .iter()
            .for_each(|machine| context.hint(packed::reference(machine.as_ref())));
    }
}

/// Tells the scheduler how the provider is.
fn offer(provider: &MachineProvider, findings: &Findings, context: &Context) {
    let (standing, health) = match &findings.outcome {
        Ok((_, health)) => {
            let score = findings.lately.map_or(100, |lately| lately.score());
            // In steps, so that not every call is news to those who wait for a place.
            (Standing::Ready(score / 10 * 10), Some(health))
        }
        Err(trouble) => (Standing::NotReady(trouble.message.as_str().into()), None),
    };
    context.wake(context.placing.looked(provider, standing, health));
}

fn bound_machines((namespace, name): &ProviderName, context: &Context) -> Vec<Arc<Packed>> {
    let wanted = format!("{namespace}/{name}");
    let mut machines = context.machines.state();
    machines.retain(|machine| machine.provider() == Some(wanted.as_str()));
    machines
}

/// Puts our finalizer on or takes it off: a provider stays while machines need it.
async fn hold(
    provider: &MachineProvider,
    wanted: bool,
    context: &Context,
) -> Result<(), PassError> {
    let held = |finalizer: &String| finalizer == names::PROVIDER_FINALIZER;
    if provider.finalizers().iter().any(held) == wanted {
        return Ok(());
    }
    let mut finalizers = provider.finalizers().to_vec();
    finalizers.retain(|finalizer| !held(finalizer));
    if wanted {
        finalizers.push(names::PROVIDER_FINALIZER.into());
    }
    let patch = json!({
        "metadata": {
            "resourceVersion": provider.resource_version(),
            "finalizers": finalizers,
        },
    });
    let params = PatchParams {
        field_manager: Some(names::PROVIDER_FIELD_MANAGER.into()),
        ..PatchParams::default()
    };
    let (namespace, name) = name_of(provider);
    let api: Api<MachineProvider> = Api::namespaced(context.client.clone(), &namespace);
    match api.patch(&name, &params, &Patch::Merge(&patch)).await {
        Ok(_) => Ok(()),
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
        Err(error) => Err(PassError::api("could not write the provider's finalizer")(
            error,
        )),
    }
}
