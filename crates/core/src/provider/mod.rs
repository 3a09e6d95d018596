//! The driver contract: what every platform implements, and nothing more.
//!
//! Every verb is idempotent and keyed by the machine's [`MachineKey`], which the driver
//! writes as a tag on everything that it makes. Work in flight shows as a state that is
//! looked up again, never as a handle that must be remembered. A driver makes no choices:
//! the planner decides, the driver carries out one thing and says what it saw.
//!
//! Time-outs, retries, rate limits, metrics and injected faults are decorators around
//! this trait; a driver writes none of them itself.

mod access;
mod capability;
mod connect;
mod courtesy;
mod error;
mod inventory;
mod trust;
mod window;

use std::{collections::HashSet, time::Duration};

use async_trait::async_trait;
use futures::stream::BoxStream;

use crate::machine::{Facts, MachineId, MachineKey, Want};

pub use crate::machine::{Change, Size};
pub use access::{Access, Confidential, OAuth2};
pub use capability::{Capabilities, Changes, Health, Lookup, When};
pub use connect::{Connect, Credentials, ProviderSpec};
pub use courtesy::{Courtesy, Rate};
pub use error::{ProviderError, RetryPolicy};
pub use inventory::{Counted, Inventory, Quota, StockImage};
pub use trust::Trust;
pub use window::{Lately, Window};

/// The outcome of a provider call.
pub type ProviderResult<T> = Result<T, ProviderError>;

/// A platform that machines run on.
#[async_trait]
pub trait Provider: Send + Sync + 'static {
    /// What the platform can do; asked once, when it is connected.
    fn capabilities(&self) -> Capabilities;

    /// Is it there, are the credentials good, what does it have.
    async fn probe(&self) -> ProviderResult<Health>;

    /// What it has to offer by name; asked once in a while, and never waited for.
    async fn inventory(&self) -> ProviderResult<Inventory>;

    /// Every machine that carries this key. None is proof of absence where
    /// [`Capabilities::lookup`] says so; more than one is a duplicate, which the engine reports
    /// and never guesses away. A doubt is an error, never an empty answer. What is removed is
    /// not listed, even while the platform still shows its remains.
    async fn find(&self, key: &MachineKey) -> ProviderResult<Vec<Facts>>;

    /// The machine with this id, when it carries the key; `None` is knowledge that it is gone.
    /// A platform whose lookup is [`Lookup::Eventual`] must answer by a read that is not behind
    /// the times, or with an error while it cannot know.
    async fn get(&self, key: &MachineKey, id: &MachineId) -> ProviderResult<Option<Facts>> {
        let found = self.find(key).await?;
        Ok(found.into_iter().find(|facts| facts.id == *id))
    }

    /// Every machine that carries one of these keys, which are of one cluster. It says of each
    /// what [`find`](Provider::find) would; a platform that can be asked for many by name need
    /// not show all the others.
    async fn find_all(&self, keys: &[MachineKey]) -> ProviderResult<Vec<Facts>> {
        let Some(cluster) = keys.first().map(MachineKey::cluster) else {
            return Ok(Vec::new());
        };
        let wanted: HashSet<&MachineKey> = keys.iter().collect();
        let mut found = self.list(cluster).await?;
        found.retain(|facts| wanted.contains(&facts.key));
        Ok(found)
    }

    /// Every machine that carries a key of this cluster, for adoption, drift and the orphan sweep.
    async fn list(&self, cluster: &str) -> ProviderResult<Vec<Facts>>;

    /// Makes the machine exist, and starts it when it should run. One that should not run is made
    /// stopped where the platform can do that, and is stopped by the next step where it cannot.
    /// Again with the same key gives the same machine, however long ago it was made and whatever
    /// is wanted by now; a half-made one is completed or replaced, never doubled. A refusal
    /// ([`ProviderError::Rejected`], [`ProviderError::NoCapacity`],
    /// [`ProviderError::Unsupported`]) is proof that no machine carries the key.
    ///
    /// Where the platform's token outlives the machine, and answers with one that is removed,
    /// the driver asks again with a token that is made of the key and that machine's id.
    async fn create(&self, key: &MachineKey, want: &Want) -> ProviderResult<Facts>;

    /// Carries out one planned change. `Ok` means asked; the next look shows how far it is. A
    /// change that does not fit the machine's state by now is [`ProviderError::Busy`].
    async fn update(&self, key: &MachineKey, id: &MachineId, change: &Change)
    -> ProviderResult<()>;

    /// Asks for removal of the machine and of everything that was made for it; the guest may
    /// take `grace` to shut down (`None`: the platform's own limit). `Ok` means
    /// asked; look again until [`Provider::find`] proves absence. The key is the proof of
    /// ownership: a machine that does not carry it is refused with
    /// [`ProviderError::NotOwned`]. Removing what is already gone is [`ProviderError::NotFound`].
    async fn delete(
        &self,
        key: &MachineKey,
        id: &MachineId,
        grace: Option<Duration>,
    ) -> ProviderResult<()>;

    /// Hints that something about a machine changed, where the platform can push. A hint
    /// carries no truth: the engine looks the machine up.
    fn watch(&self) -> Option<BoxStream<'static, MachineKey>> {
        None
    }

    /// The serial console, where the platform has one.
    fn console(&self) -> Option<&dyn Console> {
        None
    }
}

/// Reads a machine's serial console.
#[async_trait]
pub trait Console: Send + Sync {
    /// What the guest has printed since it was started, from byte `offset` on.
    async fn output(
        &self,
        key: &MachineKey,
        id: &MachineId,
        offset: u64,
    ) -> ProviderResult<Vec<u8>>;
}
