//! Reading a store at start: its identity and format first, then what is only in the journal,
//! which is brought into the database, then every record, checked.

use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};

use redb::{
    Database, ReadTransaction, ReadableDatabase, ReadableTable, StorageBackend, TableError,
};

use super::checkpoint::Checkpoints;
use super::journal::{self, Frame, Journal, JournalError};
use super::record::{self, RecordError};
use super::replay::{Replay, ReplayError};
use super::{
    Applied, Disk, FORMAT, KV, LOG, META, META_APPLIED, META_COMPACTED, META_FORMAT, META_REVISION,
    META_UID, Medium, Row, SEGMENTS, open_database, write,
};
use crate::backend::{Change, Loaded};
use crate::snapshot::SnapshotError;
use crate::types::{Entry, Revision};

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
    #[error("the journal of the store cannot be used")]
    Journal(#[from] JournalError),
    #[error("the database failed a check of its own: {0}")]
    Panicked(String),
}

/// What a database says about itself.
pub(super) struct Meta {
    pub(super) uid: String,
    pub(super) revision: Revision,
    pub(super) compacted: Revision,
    pub(super) applied: Applied,
    /// Whether the file is of an earlier format.
    pub(super) is_old: bool,
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
        let is_old = match u32::from_le_bytes(format) {
            FORMAT => false,
            1 => true,
            0 => return Err(LoadError::Meta(META_FORMAT)),
            newer => return Err(LoadError::Newer(newer)),
        };
        let uid = String::from_utf8(get(META_UID)?).map_err(|_| LoadError::Meta(META_UID))?;
        let (revision, compacted) = (number(META_REVISION)?, number(META_COMPACTED)?);
        if compacted > revision {
            return Err(LoadError::Meta(META_COMPACTED));
        }
        let applied = match is_old {
            true => Applied {
                salt: journal::new_salt(),
                next: 0,
            },
            false => {
                let bytes = get(META_APPLIED)?;
                let (numbers, rest) = bytes.as_chunks::<8>();
                let [salt, next] = *numbers else {
                    return Err(LoadError::Meta(META_APPLIED));
                };
                if !rest.is_empty() {
                    return Err(LoadError::Meta(META_APPLIED));
                }
                let [salt, next] = [salt, next].map(u64::from_le_bytes);
                Applied { salt, next }
            }
        };
        Ok(Self {
            applied,
            is_old,
            uid,
            revision,
            compacted,
        })
    }
}

/// Writes the tables of an empty store.
pub(super) fn initialize(medium: &impl Medium, uid: &str) -> Result<(), redb::Error> {
    let database = open_database(medium)?;
    let applied = Applied {
        salt: journal::new_salt(),
        next: 0,
    };
    write(&database, applied, |tables| {
        tables.meta.insert(META_UID, uid.as_bytes())?;
        tables.end(&[], Revision::ZERO, Revision::ZERO)
    })
}

/// Why a store was not filled.
#[derive(Debug, thiserror::Error)]
pub(super) enum FillError {
    #[error("there is no next entry")]
    Entry(#[source] SnapshotError),
    #[error("the database cannot be written")]
    Database(#[from] redb::Error),
}

/// Writes the tables of a store that holds these entries, and nothing of the past.
pub(super) fn fill(
    medium: &impl Medium,
    uid: &str,
    revision: Revision,
    mut next: impl FnMut() -> Result<Option<Entry>, SnapshotError>,
) -> Result<(), FillError> {
    let database = open_database(medium)?;
    let applied = Applied {
        salt: journal::new_salt(),
        next: 0,
    };
    let mut failed = None;
    let mut next = || next().map_err(|error| failed = Some(error)).ok().flatten();
    let written = write(&database, applied, |tables| {
        let mut buffer = Vec::new();
        while let Some(entry) = next() {
            let change = Change {
                key: entry.key,
                value: Some(entry.value),
                created: entry.created,
                revision: entry.modified,
                previous: None,
            };
            record::encode(&change, &mut buffer);
            tables.put(&Row {
                revision: change.revision,
                key: &change.key,
                created: change.created,
                is_live: true,
                record: &buffer,
            })?;
        }
        tables.meta.insert(META_UID, uid.as_bytes())?;
        tables.end(&[], revision, revision)
    });
    match failed {
        Some(error) => Err(FillError::Entry(error)),
        None => Ok(written?),
    }
}

/// Opens a store and reads all of it.
pub(super) fn load<M: Medium>(medium: M) -> Result<(Disk<M>, Loaded), LoadError> {
    // The database asserts what it takes for granted about its pages; in a damaged file such an
    // assertion is one more finding, and must not end the process.
    let read = catch_unwind(AssertUnwindSafe(|| {
        let database = open_database(&medium)?;
        let journals = open_journals(&medium)?;
        let applied = recover(&database, &journals)?;
        let loaded = read_all(&database)?;
        Ok::<_, LoadError>((database, journals, applied, loaded))
    }));
    let (database, journals, applied, loaded) = read.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        Err(LoadError::Panicked(text.unwrap_or("no reason").into()))
    })?;
    let journal = Journal::new(journals, M::SEGMENT, applied.salt, applied.next);
    let disk = Disk {
        journal: journal.map_err(JournalError::Io)?,
        pending: Vec::new(),
        checkpoints: Checkpoints::start(medium.clone(), database, applied),
        medium,
    };
    Ok((disk, loaded))
}

fn open_journals<M: Medium>(medium: &M) -> Result<[Option<M::Storage>; SEGMENTS], LoadError> {
    let mut journals = [const { None }; SEGMENTS];
    for (segment, journal) in journals.iter_mut().enumerate() {
        *journal = medium.journal_if_any(segment).map_err(JournalError::Io)?;
    }
    Ok(journals)
}

/// Brings what is only in the journal into the database.
fn recover<S: StorageBackend>(
    database: &Database,
    journals: &[Option<S>; SEGMENTS],
) -> Result<Applied, LoadError> {
    let read = database.begin_read().map_err(redb::Error::from)?;
    let meta = Meta::read(&read)?;
    drop(read);
    let Applied { salt, next } = meta.applied;
    let frames = journal::read(journals, salt, next)?;
    if frames.is_empty() && !meta.is_old {
        return Ok(meta.applied);
    }
    let mut rows = Vec::new();
    for (revision, bytes) in frames.iter().flat_map(|frame| &frame.records) {
        let record = record::decode(*revision, bytes);
        let record = record.map_err(|error| LoadError::Record(*revision, error))?;
        rows.push((record, bytes));
    }
    let applied = Applied {
        salt,
        next: next + frames.len() as u64,
    };
    write(database, applied, |tables| {
        let mut rows = rows.iter();
        for frame in &frames {
            for ((revision, _), (record, bytes)) in frame.records.iter().zip(&mut rows) {
                tables.put(&Row {
                    revision: *revision,
                    key: &record.key,
                    created: record.created,
                    is_live: record.value.is_some(),
                    record: bytes,
                })?;
            }
            let Frame {
                obsolete,
                revision,
                compacted,
                ..
            } = frame;
            tables.end(obsolete, *revision, *compacted)?;
        }
        Ok(())
    })?;
    Ok(applied)
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
            | LoadError::Journal(JournalError::Io(error))
                if !matches!(error.kind(), InvalidData | UnexpectedEof) =>
            {
                Ok(error)
            }
            LoadError::Database(other) => Err(Box::new(other)),
            other => Err(Box::new(other)),
        }
    }
}
