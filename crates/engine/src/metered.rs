//! A decorator around any provider: every call is measured and has a limit.
//!
//! A call that runs into its limit may still take effect, so the answer is "unknown".

use std::{
    future::Future,
    sync::Arc,
    time::{Duration, Instant},
};

use async_trait::async_trait;
use futures::stream::BoxStream;
use machinist_core::{
    machine::{Facts, MachineId, MachineKey, Want},
    provider::{Capabilities, Change, Console, Health, Provider, ProviderError, ProviderResult},
};

use crate::Metrics;

/// Creating may have to fetch an image first.
const CREATE_LIMIT: Duration = Duration::from_secs(30 * 60);

/// A provider whose calls are measured and limited.
pub(crate) struct Metered {
    inner: Arc<dyn Provider>,
    name: String,
    metrics: Metrics,
    limit: Duration,
}

impl Metered {
    pub(crate) fn new(
        inner: Arc<dyn Provider>,
        name: String,
        metrics: Metrics,
        limit: Duration,
    ) -> Metered {
        Metered {
            inner,
            name,
            metrics,
            limit,
        }
    }

    async fn measure<T>(
        &self,
        call: &'static str,
        limit: Duration,
        work: impl Future<Output = ProviderResult<T>>,
    ) -> ProviderResult<T> {
        let began = Instant::now();
        let outcome = match tokio::time::timeout(limit, work).await {
            Ok(outcome) => outcome,
            Err(late) => Err(ProviderError::transport(
                format!("no answer to {call} within {} s", limit.as_secs()),
                late,
            )),
        };
        let result = outcome
            .as_ref()
            .map_or_else(ProviderError::reason, |_| "ok");
        self.metrics
            .called(&self.name, call, result, began.elapsed());
        outcome
    }
}

#[async_trait]
impl Provider for Metered {
    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    async fn probe(&self) -> ProviderResult<Health> {
        self.measure("probe", self.limit, self.inner.probe()).await
    }

    async fn find(&self, key: &MachineKey) -> ProviderResult<Vec<Facts>> {
        self.measure("find", self.limit, self.inner.find(key)).await
    }

    async fn get(&self, key: &MachineKey, id: &MachineId) -> ProviderResult<Option<Facts>> {
        self.measure("get", self.limit, self.inner.get(key, id))
            .await
    }

    async fn list(&self, cluster: &str) -> ProviderResult<Vec<Facts>> {
        self.measure("list", self.limit, self.inner.list(cluster))
            .await
    }

    async fn create(&self, key: &MachineKey, want: &Want) -> ProviderResult<Facts> {
        self.measure("create", CREATE_LIMIT, self.inner.create(key, want))
            .await
    }

    async fn update(
        &self,
        key: &MachineKey,
        id: &MachineId,
        change: &Change,
    ) -> ProviderResult<()> {
        self.measure("update", self.limit, self.inner.update(key, id, change))
            .await
    }

    async fn delete(
        &self,
        key: &MachineKey,
        id: &MachineId,
        grace: Option<Duration>,
    ) -> ProviderResult<()> {
        self.measure("delete", self.limit, self.inner.delete(key, id, grace))
            .await
    }

    fn watch(&self) -> Option<BoxStream<'static, MachineKey>> {
        self.inner.watch()
    }

    fn console(&self) -> Option<&dyn Console> {
        self.inner.console()
    }
}
