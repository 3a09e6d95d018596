//! Where things are: one directory a machine, and the locks that keep two hands off it.
//!
//! A machine's directory appears under its name with its record already in it, and leaves
//! under another name before it is emptied: a crash in between leaves something that says
//! what it is.

use std::{
    ffi::OsString,
    fs::{self, DirBuilder, File, OpenOptions, TryLockError},
    io,
    os::unix::fs::{DirBuilderExt, MetadataExt},
    path::{Path, PathBuf},
    time::Duration,
};

use machinist_core::{machine::MachineKey, provider::ProviderError};
use tokio::time::{Instant, sleep};

use super::{error::io_fault, record::Record};
use crate::shared::files;

const CREATING: &str = ".creating-";
const DELETING: &str = ".deleting-";
/// How often a lock that another process holds is tried again.
const LOCK_PAUSE: Duration = Duration::from_millis(5);
/// How long a lock may be waited for.
const LOCK_LIMIT: Duration = Duration::from_secs(30);

/// The directories below a driver's root.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    pub machines: PathBuf,
    pub images: PathBuf,
    pub root: PathBuf,
}

/// The right to change one machine; ends with the value, or with the process.
#[derive(Debug)]
pub(super) struct DirLock {
    _directory: File,
}

impl Layout {
    pub(super) fn create(root: &Path) -> io::Result<Layout> {
        let mut private = DirBuilder::new();
        private.recursive(true).mode(0o700);
        private.create(root)?;
        // Absolute, because QEMU and its tools run with another working directory.
        let root = fs::canonicalize(root)?;
        let layout = Layout {
            machines: root.join("machines"),
            images: root.join("images"),
            root,
        };
        private.create(&layout.machines)?;
        private.create(&layout.images)?;
        Ok(layout)
    }

    pub(super) fn dir(&self, uid: &str) -> PathBuf {
        self.machines.join(uid)
    }

    fn leaving(&self, uid: &str) -> PathBuf {
        self.machines.join(format!("{DELETING}{uid}"))
    }

    /// UIDs of every machine directory, and of those whose removal was cut short.
    pub(super) fn uids(&self) -> Result<(Vec<String>, Vec<String>), ProviderError> {
        let fault = |source| io_fault("list", &self.machines, source);
        let (mut here, mut leaving) = (Vec::new(), Vec::new());
        for entry in fs::read_dir(&self.machines).map_err(fault)? {
            let name = entry.map_err(fault)?.file_name();
            let name = OsString::into_string(name).unwrap_or_default();
            if let Some(uid) = name.strip_prefix(DELETING) {
                leaving.push(uid.to_owned());
            } else if !name.starts_with('.') {
                here.push(name);
            }
        }
        here.sort();
        Ok((here, leaving))
    }

    /// The record of a machine; `None` when it has no directory. A directory without a
    /// readable record is a doubt, and so an error.
    pub(super) fn record(&self, uid: &str) -> Result<Option<Record>, ProviderError> {
        let dir = self.dir(uid);
        match Record::load(&dir) {
            Ok(record) => Ok(Some(record)),
            // Only now: the directory may leave between two looks, never come without a record.
            Err(_) if !dir.exists() => Ok(None),
            Err(error) => Err(ProviderError::transport(
                format!(
                    "{} has no usable {} (repair it, or remove the directory when no QEMU uses it)",
                    dir.display(),
                    super::record::FILE
                ),
                error,
            )),
        }
    }

    /// Takes the right to change a machine; `None` when it has no directory.
    pub(super) async fn lock(&self, uid: &str) -> Result<Option<DirLock>, ProviderError> {
        let deadline = Instant::now() + LOCK_LIMIT;
        loop {
            match self.try_lock(uid)? {
                Taken::Lock(lock) => return Ok(Some(lock)),
                Taken::Absent => return Ok(None),
                Taken::Busy if Instant::now() >= deadline => {
                    return Err(ProviderError::Busy {
                        reason: format!("another process is changing {}", self.dir(uid).display()),
                        retry_after: None,
                    });
                }
                Taken::Busy => sleep(LOCK_PAUSE).await,
            }
        }
    }

    /// The same without waiting.
    pub(super) fn try_lock(&self, uid: &str) -> Result<Taken, ProviderError> {
        let path = self.dir(uid);
        let fault = |source| io_fault("lock", &path, source);
        loop {
            let directory = match File::open(&path) {
                Ok(directory) => directory,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Taken::Absent),
                Err(error) => return Err(fault(error)),
            };
            match directory.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(Taken::Busy),
                Err(TryLockError::Error(error)) => return Err(fault(error)),
            }
            // The directory may have left, and another come, before the lock was taken.
            let ours = directory.metadata().map_err(fault)?;
            match fs::metadata(&path) {
                Ok(there) if (there.dev(), there.ino()) == (ours.dev(), ours.ino()) => {
                    return Ok(Taken::Lock(DirLock {
                        _directory: directory,
                    }));
                }
                _ => {}
            }
        }
    }

    /// Serialises what must be unique among the machines of this root.
    pub(super) async fn lock_all(&self) -> Result<File, ProviderError> {
        let path = self.machines.join(".lock");
        let file = OpenOptions::new()
            .create(true)
            .write(true)
            .truncate(false)
            .open(&path)
            .map_err(|source| io_fault("open", &path, source))?;
        let deadline = Instant::now() + LOCK_LIMIT;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                    sleep(LOCK_PAUSE).await;
                }
                Err(error) => return Err(io_fault("lock", &path, error.into())),
            }
        }
    }

    /// Makes the machine's directory appear, with its record in it and locked. Must be
    /// called with [`Layout::lock_all`] held and no directory of that name there.
    pub(super) fn place(&self, key: &MachineKey, record: &Record) -> Result<DirLock, ProviderError> {
        let target = self.dir(key.machine());
        let fault = |source| io_fault("create", &target, source);
        // Nobody else is placing: what has this prefix was left by a crash.
        for entry in fs::read_dir(&self.machines).map_err(fault)?.flatten() {
            if entry.file_name().to_string_lossy().starts_with(CREATING) {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
        let temporary = self.machines.join(format!("{CREATING}{}", key.machine()));
        DirBuilder::new()
            .mode(0o700)
            .create(&temporary)
            .map_err(fault)?;
        let placed = (|| {
            let directory = File::open(&temporary)?;
            directory.try_lock()?;
            record.save(&temporary)?;
            fs::rename(&temporary, &target)?;
            files::sync_parent(&target)?;
            Ok(directory)
        })();
        match placed {
            Ok(directory) => Ok(DirLock {
                _directory: directory,
            }),
            Err(error) => {
                let _ = fs::remove_dir_all(&temporary);
                Err(fault(error))
            }
        }
    }

    /// Removes a machine's directory; what a crash leaves is finished by [`Layout::sweep`].
    /// Must be called with the machine's lock held and its QEMU gone.
    pub(super) fn remove(&self, uid: &str) -> Result<(), ProviderError> {
        let (from, to) = (self.dir(uid), self.leaving(uid));
        self.sweep(uid)?;
        match fs::rename(&from, &to) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(io_fault("remove", &from, error)),
        }
        self.sweep(uid)
    }

    /// Finishes a removal; `Ok` when nothing is left of it.
    pub(super) fn sweep(&self, uid: &str) -> Result<(), ProviderError> {
        let path = self.leaving(uid);
        match fs::remove_dir_all(&path) {
            Ok(()) => files::sync_parent(&path).map_err(|source| io_fault("remove", &path, source)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(io_fault("remove", &path, error)),
        }
    }
}

/// What came of trying to lock a machine's directory.
#[derive(Debug)]
pub(super) enum Taken {
    Lock(DirLock),
    Busy,
    Absent,
}
