//! A decorator around any provider: it sends no more calls than declared, and tries again as often
//! as declared (`spec.config.rateLimiting`, `spec.config.retryPolicy`).
//!
//! Every attempt counts against the rate. A look whose answer was lost is made again; a change whose
//! answer was lost never is, because it may have taken effect: the engine looks first. What the
//! platform turned away is asked again when it said, and until then nothing is sent to it at all.

use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use futures::stream::BoxStream;
use machinist_core::{
    machine::{Facts, MachineId, MachineKey, Want},
    provider::{
        Capabilities, Change, Console, Courtesy, Health, Inventory, Provider, ProviderError,
        ProviderResult,
    },
};

use crate::track::Track;

/// A call that would have to wait longer for its turn is given back: a pass that waits holds a
/// place that another machine, at another provider, may need.
const PATIENCE: Duration = Duration::from_secs(60);

/// A provider that is treated with courtesy.
pub(crate) struct Courteous {
    inner: Arc<dyn Provider>,
    courtesy: Courtesy,
    track: Arc<Track>,
    /// How many attempts were put off, to put off each by a little else.
    put_off: AtomicU64,
}

/// Whether a call may be made again when nothing is known of its effect.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Look,
    Change,
}

impl Courteous {
    pub(crate) fn new(
        inner: Arc<dyn Provider>,
        courtesy: Courtesy,
        track: Arc<Track>,
    ) -> Courteous {
        Courteous {
            inner,
            courtesy,
            track,
            put_off: AtomicU64::new(0),
        }
    }

    /// Waits for the turn of one call.
    async fn turn(&self) -> ProviderResult<()> {
        match self.track.turn(self.courtesy.rate, PATIENCE) {
            Ok(None) => Ok(()),
            Ok(Some(turn)) => {
                tokio::time::sleep_until(turn).await;
                Ok(())
            }
            Err(wait) => Err(ProviderError::throttled(
                "as many calls as the provider allows wait for their turn",
                Some(wait),
            )),
        }
    }

    async fn call<T, Work>(&self, kind: Kind, mut work: impl FnMut() -> Work) -> ProviderResult<T>
    where
        Work: Future<Output = ProviderResult<T>>,
    {
        let mut attempt = 0;
        loop {
            self.turn().await?;
            let error = match work().await {
                Err(error) => error,
                done => return done,
            };
            let delay = self.spread(self.courtesy.delay(attempt));
            let wait = match &error {
                ProviderError::Throttled { retry_after, .. } => {
                    let wait = retry_after.unwrap_or(delay);
                    self.track.hold(wait.min(self.courtesy.max_delay));
                    wait
                }
                ProviderError::Transport { .. } if kind == Kind::Look => delay,
                _ => return Err(error),
            };
            // Whoever is to come back later than a delay may last is told so, and comes back.
            if attempt >= self.courtesy.max_retries || wait > self.courtesy.max_delay {
                return Err(error);
            }
            tokio::time::sleep(wait).await;
            attempt += 1;
        }
    }

    /// Between three quarters and all of a delay, so that those who failed together do not come
    /// back together. It is not left to chance: the same calls wait the same.
    fn spread(&self, delay: Duration) -> Duration {
        let number = self.put_off.fetch_add(1, Ordering::Relaxed);
        // Multiples of the golden ratio fall evenly.
        let part = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54;
        delay - delay / 4 * u32::try_from(part).unwrap_or_default() / 1024
    }
}

#[async_trait]
impl Provider for Courteous {
    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    async fn probe(&self) -> ProviderResult<Health> {
        self.call(Kind::Look, || self.inner.probe()).await
    }

    async fn inventory(&self) -> ProviderResult<Inventory> {
        self.call(Kind::Look, || self.inner.inventory()).await
    }

    async fn find(&self, key: &MachineKey) -> ProviderResult<Vec<Facts>> {
        self.call(Kind::Look, || self.inner.find(key)).await
    }

    async fn get(&self, key: &MachineKey, id: &MachineId) -> ProviderResult<Option<Facts>> {
        self.call(Kind::Look, || self.inner.get(key, id)).await
    }

    async fn find_all(&self, keys: &[MachineKey]) -> ProviderResult<Vec<Facts>> {
        self.call(Kind::Look, || self.inner.find_all(keys)).await
    }

    async fn list(&self, cluster: &str) -> ProviderResult<Vec<Facts>> {
        self.call(Kind::Look, || self.inner.list(cluster)).await
    }

    async fn create(&self, key: &MachineKey, want: &Want) -> ProviderResult<Facts> {
        self.call(Kind::Change, || self.inner.create(key, want))
            .await
    }

    async fn update(
        &self,
        key: &MachineKey,
        id: &MachineId,
        change: &Change,
    ) -> ProviderResult<()> {
        self.call(Kind::Change, || self.inner.update(key, id, change))
            .await
    }

    async fn delete(
        &self,
        key: &MachineKey,
        id: &MachineId,
        grace: Option<Duration>,
    ) -> ProviderResult<()> {
        self.call(Kind::Change, || self.inner.delete(key, id, grace))
            .await
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
