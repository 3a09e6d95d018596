//! The backend of a store that outlives its process: one redb file with three tables.
//!
//! - `log`: revision → change, with the value, which is written here and nowhere else;
//! - `kv`: key → revision of its creation and of its live version in the log;
//! - `meta`: format, identity, newest revision, trim point.
//!
//! Each value is written once, and since the live set is in memory, `kv` is only read at start,
//! to check the log against it. Leaves to others: every decision (the writer), and the reading.

use redb::{Database, ReadableDatabase, StorageBackend, TableDefinition};

use super::{Backend, BackendError, Batch};
use crate::types::Revision;

mod file;
mod load;
mod record;
mod replay;
#[cfg(test)]
mod tests;

use file::DiskFile;
use load::LoadError;

const KV: TableDefinition<&str, (u64, u64)> = TableDefinition::new("kv");
const LOG: TableDefinition<u64, &[u8]> = TableDefinition::new("log");
const META: TableDefinition<&str, &[u8]> = TableDefinition::new("meta");

const META_FORMAT: &str = "format";
const META_UID: &str = "uid";
const META_REVISION: &str = "revision";
const META_COMPACTED: &str = "compacted";

/// The format that this program writes, and the newest that it reads.
const FORMAT: u32 = 1;
/// Reads come from the live set, so the database needs room for little more than one commit.
const CACHE: usize = 16 << 20;

/// Something that can be opened as the bytes of a database, again and again.
pub(crate) trait Medium: Send + 'static {
    type Storage: StorageBackend;
    fn storage(&self) -> std::io::Result<Self::Storage>;
}

/// A database on a medium, and what is known to be durable in it.
pub(crate) struct Disk<M = DiskFile> {
    medium: M,
    /// Absent after a failed commit, until the next one opens the file again.
    database: Option<Database>,
    revision: Revision,
    compacted: Revision,
    buffer: Vec<u8>,
}

/// A commit failed and it cannot be told from memory whether it is there after all.
#[derive(Debug, thiserror::Error)]
#[error("the file is at revision {found}, and the last successful commit was {known}")]
struct InDoubt {
    found: Revision,
    known: Revision,
}

impl<M: Medium> Backend for Disk<M> {
    fn commit(&mut self, batch: &Batch) -> Result<(), BackendError> {
        let database = match self.database.take() {
            Some(database) => database,
            None => self.reopen()?,
        };
        write(&database, batch, &mut self.buffer)
            .map_err(|error| BackendError::Failed(Box::new(error)))?;
        // Reached only by success: a database that failed once refuses everything until it is
        // opened again, and is let go of.
        self.database = Some(database);
        self.revision = batch.revision;
        self.compacted = batch.compacted;
        Ok(())
    }
}

impl<M: Medium> Disk<M> {
    /// Opens the file anew after a failed commit, and makes sure that the commit is not in it.
    fn reopen(&self) -> Result<Database, BackendError> {
        let failed = |error: redb::Error| BackendError::Failed(Box::new(error));
        let database = open_database(&self.medium).map_err(failed)?;
        let read = database
            .begin_read()
            .map_err(|error| failed(error.into()))?;
        let meta = load::Meta::read(&read).map_err(|error| match error {
            LoadError::Database(error) => failed(error),
            other => BackendError::Poisoned(Box::new(other)),
        })?;
        if (meta.revision, meta.compacted) != (self.revision, self.compacted) {
            return Err(BackendError::Poisoned(Box::new(InDoubt {
                found: meta.revision,
                known: self.revision,
            })));
        }
        drop(read);
        Ok(database)
    }
}

fn open_database(medium: &impl Medium) -> Result<Database, redb::Error> {
    let storage = medium.storage()?;
    let mut builder = Database::builder();
    Ok(builder.set_cache_size(CACHE).create_with_backend(storage)?)
}

/// One durable transaction for the whole batch.
fn write(database: &Database, batch: &Batch, buffer: &mut Vec<u8>) -> Result<(), redb::Error> {
    let transaction = database.begin_write()?;
    {
        let mut kv = transaction.open_table(KV)?;
        let mut log = transaction.open_table(LOG)?;
        let mut meta = transaction.open_table(META)?;
        for change in &batch.changes {
            let revision = change.revision.0;
            record::encode(change, buffer);
            log.insert(revision, buffer.as_slice())?;
            if change.value.is_some() {
                kv.insert(&*change.key, (change.created.0, revision))?;
            } else {
                kv.remove(&*change.key)?;
            }
        }
        for revision in &batch.obsolete {
            log.remove(revision.0)?;
        }
        meta.insert(META_REVISION, &batch.revision.0.to_le_bytes()[..])?;
        meta.insert(META_COMPACTED, &batch.compacted.0.to_le_bytes()[..])?;
    }
    Ok(transaction.commit()?)
}
