//! Making a machine exist: look, reserve, make, start. Each step leaves what the next look
//! understands, so that a crash after any of them ends in one machine or in none.

use std::{collections::BTreeSet, fs, sync::Arc, time::Duration};

use machinist_core::{
    machine::{Facts, Image, MachineKey, Power, Want},
    provider::{ProviderError, ProviderResult},
};
use tokio::time::timeout;

use super::{
    binary, disk,
    disk::Base,
    error::io_fault,
    firmware,
    host::Host,
    layout::DirLock,
    network,
    power::being_removed,
    record::Record,
    seed, validate,
};
use crate::shared::{
    files,
    images::{ImageError, Resolved},
};

/// An image may be pruned between two steps by the removal of the last machine that used it.
const ATTEMPTS: u32 = 3;

impl Host {
    pub(super) async fn create(self: &Arc<Host>, key: &MachineKey, want: &Want) -> ProviderResult<Facts> {
        for _ in 0..ATTEMPTS {
            if let Some(facts) = self.existing(key, want).await? {
                return Ok(facts);
            }
            validate::check(want, &self.config)?;
            self.binary()?;
            binary::image_tool()?;
            let base = match &want.image {
                Some(image) => Some(self.base(image).await?),
                None => None,
            };
            let image = base.as_ref().and_then(|base| base.path.file_name());
            let image = image.map(|name| name.to_string_lossy().into_owned());
            let record = Record::new(key, want, image);
            disk::check(&record, base.as_ref())?;
            network::interfaces(&record, self.config.network)?;
            if let Some((lock, mut record)) = self.reserve(key, record).await? {
                let made = self.make(&mut record, want, base.as_ref()).await;
                if let Err(error) = made {
                    // It never ran: nothing in it is worth keeping, and the retry begins anew.
                    if !self.lives(&record)? {
                        self.discard(&record).await?;
                    }
                    return Err(error);
                }
                drop(lock);
                self.hint(&record);
                return self.facts(&record).await;
            }
        }
        Err(ProviderError::Busy {
            reason: format!("another process is creating machine {}", want.name),
            retry_after: None,
        })
    }

    /// The machine, when it exists; it is started when it should run. What a crash left of
    /// one that was never made is removed.
    async fn existing(self: &Arc<Host>, key: &MachineKey, want: &Want) -> ProviderResult<Option<Facts>> {
        let uid = key.machine();
        self.layout.sweep(uid)?;
        let Some(lock) = self.layout.lock(uid).await? else {
            return Ok(None);
        };
        let Some(record) = self.layout.record(uid)? else {
            return Ok(None);
        };
        if !record.is_of(key) {
            return Err(ProviderError::NotOwned {
                id: self.layout.dir(uid).display().to_string(),
                key: key.to_string(),
            });
        }
        if !record.made {
            self.discard(&record).await?;
            return Ok(None);
        }
        let Some(mut record) = self.settle(record).await? else {
            return Ok(None);
        };
        match record.pending {
            Some(pending) if pending.goal == super::record::Goal::Delete => {
                return Err(being_removed(&record));
            }
            None if want.power == Power::On => self.start(&mut record).await?,
            _ => {}
        }
        drop(lock);
        self.facts(&record).await.map(Some)
    }

    /// The image's file, once it is here.
    async fn base(&self, image: &Image) -> ProviderResult<Base> {
        let fault = |error| ImageError::into_provider(error, &image.reference);
        let resolved = self.images.resolve(image).map_err(|error| fault(Arc::new(error)))?;
        match timeout(self.config.image_wait, self.images.fetch(&resolved)).await {
            Ok(Ok(path)) => Base::open(path).map_err(|error| fault(Arc::new(error))),
            Ok(Err(error)) => Err(fault(error)),
            Err(_) => Err(self.fetching(image, &resolved)),
        }
    }

    fn fetching(&self, image: &Image, resolved: &Resolved) -> ProviderError {
        let progress = self.images.progress(resolved).unwrap_or_default();
        let done = files::human_size(progress.done);
        let of = progress.total.map_or_else(String::new, |total| format!(" of {}", files::human_size(total)));
        ProviderError::Busy {
            reason: format!("fetching image {}: {done}{of}", image.reference),
            retry_after: Some(Duration::from_secs(1)),
        }
    }

    /// Makes the machine's directory with its record and takes its lock; `None` when it
    /// exists by now, or when the image left the cache.
    async fn reserve(&self, key: &MachineKey, mut record: Record) -> ProviderResult<Option<(DirLock, Record)>> {
        let _all = self.layout.lock_all().await?;
        let image = record.image.as_deref().map(|name| self.images.path(name));
        if self.layout.dir(key.machine()).exists() || image.is_some_and(|path| !path.exists()) {
            return Ok(None);
        }
        let (others, _) = self.others(key.machine())?;
        let taken: BTreeSet<u32> = others.iter().map(|other| other.index).collect();
        record.index = network::free_index(&taken)?;
        let lock = self.layout.place(key, &record)?;
        Ok(Some((lock, record)))
    }

    async fn make(self: &Arc<Host>, record: &mut Record, want: &Want, base: Option<&Base>) -> ProviderResult<()> {
        let dir = self.layout.dir(&record.machine);
        disk::make(&dir, record, base).await?;
        if record.asked.seed {
            let path = dir.join(seed::FILE);
            let fault = |source| io_fault("write", &path, source);
            let volume = seed::build(&record.machine, &want.init).map_err(fault)?;
            fs::write(&path, volume).map_err(fault)?;
        }
        if record.asked.uefi {
            firmware::install(&dir, record.asked.secure_boot)?;
        }
        // Only now is the directory a machine: before this a crash leaves something to discard.
        record.made = true;
        self.save(record)?;
        match want.power {
            Power::On => self.start(record).await,
            Power::Off => Ok(()),
        }
    }
}
