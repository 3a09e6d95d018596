//! One folder a kind: gather, act, report.

mod changes;
pub(crate) mod machine;
pub(crate) mod platform;
pub(crate) mod provider;
pub(crate) mod vitistack;

use std::{
    fmt::Debug,
    future::Future,
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};

use futures::{Stream, StreamExt, TryStreamExt, future};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::{
    Api, Resource,
    runtime::{
        Controller, WatchStreamExt,
        controller::{Action, Config},
        reflector::{ObjectRef, store::Writer},
        watcher,
    },
};
use serde::de::DeserializeOwned;

use self::changes::Changes;
use crate::{
    Readiness,
    context::Context,
    error::{PassError, chain},
};

/// How many passes are under way at the same time. Each holds its object, and most of them wait
/// for a platform, so that there are many; without a limit a start with all machines of a large
/// platform would hold them all.
const PASSES: u16 = 512;

/// What a controller of one kind is made of.
pub(crate) struct Parts<K: Resource<DynamicType = ()> + Clone + 'static, Due, Reconcile> {
    /// The writing end of the kind's view.
    pub(crate) view: Writer<K>,
    /// Objects to look at, besides those that changed.
    pub(crate) due: Due,
    /// Stands for what is declared by an object.
    pub(crate) declared: fn(&K) -> u64,
    /// Called for each change of the view.
    pub(crate) saw: fn(&Context, &watcher::Event<K>),
    /// Called when the view is complete.
    pub(crate) listed: fn(&Readiness),
    /// One pass over one object.
    pub(crate) reconcile: Reconcile,
    /// When to try again after a pass that failed.
    pub(crate) on_error: fn(Arc<K>, &PassError, Arc<Context>) -> Action,
}

/// Runs a controller until shutdown. A pass is due when what is declared changes, not when our
/// own status write comes back.
pub(crate) async fn run<K, Due, Reconcile, Pass>(
    context: Arc<Context>,
    parts: Parts<K, Due, Reconcile>,
    shutdown: impl Future<Output = ()> + Send + Sync + 'static,
) where
    K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + Sync + 'static,
    Due: Stream<Item = ObjectRef<K>> + Send + 'static,
    Reconcile: FnMut(Arc<K>, Arc<Context>) -> Pass,
    Pass: Future<Output = Result<Action, PassError>> + Send + 'static,
{
    let Parts {
        view,
        due,
        declared,
        saw,
        listed,
        reconcile,
        on_error,
    } = parts;
    let (reader, seen) = (view.as_reader(), context.clone());
    let mut news = Changes::new(declared);
    let api: Api<K> = Api::all(context.client.clone());
    let changes = watcher(api, watcher::Config::default())
        .default_backoff()
        // Who wrote what is half of an object, and no pass asks for it.
        .modify(|object| object.meta_mut().managed_fields = None)
        .reflect(view)
        .inspect_ok(move |event| {
            saw(&seen, event);
            match event {
                watcher::Event::InitDone => listed(&seen.readiness),
                // An object that nothing held back has no last pass.
                watcher::Event::Delete(object) => {
                    seen.forget(object.meta().uid.as_deref().unwrap_or_default());
                }
                _ => {}
            }
        })
        .try_filter_map(move |event| future::ready(Ok(news.of(event))));
    Controller::for_stream(changes, reader)
        .with_config(Config::default().concurrency(PASSES))
        .reconcile_on(due)
        .graceful_shutdown_on(shutdown)
        .run(reconcile, on_error, context)
        .for_each(|outcome| async move {
            if let Err(error) = outcome {
                tracing::debug!(error = %chain(&error), "a pass ended early");
            }
        })
        .await;
}

/// Everything about an object but its status and bookkeeping: a pass is due when this changes.
pub(crate) fn declared(meta: &ObjectMeta) -> u64 {
    let mut hasher = DefaultHasher::new();
    meta.uid.hash(&mut hasher);
    meta.generation.hash(&mut hasher);
    meta.labels.hash(&mut hasher);
    meta.annotations.hash(&mut hasher);
    meta.finalizers.hash(&mut hasher);
    meta.deletion_timestamp
        .as_ref()
        .map(|time| time.0.as_second())
        .hash(&mut hasher);
    hasher.finish()
}
