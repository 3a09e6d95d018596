//! Reading a database at start: its identity and format first, then every record, checked.

use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};

use redb::{Database, ReadTransaction, ReadableDatabase, ReadableTable, TableError};

use super::record::{self, RecordError};
use super::replay::{Replay, ReplayError};
use super::{
    Disk, FORMAT, KV, LOG, META, META_COMPACTED, META_FORMAT, META_REVISION, META_UID, Medium,
    open_database,
};
use crate::backend::Loaded;
use crate::types::Revision;

/// Why a database cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum LoadError {
    #[error("the database cannot be read")]
    Database(#[from] redb::Error),
    #[error("the file has format {0}")]
    Newer(u32),
    #[error("the file lacks a sound entry for its {0}")]
    Meta(&'static str),
    #[error("the change of revision {0} cannot be read")]
    Record(Revision, #[source] RecordError),
    #[error("the history of the file does not hold together")]
    Replay(#[from] ReplayError),
    #[error("the database failed a check of its own: {0}")]
    Panicked(String),
}

/// What a database says about itself.
pub(super) struct Meta {
    pub(super) uid: String,
    pub(super) revision: Revision,
    pub(super) compacted: Revision,
}

impl Meta {
    /// Reads the format before anything else, since it says what the rest means.
    pub(super) fn read(read: &ReadTransaction) -> Result<Self, LoadError> {
        let meta = match read.open_table(META) {
            Err(TableError::TableDoesNotExist(_)) => return Err(LoadError::Meta(META_FORMAT)),
            other => other.map_err(redb::Error::from)?,
        };
        let get = |name: &'static str| -> Result<Vec<u8>, LoadError> {
            let value = meta.get(name).map_err(redb::Error::from)?;
            let value = value.ok_or(LoadError::Meta(name))?;
            Ok(value.value().to_vec())
        };
        let number = |name: &'static str| -> Result<Revision, LoadError> {
            let bytes = get(name)?;
            let bytes = bytes.try_into().map_err(|_| LoadError::Meta(name))?;
            Ok(Revision(u64::from_le_bytes(bytes)))
        };
        let format = get(META_FORMAT)?;
        let format = format
            .try_into()
            .map_err(|_| LoadError::Meta(META_FORMAT))?;
        match u32::from_le_bytes(format) {
            FORMAT => {}
            0 => return Err(LoadError::Meta(META_FORMAT)),
            newer => return Err(LoadError::Newer(newer)),
        }
        let uid = String::from_utf8(get(META_UID)?).map_err(|_| LoadError::Meta(META_UID))?;
        let (revision, compacted) = (number(META_REVISION)?, number(META_COMPACTED)?);
        if compacted > revision {
            return Err(LoadError::Meta(META_COMPACTED));
        }
        Ok(Self {
            uid,
            revision,
            compacted,
        })
    }
}

/// Writes the tables of an empty store.
pub(super) fn initialize(medium: &impl Medium, uid: &str) -> Result<(), redb::Error> {
    let database = open_database(medium)?;
    let transaction = database.begin_write()?;
    transaction.open_table(KV)?;
    transaction.open_table(LOG)?;
    {
        let mut meta = transaction.open_table(META)?;
        meta.insert(META_FORMAT, &FORMAT.to_le_bytes()[..])?;
        meta.insert(META_UID, uid.as_bytes())?;
        meta.insert(META_REVISION, &0u64.to_le_bytes()[..])?;
        meta.insert(META_COMPACTED, &0u64.to_le_bytes()[..])?;
    }
    Ok(transaction.commit()?)
}

/// Opens a database and reads all of it.
pub(super) fn load<M: Medium>(medium: M) -> Result<(Disk<M>, Loaded), LoadError> {
    // The database asserts what it takes for granted about its pages; in a damaged file such an
    // assertion is one more finding, and must not end the process.
    let read = catch_unwind(AssertUnwindSafe(|| {
        let database = open_database(&medium)?;
        let loaded = read_all(&database)?;
        Ok::<_, LoadError>((database, loaded))
    }));
    let (database, loaded) = read.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        Err(LoadError::Panicked(text.unwrap_or("no reason").into()))
    })?;
    let disk = Disk {
        medium,
        database: Some(database),
        revision: loaded.revision,
        compacted: loaded.compacted,
        buffer: Vec::new(),
    };
    Ok((disk, loaded))
}

fn read_all(database: &Database) -> Result<Loaded, LoadError> {
    let read = database.begin_read().map_err(redb::Error::from)?;
    let mut replay = Replay::new(Meta::read(&read)?);
    let log = read.open_table(LOG).map_err(redb::Error::from)?;
    for row in log.iter().map_err(redb::Error::from)? {
        let (revision, bytes) = row.map_err(redb::Error::from)?;
        let revision = Revision(revision.value());
        let record = record::decode(revision, bytes.value())
            .map_err(|error| LoadError::Record(revision, error))?;
        replay.take(revision, record)?;
    }
    let kv = read.open_table(KV).map_err(redb::Error::from)?;
    let mut failed = None;
    let index = kv.iter().map_err(redb::Error::from)?.map_while(|row| {
        let (key, versions) = row.map_err(|error| failed = Some(error)).ok()?;
        let (created, modified) = versions.value();
        Some((
            key.value().to_owned(),
            Revision(created),
            Revision(modified),
        ))
    });
    let loaded = replay.finish(index);
    match failed {
        Some(error) => Err(LoadError::Database(error.into())),
        None => Ok(loaded?),
    }
}

impl LoadError {
    /// Whether the cause is the system rather than what is in the file.
    pub(super) fn into_io(self) -> Result<std::io::Error, Box<dyn Error + Send + Sync>> {
        use std::io::ErrorKind::{InvalidData, UnexpectedEof};
        match self {
            LoadError::Database(redb::Error::Io(error))
                if !matches!(error.kind(), InvalidData | UnexpectedEof) =>
            {
                Ok(error)
            }
            LoadError::Database(other) => Err(Box::new(other)),
            other => Err(Box::new(other)),
        }
    }
}
