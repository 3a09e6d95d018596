//! The shell around the brain: controllers, queues, events, metrics, clock.
//!
//! # Flow
//! A controller *gathers* (the object, its provider, what the platform shows), asks the
//! brain for one step, *reports* it in the object's status and *acts*; then it looks
//! again. Gathering has no opinions, acting makes no choices, and reporting is the only
//! writer of status.
//!
//! # Guarantees
//! State is reached only through [`kube::Client`], so an embedded server and a real
//! cluster are one path. Before a step that changes a platform the object is read afresh,
//! so a stale cache cannot cause a create or a delete.
//!
//! # What it leaves to others
//! What a step should be (`machinist-core`), how a platform carries it out (a
//! [`Provider`](machinist_core::provider::Provider)), and how a declared provider becomes
//! a connected one ([`Connect`](machinist_core::provider::Connect)).

mod backoff;
mod births;
mod clock;
mod connections;
mod context;
mod controllers;
mod courteous;
mod election;
mod error;
mod events;
pub mod journal;
mod looking;
mod metered;
mod metrics;
mod notices;
mod packed;
mod phases;
mod placing;
pub mod quota;
mod readiness;
mod secrets;
mod sweep;
mod tally;
#[cfg(test)]
mod testing;
pub mod trace;
mod track;
mod written;

use std::{future::Future, pin::pin, sync::Arc, time::Duration};

use futures::{FutureExt, future};
use k8s_openapi::api::core::v1::Namespace;
use kube::{Api, Client};
use machinist_api::vitistack::{KubevirtConfig, ProxmoxConfig};
use machinist_core::provider::Connect;

pub use clock::{Clock, SystemClock};
pub use election::{Election, Leadership};
pub use error::EngineError;
pub use metrics::Metrics;
pub use readiness::Readiness;

use context::{Context, Queues};

/// The namespace whose UID stands for the whole cluster: it is there from the start and
/// cannot be deleted.
const CLUSTER_NAMESPACE: &str = "kube-system";

/// How long running passes may take to end when the engine is told to.
const FAREWELL: Duration = Duration::from_secs(10);

/// Everything that the engine is given.
pub struct Engine {
    /// The API server, embedded or real.
    pub client: Client,
    /// Builds drivers.
    pub connect: Arc<dyn Connect>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Where the engine counts what it does.
    pub metrics: Metrics,
    /// Where the engine says that it has begun to work.
    pub readiness: Readiness,
    /// Where spans go, if anywhere.
    pub tracer: trace::Tracer,
    /// Where what Vitistacks have collected goes, if anywhere.
    pub journal: journal::Journal,
}

impl Engine {
    /// Runs all controllers until `shutdown` resolves, then lets running passes end.
    ///
    /// # Errors
    /// When the cluster cannot be identified, or a controller cannot start.
    pub async fn run(
        self,
        shutdown: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), EngineError> {
        let cluster = cluster_uid(&self.client).await?;
        tracing::info!(%cluster, "engine started");
        let shutdown = shutdown.shared();
        let (machines, due_machines) = futures::channel::mpsc::unbounded();
        let (providers, due_providers) = futures::channel::mpsc::unbounded();
        let queues = Queues {
            machines,
            providers,
        };
        let (context, views) = Context::new(self, cluster, queues);
        let context = Arc::new(context);
        let machines = controllers::machine::run(
            context.clone(),
            views.machines,
            due_machines,
            shutdown.clone(),
        );
        let providers = controllers::provider::run(
            context.clone(),
            views.providers,
            due_providers,
            shutdown.clone(),
        );
        let stacks = controllers::vitistack::run(context.clone(), views.stacks, shutdown.clone());
        let kubevirt =
            controllers::platform::run::<KubevirtConfig>(context.clone(), shutdown.clone());
        let proxmox =
            controllers::platform::run::<ProxmoxConfig>(context.clone(), shutdown.clone());
        // A server without Vitistacks never lists them; nothing waits for that.
        let stacks = future::join3(stacks, kubevirt, proxmox).then(|_| future::pending::<()>());
        let machines = future::join(machines, providers);
        let work = pin!(async move {
            let (machines, stacks) = (pin!(machines), pin!(stacks));
            future::select(machines, stacks).await;
        });
        // A controller that was stopped before its first list is complete never ends by itself,
        // and a pass that hangs must not hold the program: what it leaves is found again.
        let limit = pin!(async move {
            shutdown.await;
            if context.readiness.is_ready() {
                tokio::time::sleep(FAREWELL).await;
            }
        });
        future::select(work, limit).await;
        Ok(())
    }
}

async fn cluster_uid(client: &Client) -> Result<String, EngineError> {
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let namespace = namespaces
        .get(CLUSTER_NAMESPACE)
        .await
        .map_err(EngineError::ClusterIdentity)?;
    namespace.metadata.uid.ok_or(EngineError::ClusterUid)
}
