//! A decorator around any provider: looks that many want at the same time become one.
//!
//! A pass looks for its machine by key. When hundreds do so at once, because the engine starts, a
//! provider came back or a large manifest was applied, a call for each would be throttled and
//! would keep the calls that matter waiting. One question for all of them, begun after the last of
//! them asked, tells each the same as a call of its own.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use futures::{
    FutureExt,
    future::{BoxFuture, Shared},
    stream::BoxStream,
};
use machinist_core::{
    machine::{Facts, MachineId, MachineKey, Want},
    provider::{
        Capabilities, Change, Console, Health, Inventory, Provider, ProviderError, ProviderResult,
    },
};

/// How many machines are looked for each by itself at the same time.
const SINGLES: usize = 16;

/// A provider that is asked once for what many want to know.
pub(crate) struct Looking {
    inner: Arc<dyn Provider>,
    /// The cluster whose machines are looked for together; another's are one by one.
    cluster: String,
    looks: Arc<Mutex<Looks>>,
    /// Held by the question that is under way.
    turn: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Default)]
struct Looks {
    /// How many single looks are under way.
    singles: usize,
    /// The question that was not put yet, which whoever asks now may join.
    next: Option<Question>,
}

/// One question for many machines.
struct Question {
    keys: Vec<MachineKey>,
    answer: Answer,
}

type Answer = Shared<BoxFuture<'static, Result<Arc<Found>, Arc<ProviderError>>>>;
type Found = HashMap<MachineKey, Vec<Facts>>;

/// A single look, until it has its answer or is given up.
struct Single(Arc<Mutex<Looks>>);

impl Drop for Single {
    fn drop(&mut self) {
        lock(&self.0).singles -= 1;
    }
}

impl Looking {
    pub(crate) fn new(inner: Arc<dyn Provider>, cluster: String) -> Looking {
        Looking {
            inner,
            cluster,
            looks: Arc::default(),
            turn: Arc::default(),
        }
    }

    /// A place among the single looks, if there is one.
    fn single(&self) -> Option<Single> {
        let mut looks = lock(&self.looks);
        (looks.singles < SINGLES).then(|| {
            looks.singles += 1;
            Single(self.looks.clone())
        })
    }

    /// The answer to the next question: one that was put may have passed by what the asker means.
    fn ask(&self, key: &MachineKey) -> Answer {
        let mut looks = lock(&self.looks);
        if let Some(next) = &mut looks.next {
            next.keys.push(key.clone());
            return next.answer.clone();
        }
        let inner = self.inner.clone();
        let (turn, state) = (self.turn.clone(), self.looks.clone());
        let answer = async move {
            let _turn = turn.lock().await;
            // Who was not asked for is not absent: a question without keys is no answer.
            let Some(Question { keys, .. }) = lock(&state).next.take() else {
                let lost = ProviderError::transport("looking for machines", "nobody was named");
                return Err(Arc::new(lost));
            };
            let all = inner.find_all(&keys).await.map_err(Arc::new)?;
            let mut found = Found::new();
            for facts in all {
                found.entry(facts.key.clone()).or_default().push(facts);
            }
            Ok(Arc::new(found))
        };
        let answer = answer.boxed().shared();
        looks.next = Some(Question {
            keys: vec![key.clone()],
            answer: answer.clone(),
        });
        answer
    }
}

fn lock(looks: &Mutex<Looks>) -> MutexGuard<'_, Looks> {
    looks.lock().unwrap_or_else(PoisonError::into_inner)
}

#[async_trait]
impl Provider for Looking {
    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    async fn probe(&self) -> ProviderResult<Health> {
        self.inner.probe().await
    }

    async fn inventory(&self) -> ProviderResult<Inventory> {
        self.inner.inventory().await
    }

    async fn find(&self, key: &MachineKey) -> ProviderResult<Vec<Facts>> {
        if key.cluster() != self.cluster {
            return self.inner.find(key).await;
        }
        if let Some(_single) = self.single() {
            return self.inner.find(key).await;
        }
        match self.ask(key).await {
            Ok(found) => Ok(found.get(key).cloned().unwrap_or_default()),
            Err(error) => Err(error.share()),
        }
    }

    async fn get(&self, key: &MachineKey, id: &MachineId) -> ProviderResult<Option<Facts>> {
        self.inner.get(key, id).await
    }

    async fn find_all(&self, keys: &[MachineKey]) -> ProviderResult<Vec<Facts>> {
        self.inner.find_all(keys).await
    }

    async fn list(&self, cluster: &str) -> ProviderResult<Vec<Facts>> {
        self.inner.list(cluster).await
    }

    async fn create(&self, key: &MachineKey, want: &Want) -> ProviderResult<Facts> {
        self.inner.create(key, want).await
    }

    async fn update(
        &self,
        key: &MachineKey,
        id: &MachineId,
        change: &Change,
    ) -> ProviderResult<()> {
        self.inner.update(key, id, change).await
    }

    async fn delete(
        &self,
        key: &MachineKey,
        id: &MachineId,
        grace: Option<Duration>,
    ) -> ProviderResult<()> {
        self.inner.delete(key, id, grace).await
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
