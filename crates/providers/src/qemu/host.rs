//! What all parts of the driver share, and looking machines up.

use std::{
    collections::{HashMap, HashSet},
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures::{StreamExt, TryStreamExt, stream};
use machinist_core::{
    machine::{Facts, MachineId, MachineKey},
    provider::{ProviderError, ProviderResult},
};
use tokio::sync::{broadcast, watch};

use super::{
    accel::Chooser,
    agent::Report,
    binary, command,
    config::QemuConfig,
    error::{QemuError, io_fault},
    layout::{Layout, Taken},
    network, process,
    record::Record,
};
use crate::shared::images::ImageStore;

/// Machines that are asked at the same time when all are listed.
const LOOKS: usize = 16;
/// A console is read in pieces of at most this size.
const CONSOLE_PIECE: u64 = 4 << 20;

/// The driver's state; none of it is needed to find a machine again.
pub(super) struct Host {
    pub config: QemuConfig,
    pub layout: Layout,
    pub images: ImageStore,
    pub chooser: Chooser,
    pub hints: broadcast::Sender<MachineKey>,
    pub closing: watch::Receiver<()>,
    /// Machines whose events are being followed.
    pub followed: Mutex<HashSet<String>>,
    /// Machines whose pending end is being waited for.
    pub enforced: Mutex<HashSet<String>>,
    /// The guest's last words to us, by machine, of the process with this start time.
    pub reports: Mutex<HashMap<String, (String, Report)>>,
}

impl Host {
    pub(super) fn open(
        config: QemuConfig,
        closing: watch::Receiver<()>,
    ) -> Result<Host, QemuError> {
        network::check(config.network)?;
        let layout = Layout::create(&config.root).map_err(|source| QemuError::Root {
            path: config.root.clone(),
            source,
        })?;
        Ok(Host {
            images: ImageStore::new(
                layout.images.clone(),
                config.image_dirs.clone(),
                config.images.clone(),
            )
            .reaching(config.reach),
            chooser: Chooser::new(layout.root.clone(), config.accelerator),
            hints: broadcast::Sender::new(1024),
            followed: Mutex::default(),
            enforced: Mutex::default(),
            reports: Mutex::default(),
            config,
            layout,
            closing,
        })
    }

    pub(super) fn binary(&self) -> ProviderResult<PathBuf> {
        binary::qemu(self.config.binary.as_deref())
    }

    pub(super) async fn find(self: &Arc<Host>, key: &MachineKey) -> ProviderResult<Vec<Facts>> {
        let uid = key.machine();
        self.layout.sweep(uid)?;
        match self.layout.record(uid)? {
            Some(record) if record.is_of(key) => {
                Ok(self.observe(record).await?.into_iter().collect())
            }
            _ => Ok(Vec::new()),
        }
    }

    pub(super) async fn list(self: &Arc<Host>, cluster: &str) -> ProviderResult<Vec<Facts>> {
        let (uids, leaving) = self.layout.uids()?;
        for uid in leaving {
            self.layout.sweep(&uid)?;
        }
        let mut records = Vec::new();
        for uid in uids {
            if let Some(record) = self.layout.record(&uid)?
                && record.cluster == cluster
            {
                records.push(record);
            }
        }
        let looks = stream::iter(records).map(|record| self.observe(record));
        let seen: Vec<Option<Facts>> = looks.buffered(LOOKS).try_collect().await?;
        Ok(seen.into_iter().flatten().collect())
    }

    /// What the machine is now, after bringing to an end what is due. `None` when that
    /// was its removal, or when it is what a crash left of a machine that was never made.
    pub(super) async fn observe(self: &Arc<Host>, record: Record) -> ProviderResult<Option<Facts>> {
        if record.made && record.pending.is_none() && !record.is_unfinished() {
            return self.facts(&record).await.map(Some);
        }
        let uid = record.machine.clone();
        match self.layout.try_lock(&uid)? {
            Taken::Absent => Ok(None),
            // Whoever has the lock is making it, or is bringing it to its end.
            Taken::Busy => self.facts(&record).await.map(Some),
            Taken::Lock(lock) => {
                let Some(record) = self.layout.record(&uid)? else {
                    return Ok(None);
                };
                if !record.made {
                    self.discard(&record).await?;
                    return Ok(None);
                }
                let mut settled = self.settle(record).await?;
                if let Some(record) = settled.as_mut()
                    && let Err(error) = self.plug(&lock, record).await
                {
                    // What is there is told; whoever asked for the device is told why it is not.
                    tracing::warn!(machine = uid, %error, "a device is half-way in or out");
                }
                drop(lock);
                match settled {
                    Some(record) => self.facts(&record).await.map(Some),
                    None => Ok(None),
                }
            }
        }
    }

    /// The record of a machine that is named by both its id and its key.
    pub(super) fn owned(&self, key: &MachineKey, id: &MachineId) -> ProviderResult<Record> {
        let absent = || ProviderError::NotFound {
            what: format!("machine {id}"),
        };
        // The id is a directory's name: nothing that could be a path gets further.
        if id.as_str().is_empty() || id.as_str().starts_with('.') || id.as_str().contains('/') {
            return Err(absent());
        }
        let record = self.layout.record(id.as_str())?.ok_or_else(absent)?;
        match record.is_of(key) {
            true => Ok(record),
            false => Err(ProviderError::NotOwned {
                id: self.layout.dir(id.as_str()).display().to_string(),
                key: key.to_string(),
            }),
        }
    }

    /// Removes what is left of a machine that never ran, or of one that was ended.
    pub(super) async fn discard(&self, record: &Record) -> ProviderResult<()> {
        let uid = &record.machine;
        self.layout.remove(uid)?;
        guard(&self.reports).remove(uid);
        let _all = self.layout.lock_all().await?;
        let (others, unreadable) = self.others(uid)?;
        // What an unreadable record uses is not known, so everything may be in use.
        if unreadable == 0 {
            let used: HashSet<String> =
                others.into_iter().filter_map(|other| other.image).collect();
            self.images.prune(|name| used.contains(name));
        }
        self.hint(record);
        Ok(())
    }

    /// The records of all machines but this one, and how many cannot be read.
    pub(super) fn others(&self, uid: &str) -> ProviderResult<(Vec<Record>, usize)> {
        let (uids, _) = self.layout.uids()?;
        let (mut records, mut unreadable) = (Vec::new(), 0);
        for other in uids.iter().filter(|other| *other != uid) {
            match self.layout.record(other) {
                Ok(record) => records.extend(record),
                Err(_) => unreadable += 1,
            }
        }
        Ok((records, unreadable))
    }

    /// Tells whoever follows that something about the machine changed.
    pub(super) fn hint(&self, record: &Record) {
        if let Ok(key) = record.key() {
            // Without a follower there is nobody to tell.
            let _ = self.hints.send(key);
        }
    }

    pub(super) fn console(
        &self,
        key: &MachineKey,
        id: &MachineId,
        offset: u64,
    ) -> ProviderResult<Vec<u8>> {
        let record = self.owned(key, id)?;
        let path = self.layout.dir(&record.machine).join(command::SERIAL_LOG);
        let read = || -> io::Result<Vec<u8>> {
            let mut file = File::open(&path)?;
            file.seek(SeekFrom::Start(offset))?;
            let mut piece = Vec::new();
            file.take(CONSOLE_PIECE).read_to_end(&mut piece)?;
            Ok(piece)
        };
        match read() {
            Ok(piece) => Ok(piece),
            // Not started yet: nothing was written.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(io_fault("read", &path, error)),
        }
    }

    /// Whether a QEMU of this machine lives.
    pub(super) fn lives(&self, record: &Record) -> ProviderResult<bool> {
        let dir = self.layout.dir(&record.machine);
        process::lives(&dir).map_err(|source| io_fault("look for QEMU in", &dir, source))
    }

    pub(super) fn save(&self, record: &Record) -> ProviderResult<()> {
        let dir = self.layout.dir(&record.machine);
        record
            .save(&dir)
            .map_err(|source| io_fault("write the record in", &dir, source))
    }
}

/// What a mutex guards; a task that panicked leaves it whole.
pub(super) fn guard<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
