//! The backend of a store that outlives its process: a journal, and one redb file behind it.
//!
//! A batch is durable when it is in the journal. Whenever a segment of the journal is full, a
//! thread of its own brings its batches into the database, in one transaction:
//!
//! - `log`: revision → change, with the value, which is written here and nowhere else;
//! - `kv`: key → revision of its creation and of its live version in the log;
//! - `meta`: format, identity, newest revision, trim point, and how far the journal is applied.
//!
//! At start, what is only in the journal is applied first; then everything is read from the
//! database, and `kv` is checked against the log. Leaves to others: every decision (the writer),
//! and the reading.

use redb::{Database, StorageBackend, Table, TableDefinition};

use super::{Backend, BackendError, Batch};
use crate::types::Revision;

mod checkpoint;
mod file;
mod journal;
mod load;
mod record;
mod replay;
#[cfg(test)]
mod tests;

use checkpoint::{Checkpoints, Job};
use file::DiskFile;
use journal::Journal;

const KV: TableDefinition<&str, (u64, u64)> = TableDefinition::new("kv");
const LOG: TableDefinition<u64, &[u8]> = TableDefinition::new("log");
const META: TableDefinition<&str, &[u8]> = TableDefinition::new("meta");

const META_FORMAT: &str = "format";
const META_UID: &str = "uid";
const META_REVISION: &str = "revision";
const META_COMPACTED: &str = "compacted";
const META_APPLIED: &str = "applied";

/// The format that this program writes, and the newest that it reads. Format 1 had no journal.
const FORMAT: u32 = 2;
/// Reads come from the live set, so the database needs room for little more than one commit.
const CACHE: usize = 16 << 20;
/// The journal is filled in turns, one segment while the other is brought into the database.
const SEGMENTS: usize = 2;

/// The files of a store, which can be opened again and again.
pub(crate) trait Medium: Clone + Send + 'static {
    /// How many bytes of a segment are used before the other one's turn comes.
    const SEGMENT: usize = 16 << 20;
    type Storage: StorageBackend;
    /// The database.
    fn storage(&self) -> std::io::Result<Self::Storage>;
    /// A segment of the journal, if it was ever made.
    fn journal_if_any(&self, segment: usize) -> std::io::Result<Option<Self::Storage>>;
    /// A segment of the journal, made now if need be.
    fn journal(&self, segment: usize) -> std::io::Result<Self::Storage>;
}

/// How far the database has come with the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Applied {
    /// The salt of the journal's frames.
    salt: u64,
    /// The first frame that is not in the database.
    next: u64,
}

/// The files of a store, open for writing.
pub(crate) struct Disk<M: Medium = DiskFile> {
    medium: M,
    journal: Journal<M::Storage>,
    /// What is in the active segment.
    pending: Vec<Batch>,
    checkpoints: Checkpoints,
}

impl<M: Medium> Backend for Disk<M> {
    fn commit(&mut self, batch: &Batch) -> Result<(), BackendError> {
        if !self.journal.prepare(batch) {
            self.checkpoints.settle()?;
            self.checkpoint()?;
            self.journal.switch();
        }
        self.journal.append(&self.medium)?;
        self.pending.push(batch.clone());
        Ok(())
    }
}

impl<M: Medium> Disk<M> {
    /// Begins to bring the active segment into the database.
    fn checkpoint(&mut self) -> Result<(), BackendError> {
        let job = Job {
            batches: std::mem::take(&mut self.pending),
            next: self.journal.sequence(),
        };
        self.checkpoints.begin(job)
    }
}

impl<M: Medium> Drop for Disk<M> {
    /// Leaves nothing in the journal, if that can be; else the next start finds it there.
    fn drop(&mut self) {
        let settled = self.checkpoints.settle();
        if settled.is_ok() && self.checkpoint().is_ok() {
            let _ = self.checkpoints.settle();
        }
    }
}

fn open_database(medium: &impl Medium) -> Result<Database, redb::Error> {
    let storage = medium.storage()?;
    let mut builder = Database::builder();
    Ok(builder.set_cache_size(CACHE).create_with_backend(storage)?)
}

/// One change as the tables take it.
struct Row<'a> {
    revision: Revision,
    key: &'a str,
    created: Revision,
    is_live: bool,
    record: &'a [u8],
}

/// The tables within one transaction.
struct Tables<'t> {
    kv: Table<'t, &'static str, (u64, u64)>,
    log: Table<'t, u64, &'static [u8]>,
    meta: Table<'t, &'static str, &'static [u8]>,
}

impl Tables<'_> {
    fn put(&mut self, row: &Row) -> Result<(), redb::Error> {
        self.log.insert(row.revision.0, row.record)?;
        if row.is_live {
            self.kv.insert(row.key, (row.created.0, row.revision.0))?;
        } else {
            self.kv.remove(row.key)?;
        }
        Ok(())
    }

    /// Ends a batch.
    fn end(
        &mut self,
        obsolete: &[Revision],
        revision: Revision,
        compacted: Revision,
    ) -> Result<(), redb::Error> {
        for revision in obsolete {
            self.log.remove(revision.0)?;
        }
        let mut set = |name, value: u64| self.meta.insert(name, &value.to_le_bytes()[..]).map(drop);
        set(META_REVISION, revision.0)?;
        Ok(set(META_COMPACTED, compacted.0)?)
    }
}

/// One durable transaction, after which the database has come so far with the journal.
fn write(
    database: &Database,
    applied: Applied,
    fill: impl FnOnce(&mut Tables) -> Result<(), redb::Error>,
) -> Result<(), redb::Error> {
    let mut transaction = database.begin_write()?;
    // After a crash the next start reads what this saves, instead of every page.
    transaction.set_quick_repair(true);
    {
        let mut tables = Tables {
            kv: transaction.open_table(KV)?,
            log: transaction.open_table(LOG)?,
            meta: transaction.open_table(META)?,
        };
        fill(&mut tables)?;
        let meta = &mut tables.meta;
        meta.insert(META_FORMAT, &FORMAT.to_le_bytes()[..])?;
        let [salt, next] = [applied.salt, applied.next].map(u64::to_le_bytes);
        meta.insert(META_APPLIED, [salt, next].as_flattened())?;
    }
    Ok(transaction.commit()?)
}
