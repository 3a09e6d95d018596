//! A decorator around any provider: it sends no more calls than declared, and tries again as often as
//! declared (`spec.config.rateLimiting`, `spec.config.retryPolicy`).
//!
//! Every attempt counts against the rate. What the platform knows is not asked twice: only a call
//! whose effect is unknown, or for which the platform was too busy, is tried again. Every verb is
//! idempotent, so that trying again does nothing twice.

use std::{
    future::Future,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use futures::stream::BoxStream;
use machinist_core::{
    dialect::vitistack::Courtesy,
    machine::{Facts, MachineId, MachineKey, Want},
    provider::{Capabilities, Change, Console, Health, Provider, ProviderError, ProviderResult},
};
use tokio::time::Instant;

/// The delay before the first new attempt.
const FIRST_DELAY: Duration = Duration::from_millis(200);

/// A provider that is treated with courtesy.
pub(crate) struct Courteous {
    inner: Arc<dyn Provider>,
    courtesy: Courtesy,
    /// When the bucket of calls would be empty again, had all calls been sent evenly.
    drained: Mutex<Option<Instant>>,
}

impl Courteous {
    pub(crate) fn new(inner: Arc<dyn Provider>, courtesy: Courtesy) -> Courteous {
        Courteous {
            inner,
            courtesy,
            drained: Mutex::default(),
        }
    }

    /// Waits for the turn of one call.
    async fn turn(&self) {
        let Some(rate) = self.courtesy.requests_per_second else {
            return;
        };
        let each = Duration::from_secs_f64(1.0 / rate);
        let ahead = each * self.courtesy.burst.saturating_sub(1);
        let now = Instant::now();
        let turn = {
            let mut drained = self.drained.lock().unwrap_or_else(PoisonError::into_inner);
            let even = drained.map_or(now, |drained| drained.max(now));
            *drained = Some(even + each);
            even.checked_sub(ahead).unwrap_or(now)
        };
        if turn > now {
            tokio::time::sleep_until(turn).await;
        }
    }

    async fn call<'a, T, Work>(&'a self, mut work: impl FnMut() -> Work) -> ProviderResult<T>
    where
        Work: Future<Output = ProviderResult<T>> + 'a,
    {
        let mut delay = FIRST_DELAY.min(self.courtesy.max_delay);
        for _ in 0..self.courtesy.max_retries {
            self.turn().await;
            let wait = match work().await {
                Err(ProviderError::Transport { .. }) => delay,
                // A platform that says when it has time is believed, within reason.
                Err(ProviderError::Busy { retry_after, .. })
                    if retry_after.is_none_or(|wait| wait <= self.courtesy.max_delay) =>
                {
                    retry_after.unwrap_or(delay)
                }
                done => return done,
            };
            tokio::time::sleep(wait).await;
            delay = delay
                .mul_f64(self.courtesy.multiplier)
                .min(self.courtesy.max_delay);
        }
        self.turn().await;
        work().await
    }
}

#[async_trait]
impl Provider for Courteous {
    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    async fn probe(&self) -> ProviderResult<Health> {
        self.call(|| self.inner.probe()).await
    }

    async fn find(&self, key: &MachineKey) -> ProviderResult<Vec<Facts>> {
        self.call(|| self.inner.find(key)).await
    }

    async fn get(&self, key: &MachineKey, id: &MachineId) -> ProviderResult<Option<Facts>> {
        self.call(|| self.inner.get(key, id)).await
    }

    async fn list(&self, cluster: &str) -> ProviderResult<Vec<Facts>> {
        self.call(|| self.inner.list(cluster)).await
    }

    async fn create(&self, key: &MachineKey, want: &Want) -> ProviderResult<Facts> {
        self.call(|| self.inner.create(key, want)).await
    }

    async fn update(
        &self,
        key: &MachineKey,
        id: &MachineId,
        change: &Change,
    ) -> ProviderResult<()> {
        self.call(|| self.inner.update(key, id, change)).await
    }

    async fn delete(
        &self,
        key: &MachineKey,
        id: &MachineId,
        grace: Option<Duration>,
    ) -> ProviderResult<()> {
        self.call(|| self.inner.delete(key, id, grace)).await
    }

    fn watch(&self) -> Option<BoxStream<'static, MachineKey>> {
        self.inner.watch()
    }

    fn console(&self) -> Option<&dyn Console> {
        self.inner.console()
    }
}

#[cfg(test)]
mod tests;
