//! What every controller shares.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures::channel::mpsc::UnboundedSender;
use kube::{
    Client,
    runtime::reflector::{ObjectRef, Store, store::Writer},
};
use machinist_api::vitistack::{MachineProvider, Vitistack};
use machinist_core::provider::Connect;

use crate::{
    Clock, Engine, Metrics, Readiness,
    backoff::Backoff,
    births::Births,
    connections::{Connections, ProviderName},
    controllers::vitistack::WrittenTargets,
    events::Events,
    journal::Journal,
    notices::Notices,
    packed::Packed,
    phases::Phases,
    placing::{Placing, Woken},
    secrets::Secrets,
    sweep::Sweep,
    tally::Tally,
    trace::Tracer,
    written::Written,
};

/// What every controller shares.
pub(crate) struct Context {
    pub(crate) client: Client,
    pub(crate) connect: Arc<dyn Connect>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) metrics: Metrics,
    pub(crate) tracer: Tracer,
    pub(crate) events: Events,
    /// How what is told to collectors of logs fares.
    pub(crate) journal: Journal,
    pub(crate) backoff: Backoff,
    pub(crate) written: Written,
    pub(crate) connections: Connections,
    /// The Secrets that providers refer to.
    pub(crate) secrets: Secrets,
    /// What was last seen of each machine.
    pub(crate) notices: Arc<Notices>,
    /// Where machines that name no provider are placed.
    pub(crate) placing: Placing,
    /// How much each namespace has.
    pub(crate) tally: Tally,
    /// Which machine is in which phase since when.
    pub(crate) phases: Phases,
    /// What monitoring was last told of each Vitistack's machines.
    pub(crate) targets: WrittenTargets,
    /// How many machines were begun of late.
    pub(crate) births: Births,
    /// The UID that stands for the cluster, half of every machine's key.
    pub(crate) cluster: Arc<str>,
    /// All Machines, as last seen.
    pub(crate) machines: Store<Packed>,
    /// All MachineProviders, as last seen.
    pub(crate) providers: Store<MachineProvider>,
    /// All Vitistacks, as last seen.
    pub(crate) stacks: Store<Vitistack>,
    /// Which views are complete. The views' own signals are not asked: each wakes one waiter
    /// only, and its controller is that one.
    pub(crate) readiness: Readiness,
    hints: UnboundedSender<ObjectRef<Packed>>,
    provider_hints: UnboundedSender<ObjectRef<MachineProvider>>,
    /// Providers that are about to be looked at, because their machines changed.
    recounting: Mutex<HashSet<ProviderName>>,
    /// What was found of orphans, by provider.
    sweeps: Mutex<HashMap<ProviderName, Sweep>>,
}

/// How long changes of a provider's machines are gathered before it is looked at.
const RECOUNT_AFTER: Duration = Duration::from_secs(1);

/// The sending ends of the controllers' queues.
pub(crate) struct Queues {
    pub(crate) machines: UnboundedSender<ObjectRef<Packed>>,
    pub(crate) providers: UnboundedSender<ObjectRef<MachineProvider>>,
}

/// The writing ends of the shared views; each goes to the controller of its kind.
pub(crate) struct Views {
    pub(crate) machines: Writer<Packed>,
    pub(crate) providers: Writer<MachineProvider>,
    pub(crate) stacks: Writer<Vitistack>,
}

impl Context {
    pub(crate) fn new(engine: Engine, cluster: String, queues: Queues) -> (Context, Views) {
        let views = Views {
            machines: Writer::default(),
            providers: Writer::default(),
            stacks: Writer::default(),
        };
        let Engine {
            client,
            connect,
            clock,
            metrics,
            readiness,
            tracer,
            journal,
        } = engine;
        let due = queues.providers.clone();
        let hint = move |(namespace, name): &ProviderName| {
            // A closed queue means that the engine is ending.
            let _ = due.unbounded_send(ObjectRef::new(name).within(namespace));
        };
        let context = Context {
            secrets: Secrets::new(client.clone(), Arc::new(hint)),
            events: Events::new(
                client.clone(),
                clock.clone(),
                journal.clone(),
                views.stacks.as_reader(),
            ),
            journal,
            client,
            connect,
            clock,
            metrics,
            tracer,
            backoff: Backoff::default(),
            written: Written::default(),
            connections: Connections::default(),
            notices: Arc::default(),
            placing: Placing::default(),
            tally: Tally::default(),
            phases: Phases::default(),
            targets: WrittenTargets::default(),
            births: Births::default(),
            cluster: cluster.into(),
            machines: views.machines.as_reader(),
            providers: views.providers.as_reader(),
            stacks: views.stacks.as_reader(),
            readiness,
            hints: queues.machines,
            provider_hints: queues.providers,
            recounting: Mutex::default(),
            sweeps: Mutex::default(),
        };
        (context, views)
    }

    /// Forgets what was remembered about an object that is gone.
    pub(crate) fn forget(&self, uid: &str) {
        self.written.forget(uid);
        self.backoff.forget(uid);
        self.notices.forget(uid);
        self.wake(self.placing.forget(uid));
    }

    /// Asks for a pass over machines that waited for a place.
    pub(crate) fn wake(&self, machines: Woken) {
        machines.into_iter().for_each(|machine| self.hint(machine));
    }

    /// Asks for a pass over a machine. A closed queue means that the engine is ending.
    pub(crate) fn hint(&self, machine: ObjectRef<Packed>) {
        let _ = self.hints.unbounded_send(machine);
    }

    /// Asks for a pass over the machine of this UID, if there was one already; the first comes
    /// by itself.
    pub(crate) fn hint_uid(&self, uid: &str) {
        if let Some(machine) = self.notices.machine(uid) {
            self.hint(machine);
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

    /// Works on what was found of orphans at a provider.
    pub(crate) fn sweep<T>(
        &self,
        provider: &ProviderName,
        work: impl FnOnce(&mut Sweep) -> T,
    ) -> T {
        let mut sweeps = self.sweeps.lock().unwrap_or_else(PoisonError::into_inner);
        work(sweeps.entry(provider.clone()).or_default())
    }

    fn recounting(&self) -> MutexGuard<'_, HashSet<ProviderName>> {
        self.recounting
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
