//! A decorator around any provider: every call is measured, traced, remembered and has a limit.
//!
//! A call that runs into its limit may still take effect, so the answer is "unknown".

use std::{future::Future, sync::Arc, time::Duration};

use async_trait::async_trait;
use futures::stream::BoxStream;
use machinist_core::{
    machine::{Facts, MachineId, MachineKey, Want},
    provider::{
        Capabilities, Change, Console, Health, Inventory, Provider, ProviderError, ProviderResult,
    },
};

use tokio::time::Instant;

use crate::{Metrics, trace::Call, track::Track};

/// The limit of a call, unless the provider declares one.
const CALL_LIMIT: Duration = Duration::from_secs(60);
/// Making a machine may take many steps at the platform, or have to fetch an image first.
const CREATE_LIMIT: Duration = Duration::from_secs(30 * 60);

/// A provider whose calls are measured and limited.
pub(crate) struct Metered {
    inner: Arc<dyn Provider>,
    name: String,
    metrics: Metrics,
    limit: Duration,
    create_limit: Duration,
    track: Arc<Track>,
}

impl Metered {
    pub(crate) fn new(
        inner: Arc<dyn Provider>,
        name: String,
        metrics: Metrics,
        limit: Option<Duration>,
        track: Arc<Track>,
    ) -> Metered {
        // What is declared is the limit of a request, and no download is one.
        let of_create = limit.filter(|_| !inner.capabilities().fetches_images);
        Metered {
            inner,
            name,
            metrics,
            limit: limit.unwrap_or(CALL_LIMIT),
            create_limit: of_create.unwrap_or(CREATE_LIMIT),
            track,
        }
    }

    async fn measure<T>(
        &self,
        call: &'static str,
        limit: Duration,
        work: impl Future<Output = ProviderResult<T>>,
    ) -> ProviderResult<T> {
        let began = Instant::now();
        let traced = Call::begin(call, &self.name);
        let outcome = match tokio::time::timeout(limit, work).await {
            Ok(outcome) => outcome,
            Err(late) => Err(ProviderError::transport(
                format!("no answer to {call} within {limit:?}"),
                late,
            )),
        };
        let took = began.elapsed();
        let is_look = matches!(call, "probe" | "inventory" | "find" | "get" | "list");
        let ill = outcome.as_ref().is_err_and(ProviderError::is_ill);
        self.track.record(ill, is_look.then_some(took));
        if call == "probe" {
            self.track.probed(took);
        }
        let result = outcome
            .as_ref()
            .map_or_else(ProviderError::reason, |_| "ok");
        self.metrics.called(&self.name, call, result, took);
        if let Some(traced) = traced {
            traced.end(result, outcome.is_err());
        }
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

    async fn inventory(&self) -> ProviderResult<Inventory> {
        self.measure("inventory", self.limit, self.inner.inventory())
            .await
    }

    async fn find(&self, key: &MachineKey) -> ProviderResult<Vec<Facts>> {
        self.measure("find", self.limit, self.inner.find(key)).await
    }

    async fn get(&self, key: &MachineKey, id: &MachineId) -> ProviderResult<Option<Facts>> {
        self.measure("get", self.limit, self.inner.get(key, id))
            .await
    }

    async fn find_all(&self, keys: &[MachineKey]) -> ProviderResult<Vec<Facts>> {
        self.measure("find_all", self.limit, self.inner.find_all(keys))
            .await
    }

    async fn list(&self, cluster: &str) -> ProviderResult<Vec<Facts>> {
        self.measure("list", self.limit, self.inner.list(cluster))
            .await
    }

    async fn create(&self, key: &MachineKey, want: &Want) -> ProviderResult<Facts> {
        self.measure("create", self.create_limit, self.inner.create(key, want))
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
