//! A platform in memory, for tests of everything above the drivers.
//!
//! A [`SimCloud`] is the platform; any number of [`Sim`] drivers may be connected to it,
//! as several processes would be. It can be slow, throttle, lose answers and tell old
//! news, each at a call that the test names; it counts what exists, so that a test sees
//! a duplicate even when every call succeeded.

mod cloud;
mod effects;
mod fleet;
mod machine;
mod options;

use std::{collections::HashSet, time::Duration};

use async_trait::async_trait;
use futures::{StreamExt, stream::BoxStream};
use machinist_core::{
    machine::{Facts, MachineId, MachineKey, Want},
    provider::{
        Capabilities, Change, Console, Health, Inventory, Provider, ProviderError, ProviderResult,
    },
};
use tokio_stream::wrappers::BroadcastStream;

use crate::{fault::Admitted, shared::oauth2::Tokens};
use fleet::Among;

pub use crate::fault::{Call, Chaos, Fault, Script, Verb};
pub use cloud::SimCloud;
pub use options::{SimOptions, Transition};

/// One driver that is connected to a [`SimCloud`].
#[derive(Debug, Clone)]
pub struct Sim {
    cloud: SimCloud,
    shown: Shown,
}

/// What a driver shows the platform to be let in.
#[derive(Debug, Clone)]
enum Shown {
    Nothing,
    Token(Token),
    /// A token that is fetched, and lasts for a while.
    Fetched(Tokens),
}

/// What a driver shows the platform; never printed.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Token(String);

impl Token {
    fn new(token: String) -> Token {
        Token(token)
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token")
    }
}

impl Sim {
    /// Connects to a platform.
    pub fn new(cloud: SimCloud) -> Sim {
        let shown = Shown::Nothing;
        Sim { cloud, shown }
    }

    /// Connects to a platform that may ask for a token.
    pub fn with_token(cloud: SimCloud, token: Option<String>) -> Sim {
        let shown = token.map(Token::new).map_or(Shown::Nothing, Shown::Token);
        Sim { cloud, shown }
    }

    /// Connects to a platform that wants tokens of an OAuth2 client.
    pub fn with_tokens(cloud: SimCloud, tokens: Tokens) -> Sim {
        let shown = Shown::Fetched(tokens);
        Sim { cloud, shown }
    }

    async fn begin(&self, verb: Verb, key: Option<&MachineKey>) -> ProviderResult<Admitted> {
        match &self.shown {
            Shown::Nothing => self.cloud.begin(None, verb, key).await,
            Shown::Token(token) => self.cloud.begin(Some(token), verb, key).await,
            Shown::Fetched(tokens) => {
                let text = tokens.token().await?;
                let token = Token::new(text.reveal().to_owned());
                let outcome = self.cloud.begin(Some(&token), verb, key).await;
                if matches!(outcome, Err(ProviderError::Credentials { .. })) {
                    tokens.refused(&text);
                }
                outcome
            }
        }
    }

    /// The platform.
    pub fn cloud(&self) -> &SimCloud {
        &self.cloud
    }
}

#[async_trait]
impl Provider for Sim {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            power: true,
            console: true,
            tags: true,
            watch: self.cloud.options.pushes,
            instance_types: false,
            lookup: self.cloud.options.lookup,
            changes: self.cloud.options.changes,
            fetches_images: false,
            disk_unit: 1,
        }
    }

    async fn probe(&self) -> ProviderResult<Health> {
        let call = self.begin(Verb::Probe, None).await?;
        let credentials_last = match &self.shown {
            Shown::Fetched(tokens) => tokens.lasts(),
            Shown::Nothing | Shown::Token(_) => None,
        };
        let health = Health {
            credentials_last,
            ..self.cloud.health()
        };
        call.end(health).await
    }

    async fn inventory(&self) -> ProviderResult<Inventory> {
        let call = self.begin(Verb::Inventory, None).await?;
        call.end(self.cloud.inventory()).await
    }

    async fn find(&self, key: &MachineKey) -> ProviderResult<Vec<Facts>> {
        let call = self.begin(Verb::Find, Some(key)).await?;
        let found = self.cloud.look(call.is_stale(), Among::Key(key));
        call.end(found).await
    }

    async fn get(&self, key: &MachineKey, id: &MachineId) -> ProviderResult<Option<Facts>> {
        let call = self.begin(Verb::Get, Some(key)).await?;
        let found = self.cloud.look(false, Among::Key(key));
        call.end(found.into_iter().find(|facts| facts.id == *id))
            .await
    }

    async fn find_all(&self, keys: &[MachineKey]) -> ProviderResult<Vec<Facts>> {
        let call = self.begin(Verb::FindAll, None).await?;
        let keys: HashSet<&MachineKey> = keys.iter().collect();
        let found = self.cloud.look(call.is_stale(), Among::Keys(&keys));
        call.end(found).await
    }

    async fn list(&self, cluster: &str) -> ProviderResult<Vec<Facts>> {
        let call = self.begin(Verb::List, None).await?;
        let found = self.cloud.look(call.is_stale(), Among::Cluster(cluster));
        call.end(found).await
    }

    async fn create(&self, key: &MachineKey, want: &Want) -> ProviderResult<Facts> {
        let call = self.begin(Verb::Create, Some(key)).await?;
        let facts = self.cloud.create(key, want)?;
        if call.is_repeated() {
            let _ = self.cloud.create(key, want);
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
        self.cloud.update(key, id, change)?;
        if call.is_repeated() {
            let _ = self.cloud.update(key, id, change);
        }
        call.end(()).await
    }

    async fn delete(
        &self,
        key: &MachineKey,
        id: &MachineId,
        _: Option<Duration>,
    ) -> ProviderResult<()> {
        let call = self.begin(Verb::Delete, Some(key)).await?;
        self.cloud.delete(key, id)?;
        if call.is_repeated() {
            let _ = self.cloud.delete(key, id);
        }
        call.end(()).await
    }

    fn watch(&self) -> Option<BoxStream<'static, MachineKey>> {
        if !self.cloud.options.pushes {
            return None;
        }
        let hints = BroadcastStream::new(self.cloud.hints());
        Some(hints.filter_map(async |hint| hint.ok()).boxed())
    }

    fn console(&self) -> Option<&dyn Console> {
        Some(self)
    }
}

#[async_trait]
impl Console for Sim {
    async fn output(
        &self,
        key: &MachineKey,
        id: &MachineId,
        offset: u64,
    ) -> ProviderResult<Vec<u8>> {
        let call = self.begin(Verb::Console, Some(key)).await?;
        let text = self.cloud.console(key, id)?;
        let from = usize::try_from(offset)
            .unwrap_or(usize::MAX)
            .min(text.len());
        call.end(text.as_bytes()[from..].to_vec()).await
    }
}

#[cfg(test)]
mod tests;
