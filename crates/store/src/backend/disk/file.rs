//! The file of a store in its directory: made whole or not at all, private to its owner.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use redb::backends::FileBackend;

use super::load::{self, FillError, LoadError};
use super::{Disk, FORMAT, Medium, SEGMENTS};
use crate::backend::Loaded;
use crate::error::OpenError;
use crate::snapshot::{RestoreError, SnapshotError};
use crate::types::{Entry, Revision};

/// The name of the file in the directory of a store.
const FILE: &str = "store.redb";

/// The names of the journal's segments.
const JOURNALS: [&str; SEGMENTS] = ["journal.0", "journal.1"];

/// The files of a store by their directory.
#[derive(Clone)]
pub(crate) struct DiskFile(PathBuf);

impl Medium for DiskFile {
    type Storage = FileBackend;

    fn storage(&self) -> io::Result<FileBackend> {
        let path = self.0.join(FILE);
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        // A store is never made in place, so an empty file has lost what it held; the database
        // would take it for a new one.
        if file.metadata()?.len() == 0 {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the file is empty",
            ));
        }
        FileBackend::new(file).map_err(io::Error::other)
    }

    fn journal_if_any(&self, segment: usize) -> io::Result<Option<FileBackend>> {
        let path = self.0.join(JOURNALS[segment]);
        match OpenOptions::new().read(true).write(true).open(path) {
            Ok(file) => FileBackend::new(file).map(Some).map_err(io::Error::other),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn journal(&self, segment: usize) -> io::Result<FileBackend> {
        if let Some(found) = self.journal_if_any(segment)? {
            return Ok(found);
        }
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(self.0.join(JOURNALS[segment]))?;
        // What is synced into a file whose name is lost would be lost with it.
        File::open(&self.0)?.sync_all()?;
        FileBackend::new(file).map_err(io::Error::other)
    }
}

/// A file that is to be made now.
#[derive(Clone)]
struct NewFile(PathBuf);

impl Medium for NewFile {
    type Storage = FileBackend;

    fn storage(&self) -> io::Result<FileBackend> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&self.0)?;
        FileBackend::new(file).map_err(io::Error::other)
    }

    fn journal_if_any(&self, _: usize) -> io::Result<Option<FileBackend>> {
        Ok(None)
    }

    fn journal(&self, _: usize) -> io::Result<FileBackend> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

impl Disk {
    /// Opens the store of a directory, or makes both.
    pub(crate) fn open_dir(dir: &Path, uid: Option<String>) -> Result<(Self, Loaded), OpenError> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(dir)
            .map_err(failure("create", dir))?;
        let path = dir.join(FILE);
        if !path.try_exists().map_err(failure("look for", &path))? {
            let uid = uid.unwrap_or_else(|| uuid::Uuid::new_v4().to_string());
            create(dir, &path, |medium| {
                let made = load::initialize(medium, &uid);
                made.map_err(|error| failure("create", &path)(io::Error::other(error)))
            })?;
        }
        load::load(DiskFile(dir.to_owned())).map_err(|error| match error {
            LoadError::Database(redb::Error::DatabaseAlreadyOpen) => OpenError::Locked { path },
            LoadError::Newer(found) => OpenError::Newer {
                found,
                supported: FORMAT,
                path,
            },
            other => match other.into_io() {
                Ok(source) => failure("read", &path)(source),
                Err(source) => OpenError::Damaged { path, source },
            },
        })
    }
}

impl Disk {
    /// Makes the store of a directory that has none: these entries, and nothing of the past.
    pub(crate) fn make(
        dir: &Path,
        uid: &str,
        revision: Revision,
        next: impl FnMut() -> Result<Option<Entry>, SnapshotError>,
    ) -> Result<(), RestoreError> {
        let path = dir.join(FILE);
        create(dir, &path, |medium| {
            load::fill(medium, uid, revision, next).map_err(|error| match error {
                FillError::Entry(error) => RestoreError::Snapshot(error),
                FillError::Database(error) => {
                    RestoreError::Store(failure("create", &path)(io::Error::other(error)))
                }
            })
        })
    }
}

/// Makes a store under a name of its own, and gives it the real name when it is whole: a crash on
/// the way leaves no file that looks like a store, and of two processes that do this at once, one
/// uses the file of the other.
fn create<E: From<OpenError>>(
    dir: &Path,
    path: &Path,
    fill: impl FnOnce(&NewFile) -> Result<(), E>,
) -> Result<(), E> {
    let draft = dir.join(format!("{FILE}.{}", uuid::Uuid::new_v4()));
    let made = fill(&NewFile(draft.clone())).and_then(|()| {
        match std::fs::hard_link(&draft, path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            other => other,
        }
        .map_err(|error| failure("create", path)(error).into())
    });
    // Whether it has its real name by now or not, the draft name has done its work.
    let removed = std::fs::remove_file(&draft).map_err(failure("create", path));
    made?;
    removed?;
    let synced = File::open(dir).and_then(|dir| dir.sync_all());
    Ok(synced.map_err(failure("create", path))?)
}

fn failure(action: &'static str, path: &Path) -> impl Fn(io::Error) -> OpenError {
    move |source| OpenError::Io {
        action,
        path: path.to_owned(),
        source,
    }
}
