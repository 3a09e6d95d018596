//! Machines as QEMU processes on this host, without a daemon in between.
//!
//! Each machine is a directory below the driver's root that holds its record, its disks,
//! its seed and its sockets, and (while it runs) one QEMU process. The directory is the
//! tag: everything is found again from it, by this process or by the next. QEMU outlives
//! the control plane and is adopted by whoever looks next.
//!
//! What takes time (a guest that shuts down) is written into the record with its
//! deadline, and whoever looks at the machine after that brings it to its end: no crash
//! can leave it half-way for good.

mod accel;
mod agent;
mod alter;
mod binary;
mod command;
mod config;
mod create;
mod disk;
mod error;
mod facts;
mod firmware;
mod host;
mod inventory;
mod layout;
mod network;
mod plug;
mod power;
mod probe;
mod process;
mod qmp;
mod record;
mod seed;
mod socket;
mod start;
mod validate;
mod watch;

use std::{future::Future, sync::Arc, time::Duration};

use async_trait::async_trait;
use futures::{StreamExt, stream::BoxStream};
use machinist_core::{
    machine::{Facts, MachineId, MachineKey, Want},
    provider::{
        Capabilities, Change, Changes, Console, Health, Inventory, Lookup, Provider, ProviderError,
        ProviderResult, When,
    },
};
use tokio_stream::wrappers::BroadcastStream;

use crate::shared::images::Transfers;
pub use config::{Accelerator, Network, QemuConfig};
pub use error::QemuError;
use host::Host;

/// Runs machines as QEMU processes on this host.
pub struct Qemu {
    host: Arc<Host>,
    /// Tasks that follow machines end when this is dropped.
    _alive: tokio::sync::watch::Sender<()>,
}

impl Qemu {
    /// Opens the driver on its root directory, which is made when it is not there. Inside
    /// a tokio runtime it begins at once to find out which accelerator works.
    ///
    /// # Errors
    /// When the directory cannot be used or the network is not one that guests can be on.
    /// A missing QEMU is no error here: it may be installed later, and
    /// [`Provider::probe`] tells.
    pub fn new(config: QemuConfig) -> Result<Qemu, QemuError> {
        let (alive, closing) = tokio::sync::watch::channel(());
        let host = Arc::new(Host::open(config, closing)?);
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let host = Arc::clone(&host);
            runtime.spawn(async move {
                if let Ok(qemu) = host.binary() {
                    host.chooser.choose(&qemu).await;
                }
            });
        }
        Ok(Qemu {
            host,
            _alive: alive,
        })
    }

    /// Follows the image transfers that are going on, by URL.
    pub fn downloads(&self) -> tokio::sync::watch::Receiver<Transfers> {
        self.host.images.transfers()
    }

    /// Runs work to its end even when the caller stops waiting for it: a change that is
    /// dropped half-way would leave what only the next look could repair.
    async fn finish<T: Send + 'static>(
        &self,
        work: impl Future<Output = ProviderResult<T>> + Send + 'static,
    ) -> ProviderResult<T> {
        match tokio::spawn(work).await {
            Ok(outcome) => outcome,
            Err(gone) => Err(ProviderError::transport("the driver's task ended", gone)),
        }
    }
}

#[async_trait]
impl Provider for Qemu {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            power: true,
            console: true,
            tags: true,
            watch: true,
            instance_types: false,
            lookup: Lookup::Consistent,
            changes: Changes {
                resize: When::Stopped,
                attach_disk: When::Always,
                detach_disk: When::Always,
                grow_disk: When::Always,
                // A running guest takes a new card at once, but was seen not to let go of one.
                nics: When::Stopped,
            },
            fetches_images: true,
            disk_unit: disk::UNIT,
        }
    }

    async fn probe(&self) -> ProviderResult<Health> {
        self.host.probe().await
    }

    async fn inventory(&self) -> ProviderResult<Inventory> {
        Ok(self.host.inventory())
    }

    async fn find(&self, key: &MachineKey) -> ProviderResult<Vec<Facts>> {
        let (host, key) = (Arc::clone(&self.host), key.clone());
        self.finish(async move { host.find(&key).await }).await
    }

    async fn list(&self, cluster: &str) -> ProviderResult<Vec<Facts>> {
        let (host, cluster) = (Arc::clone(&self.host), cluster.to_owned());
        self.finish(async move { host.list(&cluster).await }).await
    }

    async fn create(&self, key: &MachineKey, want: &Want) -> ProviderResult<Facts> {
        let (host, key, want) = (Arc::clone(&self.host), key.clone(), want.clone());
        self.finish(async move { host.create(&key, &want).await })
            .await
    }

    async fn update(
        &self,
        key: &MachineKey,
        id: &MachineId,
        change: &Change,
    ) -> ProviderResult<()> {
        let (host, key, id) = (Arc::clone(&self.host), key.clone(), id.clone());
        let change = change.clone();
        self.finish(async move { host.update(&key, &id, &change).await })
            .await
    }

    async fn delete(
        &self,
        key: &MachineKey,
        id: &MachineId,
        grace: Option<Duration>,
    ) -> ProviderResult<()> {
        let (host, key, id) = (Arc::clone(&self.host), key.clone(), id.clone());
        self.finish(async move { host.delete(&key, &id, grace).await })
            .await
    }

    fn watch(&self) -> Option<BoxStream<'static, MachineKey>> {
        let hints = self.host.hints.subscribe();
        self.host.follow_all();
        // A follower that fell behind has lost hints; the engine's own polling covers that.
        Some(
            BroadcastStream::new(hints)
                .filter_map(async |hint| hint.ok())
                .boxed(),
        )
    }

    fn console(&self) -> Option<&dyn Console> {
        Some(self)
    }
}

#[async_trait]
impl Console for Qemu {
    async fn output(
        &self,
        key: &MachineKey,
        id: &MachineId,
        offset: u64,
    ) -> ProviderResult<Vec<u8>> {
        self.host.console(key, id, offset)
    }
}
