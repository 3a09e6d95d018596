//! Which objects of a namespace were there, for as long as a promise may still wait for them.
//!
//! A list cannot tell what is yet to come from what has gone again; a watch can, because it shows
//! each object that ever was there. What it misses while it is broken costs patience alone.

use std::{
    collections::HashMap,
    pin::pin,
    sync::{Arc, Mutex, PoisonError},
};

use futures::{StreamExt, future};
use kube::{
    Api, Client, Resource, ResourceExt,
    core::PartialObjectMeta,
    runtime::{WatchStreamExt, watcher},
};
use machinist_api::vitistack::{Machine, NetworkConfiguration};
use machinist_core::quota::Thing;
use serde::de::DeserializeOwned;
use tokio::sync::watch;

use super::Namespaces;
use crate::Clock;

/// How long what was last seen is remembered, in seconds: longer than any promise is kept.
const MEMORY: i64 = 300;
/// How many are remembered before the oldest are looked for.
const MANY: usize = 4096;

/// How many arrivals are kept for a ledger that nobody asks about.
const ARRIVALS: usize = 4096;

/// An object that is there: what it is, its name and its identity.
pub(super) type Arrival = (Thing, String, String);

/// The identities that a watch has shown, with the second of the last time.
pub(super) struct Landed {
    clock: Arc<dyn Clock>,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    at: HashMap<String, i64>,
    /// How many there may be before what is old is forgotten.
    forget_at: usize,
    /// What came since somebody last asked.
    arrivals: Vec<Arrival>,
}

impl Landed {
    pub(super) fn new(clock: Arc<dyn Clock>) -> Landed {
        Landed {
            clock,
            seen: Mutex::default(),
        }
    }

    /// Whether an object was ever there.
    pub(super) fn was_seen(&self, uid: &str) -> bool {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.at.contains_key(uid)
    }

    /// What came since this was last called. It may lack some, which a count shows.
    pub(super) fn take_arrivals(&self) -> Vec<Arrival> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut seen.arrivals)
    }

    /// Follows the namespace while it has quotas, for as long as it is polled.
    pub(super) fn follow(
        self: &Arc<Self>,
        client: Client,
        namespace: String,
        mut namespaces: watch::Receiver<Namespaces>,
    ) -> impl Future<Output = ()> + Send + 'static {
        let landed = self.clone();
        async move {
            let has = |known: &Namespaces| {
                let known = known.as_ref();
                known.is_some_and(|known| known.contains(&namespace))
            };
            while namespaces.wait_for(|known| has(known)).await.is_ok() {
                tokio::select! {
                    _ = landed.watch::<Machine>(&client, &namespace, Thing::Machine) => {}
                    _ = landed.watch::<NetworkConfiguration>(&client, &namespace, Thing::Network) => {}
                    _ = namespaces.wait_for(|known| !has(known)) => {}
                }
            }
            // Nobody will say any more what has quotas; requests are still answered.
            future::pending::<()>().await;
        }
    }

    async fn watch<K>(&self, client: &Client, namespace: &str, thing: Thing)
    where
        K: Resource<Scope = kube::core::NamespaceResourceScope, DynamicType = ()>
            + Clone
            + std::fmt::Debug
            + DeserializeOwned
            + Send
            + 'static,
    {
        let api: Api<PartialObjectMeta<K>> = Api::namespaced(client.clone(), namespace);
        let events = watcher(api, watcher::Config::default()).default_backoff();
        let mut events = pin!(events);
        while let Some(event) = events.next().await {
            match event {
                Ok(watcher::Event::Apply(meta)) => self.note(&meta, Some(thing)),
                Ok(watcher::Event::InitApply(meta) | watcher::Event::Delete(meta)) => {
                    self.note(&meta, None);
                }
                Ok(watcher::Event::Init | watcher::Event::InitDone) => {}
                Err(error) => {
                    tracing::debug!(%error, namespace, "what lands is followed later");
                }
            }
        }
    }

    fn note<K: Resource<DynamicType = ()>>(
        &self,
        meta: &PartialObjectMeta<K>,
        arrives: Option<Thing>,
    ) {
        let Some(uid) = meta.uid() else { return };
        let now = self.clock.now().as_second();
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = seen.at.insert(uid.clone(), now).is_none();
        if let Some(thing) = arrives.filter(|_| is_new && seen.arrivals.len() < ARRIVALS) {
            seen.arrivals.push((thing, meta.name_any(), uid));
        }
        if seen.at.len() > seen.forget_at.max(MANY) {
            seen.at.retain(|_, last| now.saturating_sub(*last) < MEMORY);
            seen.forget_at = seen.at.len() * 2;
        }
    }
}
