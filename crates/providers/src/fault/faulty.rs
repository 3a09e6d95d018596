//! A decorator around any provider whose calls go wrong as a [`Script`] says.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use futures::stream::BoxStream;
use machinist_core::{
    machine::{Facts, MachineId, MachineKey, Want},
    provider::{
        Capabilities, Change, Console, Health, Inventory, Lookup, Provider, ProviderResult,
    },
};

use super::{Admitted, Script, Verb};

/// A provider whose calls go wrong on demand.
pub struct Faulty {
    inner: Arc<dyn Provider>,
    script: Script,
    lookup: Option<Lookup>,
}

impl Faulty {
    /// Puts the script around a driver. Several drivers may share one script, as the processes
    /// that come after each other do.
    pub fn new(inner: Arc<dyn Provider>, script: Script) -> Faulty {
        Faulty {
            inner,
            script,
            lookup: None,
        }
    }

    /// The same, and it says of its lookups that they may be behind the times: a script that makes
    /// them so ([`Fault::Stale`](super::Fault::Stale)) would make a liar of a platform that is
    /// trusted when it finds nothing.
    pub fn eventual(self) -> Faulty {
        Faulty {
            lookup: Some(Lookup::Eventual),
            ..self
        }
    }

    async fn begin(&self, verb: Verb, key: Option<&MachineKey>) -> ProviderResult<Admitted> {
        let call = self.script.begin(verb, key);
        self.script.admit(&call, "faulty").await
    }
}

#[async_trait]
impl Provider for Faulty {
    fn capabilities(&self) -> Capabilities {
        let inner = self.inner.capabilities();
        Capabilities {
            lookup: self.lookup.unwrap_or(inner.lookup),
            ..inner
        }
    }

    async fn probe(&self) -> ProviderResult<Health> {
        let call = self.begin(Verb::Probe, None).await?;
        call.end(self.inner.probe().await?).await
    }

    async fn inventory(&self) -> ProviderResult<Inventory> {
        let call = self.begin(Verb::Inventory, None).await?;
        call.end(self.inner.inventory().await?).await
    }

    async fn find(&self, key: &MachineKey) -> ProviderResult<Vec<Facts>> {
        let call = self.begin(Verb::Find, Some(key)).await?;
        if call.is_stale() {
            return call.end(self.script.before(key)).await;
        }
        let found = self.inner.find(key).await?;
        self.script.saw(key, &found);
        call.end(found).await
    }

    async fn get(&self, key: &MachineKey, id: &MachineId) -> ProviderResult<Option<Facts>> {
        let call = self.begin(Verb::Get, Some(key)).await?;
        call.end(self.inner.get(key, id).await?).await
    }

    async fn find_all(&self, keys: &[MachineKey]) -> ProviderResult<Vec<Facts>> {
        let call = self.begin(Verb::FindAll, None).await?;
        let mut found = self.inner.find_all(keys).await?;
        if call.is_stale() {
            self.script.turn_back(&mut found, |key| keys.contains(key));
        }
        call.end(found).await
    }

    async fn list(&self, cluster: &str) -> ProviderResult<Vec<Facts>> {
        let call = self.begin(Verb::List, None).await?;
        let mut found = self.inner.list(cluster).await?;
        if call.is_stale() {
            let among = |key: &MachineKey| key.cluster() == cluster;
            self.script.turn_back(&mut found, among);
        }
        call.end(found).await
    }

    async fn create(&self, key: &MachineKey, want: &Want) -> ProviderResult<Facts> {
        let call = self.begin(Verb::Create, Some(key)).await?;
        self.script.changes(key);
        let facts = self.inner.create(key, want).await?;
        if call.is_repeated() {
            let _ = self.inner.create(key, want).await;
        }
        call.end(facts).await
    }

    async fn update(
        &self,
        key: &MachineKey,
        id: &MachineId,
        change: &Change,
    ) -> ProviderResult<()> {
        let call = self.begin(Verb::Update, Some(key)).await?;
        self.script.changes(key);
        self.inner.update(key, id, change).await?;
        if call.is_repeated() {
            let _ = self.inner.update(key, id, change).await;
        }
        call.end(()).await
    }

    async fn delete(
        &self,
        key: &MachineKey,
        id: &MachineId,
        grace: Option<Duration>,
    ) -> ProviderResult<()> {
        let call = self.begin(Verb::Delete, Some(key)).await?;
        self.script.changes(key);
        self.inner.delete(key, id, grace).await?;
        if call.is_repeated() {
            let _ = self.inner.delete(key, id, grace).await;
        }
        call.end(()).await
    }

    fn watch(&self) -> Option<BoxStream<'static, MachineKey>> {
        self.inner.watch()
    }

    fn console(&self) -> Option<&dyn Console> {
        self.inner.console()
    }
}
