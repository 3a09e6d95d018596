//! What the server does by itself: it deletes what has lost its owners, empties what is being
//! deleted, lets events expire, and gives each namespace what every namespace has.
//!
//! One task watches everything that is written and keeps an index of owners; whatever a write
//! may concern is looked at again, against the store as it is then. Nothing is remembered that
//! a restart would lose.

mod aggregate;
mod collect;
mod expire;
mod index;
mod provision;
mod terminate;
mod tokens;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use machinist_store::{Event, EventKind, WatchError};

use crate::core::Core;
use crate::registry::{DEFINITIONS, NAMESPACES};
use crate::status::ApiError;
use index::Index;

/// Who is recorded for the changes made here.
const MANAGER: &str = "machinist-background";
/// How often what could not be finished is tried again, and events are looked at.
const SWEEP: Duration = Duration::from_secs(30);

/// Runs until the server stops.
pub(crate) async fn run(core: Arc<Core>) {
    let stopped = core.stopped();
    tokio::select! {
        () = stopped => {}
        () = async { tokio::join!(work(&core), provision::run(&core), aggregate::run(&core), tokens::run(&core)); } => {}
    }
}

async fn work(core: &Core) {
    loop {
        // Each round starts from a full look at the store; it ends when the watch fell behind.
        match round(core).await {
            WatchError::Closed => return,
            error => tracing::debug!(%error, "the background work starts over"),
        }
    }
}

async fn round(core: &Core) -> WatchError {
    let page = core.store.list("/", None, None);
    let mut janitor = Janitor {
        core,
        index: Index::default(),
        dirty: BTreeSet::new(),
    };
    for entry in &page.entries {
        if let Some(facts) = janitor.index.put(&entry.key, &entry.value) {
            janitor
                .dirty
                .extend(facts.is_concerned().then(|| entry.key.to_string()));
        }
    }
    let mut watch = match core.store.watch("/", page.revision) {
        Ok(watch) => watch,
        Err(error) => return error,
    };
    drop(page);
    let mut sweep = tokio::time::interval(SWEEP);
    loop {
        janitor.clean().await;
        tokio::select! {
            event = watch.next() => match event {
                Ok(event) => janitor.observe(&event),
                Err(error) => return error,
            },
            _ = sweep.tick() => {
                expire::events(core).await;
                janitor.dirty.extend(janitor.index.unfinished());
            }
        }
        loop {
            match watch.try_next() {
                Ok(Some(event)) => janitor.observe(&event),
                Ok(None) => break,
                Err(error) => return error,
            }
        }
    }
}

struct Janitor<'a> {
    core: &'a Core,
    index: Index,
    /// The keys to look at again.
    dirty: BTreeSet<String>,
}

impl Janitor<'_> {
    fn observe(&mut self, event: &Event) {
        let key = &event.entry.key;
        match event.kind {
            EventKind::Put => {
                if let Some(facts) = self.index.put(key, &event.entry.value)
                    && facts.is_concerned()
                {
                    self.dirty.insert(key.to_string());
                }
            }
            EventKind::Delete => {
                let touched = self.index.remove(key, &event.entry.value);
                self.dirty.extend(touched);
                self.dirty.extend(self.containers_of(key));
            }
        }
    }

    /// The namespace and the definition that a key belongs to, if they wait for it to go.
    fn containers_of(&self, key: &str) -> Vec<String> {
        if !self.index.has_unfinished() {
            return Vec::new();
        }
        let Some(kind) = self.core.registry.snapshot().owner_of_key(key) else {
            return Vec::new();
        };
        let mut containers = vec![format!("{DEFINITIONS}{}", kind.qualified())];
        if kind.namespaced
            && let Some((namespace, _)) = key[kind.prefix.len()..].split_once('/')
        {
            containers.push(format!("{NAMESPACES}{namespace}"));
        }
        containers.retain(|key| self.index.is_unfinished(key));
        containers
    }

    async fn clean(&mut self) {
        while let Some(key) = self.dirty.pop_first() {
            let result = if key.starts_with(NAMESPACES) || key.starts_with(DEFINITIONS) {
                terminate::container(self.core, &key).await
            } else {
                Ok(())
            };
            let result = match result {
                Ok(()) => collect::object(self.core, &self.index, &key).await,
                failed => failed,
            };
            if let Err(error) = result {
                self.report(&key, &error);
            }
        }
    }

    /// What failed stays in the index as unfinished, or comes back with the next event about it.
    fn report(&self, key: &str, error: &ApiError) {
        tracing::debug!(key, %error, "background work is not finished");
    }
}
