//! The Vitistack controller: inline providers become MachineProviders, and the status says what the
//! namespace has, how its providers are, and how its quotas stand.
//!
//! Holding to the quotas is left to the gate (`crate::quota`), which a server asks at admission.

mod providers;
mod report;
mod targets;

use std::{
    future::Future,
    sync::Arc,
    time::{Duration, Instant},
};

use futures::{Stream, StreamExt, stream};
use kube::{
    Api, ResourceExt,
    api::ListParams,
    runtime::{
        controller::Action,
        reflector::{ObjectRef, store::Writer},
        watcher,
    },
};
use machinist_api::vitistack::{NetworkConfiguration, Vitistack};
use machinist_core::{
    dialect::vitistack::{StackOutlook, Totals, governing, limits, log_endpoint},
    quota::Limits,
};

pub(crate) use self::targets::Written as WrittenTargets;
use super::{Parts, declared};
use crate::{
    context::Context,
    error::{PassError, chain},
};

/// How often a Vitistack is looked at when nothing is known to have changed: networks are counted.
const LOOK_AGAIN: Duration = Duration::from_secs(15);
/// How long changes of a namespace are gathered before its Vitistack is looked at.
const GATHER: Duration = Duration::from_secs(1);

/// Runs the controller until shutdown.
pub(crate) async fn run(
    context: Arc<Context>,
    view: Writer<Vitistack>,
    shutdown: impl Future<Output = ()> + Send + Sync + 'static,
) {
    let parts = Parts {
        view,
        due: due(context.clone()),
        declared: |stack| declared(&stack.metadata),
        saw: |context, event| {
            // Another one may have the namespace now.
            if let watcher::Event::Delete(stack) = event {
                let namespace = stack.namespace().unwrap_or_default();
                context.placing.limit(&namespace, None);
                count(context, &namespace, &Limits::default(), &Totals::default());
                context.tally.touch(namespace);
            }
        },
        listed: |_| {},
        reconcile,
        on_error,
    };
    super::run(context, parts, shutdown).await;
}

/// The Vitistacks of namespaces that changed.
fn due(context: Arc<Context>) -> impl Stream<Item = ObjectRef<Vitistack>> + Send + 'static {
    let changed = stream::unfold(context, |context| async move {
        context.tally.changed().await;
        tokio::time::sleep(GATHER).await;
        let namespaces = context.tally.take_changed();
        let stacks = context.stacks.state().into_iter().filter(|stack| {
            let namespace = stack.namespace().unwrap_or_default();
            namespaces.contains(&namespace) || namespaces.contains("")
        });
        let due: Vec<_> = stacks.map(|s| ObjectRef::from_obj(s.as_ref())).collect();
        Some((stream::iter(due), context))
    });
    changed.flatten()
}

async fn reconcile(stack: Arc<Vitistack>, context: Arc<Context>) -> Result<Action, PassError> {
    let began = Instant::now();
    let outcome = pass(&stack, &context).await;
    let ok = outcome.is_ok();
    context.metrics.reconciled("vitistack", ok, began.elapsed());
    outcome
}

async fn pass(stack: &Vitistack, context: &Context) -> Result<Action, PassError> {
    if stack.metadata.deletion_timestamp.is_some() {
        targets::keep(stack, false, context).await?;
        return Ok(Action::await_change());
    }
    let namespace = stack.namespace().unwrap_or_default();
    let mut here = context.stacks.state();
    here.retain(|other| other.metadata.namespace == stack.metadata.namespace);
    let governing = governing(here.iter().map(AsRef::as_ref));
    let other = governing.filter(|governing| governing.metadata.uid != stack.metadata.uid);
    let claimed_by = other.map(ResourceExt::name_any);
    let mut refused = providers::Refused::new();
    if claimed_by.is_none() {
        context
            .placing
            .limit(&namespace, limits(stack).per_provider);
        refused = providers::keep(stack, context).await?;
    }
    let networks: Api<NetworkConfiguration> = Api::namespaced(context.client.clone(), &namespace);
    let networks = match networks.list_metadata(&ListParams::default()).await {
        Ok(networks) => networks.items.len() as u64,
        // A server that does not have the kind has none of them.
        Err(kube::Error::Api(status)) if status.code == 404 => 0,
        Err(error) => return Err(PassError::api("could not count the networks")(error)),
    };
    let totals = Totals {
        networks,
        ..context.tally.totals(&namespace)
    };
    if claimed_by.is_none() {
        count(context, &namespace, &limits(stack), &totals);
    }
    let targets = targets::keep(stack, claimed_by.is_none(), context).await?;
    let logs = log_endpoint(stack).and_then(|endpoint| context.journal.standing(endpoint));
    let providers = providers::find(stack, &refused, context);
    let outlook = StackOutlook {
        claimed_by: claimed_by.as_deref(),
        providers: &providers,
        totals: &totals,
        logs: logs.as_ref(),
        targets: targets.as_ref(),
        now: context.clock.now(),
    };
    report::report(stack, &outlook, context).await?;
    context.backoff.forget(&stack.uid().unwrap_or_default());
    Ok(Action::requeue(LOOK_AGAIN))
}

/// Publishes how the quotas of a namespace stand.
fn count(context: &Context, namespace: &str, limits: &Limits, totals: &Totals) {
    for (resource, used, limit) in [
        ("machines", totals.machines, limits.machines),
        ("storage", totals.storage, limits.storage),
        ("networks", totals.networks, limits.networks),
    ] {
        context.metrics.quota(namespace, resource, used, limit);
    }
}

fn on_error(stack: Arc<Vitistack>, error: &PassError, context: Arc<Context>) -> Action {
    let wait = context.backoff.failed(&stack.uid().unwrap_or_default());
    tracing::warn!(stack = %stack.name_any(), error = %chain(error), retry_in = ?wait, "pass failed");
    Action::requeue(wait)
}
