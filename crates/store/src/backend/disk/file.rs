//! The file of a store in its directory: made whole or not at all, private to its owner.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use redb::backends::FileBackend;

use super::load::{self, LoadError};
use super::{Disk, FORMAT, Medium};
use crate::backend::Loaded;
use crate::error::OpenError;

/// The name of the file in the directory of a store.
const FILE: &str = "store.redb";

/// A database file by its path.
pub(crate) struct DiskFile(PathBuf);

impl Medium for DiskFile {
    type Storage = FileBackend;

    fn storage(&self) -> io::Result<FileBackend> {
        let file = OpenOptions::new().read(true).write(true).open(&self.0)?;
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
}

/// A file that is to be made now.
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
            create(dir, &path, uid)?;
        }
        load::load(DiskFile(path.clone())).map_err(|error| match error {
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

/// Makes an empty store under a name of its own, and gives it the real name when it is whole: a
/// crash on the way leaves no file that looks like a store, and of two processes that do this at
/// once, one uses the file of the other.
fn create(dir: &Path, path: &Path, uid: Option<String>) -> Result<(), OpenError> {
    let uid = uid.unwrap_or_else(|| uuid::Uuid::new_v4().to_string());
    let draft = dir.join(format!("{FILE}.{}", uuid::Uuid::new_v4()));
    let made = load::initialize(&NewFile(draft.clone()), &uid)
        .map_err(io::Error::other)
        .and_then(|()| match std::fs::hard_link(&draft, path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            other => other,
        });
    // Whether it has its real name by now or not, the draft name has done its work.
    let removed = std::fs::remove_file(&draft);
    made.and(removed)
        .and_then(|()| File::open(dir)?.sync_all())
        .map_err(failure("create", path))
}

fn failure(action: &'static str, path: &Path) -> impl Fn(io::Error) -> OpenError {
    move |source| OpenError::Io {
        action,
        path: path.to_owned(),
        source,
    }
}
