//! What every controller shares.

use std::{
    collections::HashSet,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures::channel::mpsc::UnboundedSender;
use kube::{
    Client,
    runtime::reflector::{ObjectRef, Store, store::Writer},
};
use machinist_api::vitistack::{Machine, MachineProvider};
use machinist_core::provider::Connect;

use crate::{
    Clock, Engine, Metrics,
    backoff::Backoff,
    connections::{Connections, ProviderName},
    events::Events,
};

/// What every controller shares.
pub(crate) struct Context {
    pub(crate) client: Client,
    pub(crate) connect: Arc<dyn Connect>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) metrics: Metrics,
    pub(crate) events: Events,
    pub(crate) backoff: Backoff,
    pub(crate) connections: Connections,
    /// The UID that stands for the cluster, half of every machine's key.
    pub(crate) cluster: String,
    /// All Machines, as last seen.
    pub(crate) machines: Store<Machine>,
    /// All MachineProviders, as last seen.
    pub(crate) providers: Store<MachineProvider>,
    /// Whether the first list of providers is complete. The view's own signal is not asked: it
    /// wakes one waiter only, and its controller is that one.
    providers_listed: AtomicBool,
    /// The same for machines.
    machines_listed: AtomicBool,
    hints: UnboundedSender<ObjectRef<Machine>>,
    provider_hints: UnboundedSender<ObjectRef<MachineProvider>>,
    /// Providers that are about to be looked at, because their machines changed.
    recounting: Mutex<HashSet<ProviderName>>,
}

/// How long changes of a provider's machines are gathered before it is looked at.
const RECOUNT_AFTER: Duration = Duration::from_secs(1);

/// The sending ends of the controllers' queues.
pub(crate) struct Queues {
    pub(crate) machines: UnboundedSender<ObjectRef<Machine>>,
    pub(crate) providers: UnboundedSender<ObjectRef<MachineProvider>>,
}

/// The writing ends of the shared views; each goes to the controller of its kind.
pub(crate) struct Views {
    pub(crate) machines: Writer<Machine>,
    pub(crate) providers: Writer<MachineProvider>,
}

impl Context {
    pub(crate) fn new(engine: Engine, cluster: String, queues: Queues) -> (Context, Views) {
        let views = Views {
            machines: Writer::default(),
            providers: Writer::default(),
        };
        let Engine {
            client,
            connect,
            clock,
            metrics,
        } = engine;
        let context = Context {
            events: Events::new(client.clone()),
            client,
            connect,
            clock,
            metrics,
            backoff: Backoff::default(),
            connections: Connections::default(),
            cluster,
            machines: views.machines.as_reader(),
            providers: views.providers.as_reader(),
            providers_listed: AtomicBool::default(),
            machines_listed: AtomicBool::default(),
            hints: queues.machines,
            provider_hints: queues.providers,
            recounting: Mutex::default(),
        };
        (context, views)
    }

    /// Says that the view of providers is complete.
    pub(crate) fn providers_are_listed(&self) {
        self.providers_listed.store(true, Ordering::Release);
    }

    /// Says that the view of machines is complete.
    pub(crate) fn machines_are_listed(&self) {
        self.machines_listed.store(true, Ordering::Release);
    }

    /// Whether every controller has begun to work.
    pub(crate) fn is_at_work(&self) -> bool {
        self.knows_providers() && self.machines_listed.load(Ordering::Acquire)
    }

    /// Whether a provider that is not in the view does not exist.
    pub(crate) fn knows_providers(&self) -> bool {
        self.providers_listed.load(Ordering::Acquire)
    }

    /// Asks for a pass over a machine. A closed queue means that the engine is ending.
    pub(crate) fn hint(&self, machine: &Machine) {
        let _ = self.hints.unbounded_send(ObjectRef::from_obj(machine));
    }

    /// Asks for a pass over the machine of this UID, if it is still there.
    pub(crate) fn hint_uid(&self, uid: &str) {
        let found = self
            .machines
            .find(|machine| machine.metadata.uid.as_deref() == Some(uid));
        if let Some(machine) = found {
            self.hint(&machine);
        }
    }

    /// Asks for a pass over a provider, because a machine came to it or left it. Many at once
    /// are one pass.
    pub(crate) fn recount(self: &Arc<Context>, provider: &ProviderName) {
        if !self.recounting().insert(provider.clone()) {
            return;
        }
        let (context, provider) = (self.clone(), provider.clone());
        tokio::spawn(async move {
            tokio::time::sleep(RECOUNT_AFTER).await;
            context.recounting().remove(&provider);
            let (namespace, name) = provider;
            let reference = ObjectRef::new(&name).within(&namespace);
            let _ = context.provider_hints.unbounded_send(reference);
        });
    }

    fn recounting(&self) -> MutexGuard<'_, HashSet<ProviderName>> {
        self.recounting
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
