//! Which namespaces have quotas, and which providers there are, as they change.

use std::{
    collections::{BTreeMap, HashSet},
    pin::pin,
    sync::{PoisonError, RwLock, RwLockReadGuard},
};

use futures::{Stream, StreamExt, future};
use kube::{
    Api, Client, Resource, ResourceExt,
    core::PartialObjectMeta,
    runtime::{WatchStreamExt, watcher},
};
use machinist_api::{
    names,
    vitistack::{MachineProvider, Vitistack},
};
use machinist_core::{
    dialect::vitistack::{governing, limits},
    quota::Limits,
};
use tokio::sync::watch;

use super::Namespaces;

/// The view.
#[derive(Default)]
pub(super) struct Stacks {
    seen: RwLock<Seen>,
    /// Nothing until they were listed.
    namespaces: watch::Sender<Namespaces>,
}

#[derive(Default)]
struct Seen {
    stacks: BTreeMap<String, BTreeMap<String, Vitistack>>,
    providers: HashSet<(String, String)>,
    /// Whether the Vitistacks were listed.
    is_listed: bool,
    /// Limits of the namespaces that have any, with the Vitistack that sets them.
    limits: BTreeMap<String, (String, Limits)>,
}

impl Stacks {
    /// The limits of a namespace, and the Vitistack that sets them.
    pub(super) fn limits(&self, namespace: &str) -> Option<(String, Limits)> {
        self.read().limits.get(namespace).cloned()
    }

    pub(super) fn namespaces(&self) -> watch::Receiver<Namespaces> {
        self.namespaces.subscribe()
    }

    /// The namespace of a provider that a machine names without one.
    pub(super) fn resolve(&self, own: &str, name: &str) -> String {
        let here = (own.to_owned(), name.to_owned());
        match self.read().providers.contains(&here) {
            true => own.to_owned(),
            false => names::SYSTEM_NAMESPACE.to_owned(),
        }
    }

    /// Follows both kinds for as long as it is polled.
    pub(super) async fn follow(&self, client: &Client) {
        let stacks: Api<Vitistack> = Api::all(client.clone());
        let providers: Api<PartialObjectMeta<MachineProvider>> = Api::all(client.clone());
        let config = watcher::Config::default;
        let stacks = self.each(watcher(stacks, config()), |seen, event| match event {
            watcher::Event::Init => seen.stacks.clear(),
            watcher::Event::InitApply(stack) | watcher::Event::Apply(stack) => {
                let here = seen.stacks.entry(stack.namespace().unwrap_or_default());
                here.or_default().insert(stack.name_any(), stack);
            }
            watcher::Event::Delete(stack) => {
                let namespace = stack.namespace().unwrap_or_default();
                if let Some(here) = seen.stacks.get_mut(&namespace) {
                    here.remove(&stack.name_any());
                }
            }
            watcher::Event::InitDone => seen.is_listed = true,
        });
        let providers = self.each(watcher(providers, config()), |seen, event| {
            let name = |meta: &PartialObjectMeta<MachineProvider>| {
                (meta.namespace().unwrap_or_default(), meta.name_any())
            };
            match event {
                watcher::Event::Init => seen.providers.clear(),
                watcher::Event::InitApply(meta) | watcher::Event::Apply(meta) => {
                    seen.providers.insert(name(&meta));
                }
                watcher::Event::Delete(meta) => {
                    seen.providers.remove(&name(&meta));
                }
                watcher::Event::InitDone => {}
            }
        });
        future::join(stacks, providers).await;
    }

    /// Takes in every event. What is listed anew replaces what was there when the list is
    /// complete: until then the limits stay.
    async fn each<K: Resource>(
        &self,
        events: impl Stream<Item = watcher::Result<watcher::Event<K>>>,
        take: impl Fn(&mut Seen, watcher::Event<K>),
    ) {
        let mut events = pin!(events.default_backoff());
        let mut listing = false;
        while let Some(event) = events.next().await {
            let event = match event {
                Ok(event) => event,
                Err(error) => {
                    tracing::debug!(%error, "quotas are followed later");
                    continue;
                }
            };
            listing = match event {
                watcher::Event::Init => true,
                watcher::Event::InitDone => false,
                _ => listing,
            };
            let mut seen = self.seen.write().unwrap_or_else(PoisonError::into_inner);
            take(&mut seen, event);
            if !listing && seen.is_listed {
                seen.limits = seen.limits();
                let namespaces: Namespaces = Some(seen.limits.keys().cloned().collect());
                drop(seen);
                self.namespaces.send_if_modified(|before| {
                    let news = *before != namespaces;
                    *before = namespaces;
                    news
                });
            }
        }
    }

    fn read(&self) -> RwLockReadGuard<'_, Seen> {
        self.seen.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seen {
    fn limits(&self) -> BTreeMap<String, (String, Limits)> {
        let of = |(namespace, here): (&String, &BTreeMap<String, Vitistack>)| {
            let stack = governing(here.values())?;
            let limits = limits(stack);
            let name = format!("{namespace}/{}", stack.name_any());
            limits.is_any().then(|| (namespace.clone(), (name, limits)))
        };
        self.stacks.iter().filter_map(of).collect()
    }
}
