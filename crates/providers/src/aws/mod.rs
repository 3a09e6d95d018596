//! Machines on Amazon EC2, over a thin signed client.
//!
//! EC2 is far away and eventually consistent. What keeps a machine one: a token of its key on
//! each request that makes something ([`create`], [`volumes`]), a tag of its key on everything that
//! was made ([`tags`]), and the care not to take silence or an old answer for absence ([`look`]).
//!
//! How long a call may take, when it is made again, and how many are made at a time is decided by
//! those who call.

mod change;
mod config;
mod create;
mod facts;
mod inventory;
mod launch;
mod look;
mod model;
mod remove;
mod tags;
mod user_data;
mod volumes;
pub mod wire;

use std::{
    collections::{BTreeMap, HashMap},
    sync::Mutex,
    time::Duration,
};

use async_trait::async_trait;
use machinist_core::{
    machine::{Facts, MachineId, MachineKey, Want},
    provider::{
        Capabilities, Change, Changes, Health, Inventory, Lookup, Provider, ProviderResult, When,
    },
};

pub use config::AwsConfig;
use look::Unseen;
use wire::{AwsError, Client, Query};

/// The driver for EC2 in one region.
#[derive(Debug)]
pub struct Aws {
    client: Client,
    config: AwsConfig,
    unseen: Unseen,
    /// Sizes of instance types, which do not change.
    types: Mutex<HashMap<String, facts::Size>>,
}

impl Aws {
    /// A driver; nothing is asked of EC2 yet.
    ///
    /// # Errors
    /// When the endpoint is no address.
    pub fn new(config: AwsConfig) -> ProviderResult<Aws> {
        Ok(Aws {
            client: Client::new(
                &config.endpoint,
                &config.region,
                config.keys.clone(),
                config.way.clone(),
            )?,
            config,
            unseen: Unseen::default(),
            types: Mutex::default(),
        })
    }
}

#[async_trait]
impl Provider for Aws {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            power: true,
            console: false,
            tags: true,
            watch: false,
            instance_types: true,
            lookup: Lookup::Eventual,
            changes: Changes {
                resize: When::Stopped,
                attach_disk: When::Always,
                detach_disk: When::Always,
                grow_disk: When::Always,
                nics: When::Never,
            },
            fetches_images: false,
            disk_unit: 1 << 30,
        }
    }

    async fn probe(&self) -> ProviderResult<Health> {
        let answer = self
            .client
            .call(&Query::new("DescribeAvailabilityZones"))
            .await;
        let answer = answer.map_err(AwsError::plainly)?;
        let zones = answer.items(&["availabilityZoneInfo"]);
        let zones: Vec<&str> = zones.filter_map(|zone| zone.text(&["zoneName"])).collect();
        Ok(Health {
            endpoint: self.client.endpoint().to_owned(),
            version: Some(wire::VERSION.to_owned()),
            details: BTreeMap::from([
                ("region".to_owned(), self.config.region.clone()),
                ("zones".to_owned(), zones.join(",")),
            ]),
            ..Health::default()
        })
    }

    async fn inventory(&self) -> ProviderResult<Inventory> {
        self.stock().await.map_err(AwsError::plainly)
    }

    async fn find(&self, key: &MachineKey) -> ProviderResult<Vec<Facts>> {
        let view = self.view_of(key).await.map_err(AwsError::plainly)?;
        Ok(self.facts(key, &view).await)
    }

    async fn get(&self, key: &MachineKey, id: &MachineId) -> ProviderResult<Option<Facts>> {
        if id.as_str().starts_with("i-") {
            return self.read(key, id).await;
        }
        let found = self.find(key).await?;
        Ok(found.into_iter().find(|facts| facts.id == *id))
    }

    async fn find_all(&self, keys: &[MachineKey]) -> ProviderResult<Vec<Facts>> {
        let names: Vec<String> = keys.iter().map(MachineKey::to_string).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut all = Vec::new();
        for some in names.chunks(look::VALUES) {
            let view = self.view(tags::KEY, some).await;
            let view = view.map_err(AwsError::plainly)?;
            all.extend(self.facts_of_all(view).await);
        }
        Ok(all)
    }

    async fn list(&self, cluster: &str) -> ProviderResult<Vec<Facts>> {
        let view = self.view(tags::CLUSTER, &[cluster]).await;
        let view = view.map_err(AwsError::plainly)?;
        Ok(self.facts_of_all(view).await)
    }

    async fn create(&self, key: &MachineKey, want: &Want) -> ProviderResult<Facts> {
        self.make(key, want).await
    }

    async fn update(
        &self,
        key: &MachineKey,
        id: &MachineId,
        change: &Change,
    ) -> ProviderResult<()> {
        self.change(key, id, change).await
    }

    /// EC2 gives a guest its own time to shut down.
    async fn delete(
        &self,
        key: &MachineKey,
        id: &MachineId,
        _: Option<Duration>,
    ) -> ProviderResult<()> {
        self.remove(key, id).await
    }
}
