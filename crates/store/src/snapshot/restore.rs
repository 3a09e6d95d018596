//! Making a store from a snapshot.

use std::io::BufRead;
use std::path::Path;

use super::{SnapshotError, SnapshotHead, SnapshotReader};
use crate::backend::Disk;
use crate::error::OpenError;
use crate::options::Options;
use crate::store::Store;
use crate::types::Revision;

/// Why a snapshot was not restored.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// It is none, or not whole.
    #[error("the snapshot cannot be restored")]
    Snapshot(#[from] SnapshotError),
    /// The store could not be made.
    #[error("the store cannot be made")]
    Store(#[from] OpenError),
    /// The revision to go on from lies before what is in the snapshot.
    #[error("revision {asked} lies before the snapshot's own, {found}")]
    Behind {
        /// The revision to go on from.
        asked: Revision,
        /// The revision of the snapshot.
        found: Revision,
    },
}

impl Store {
    /// Makes a store in a directory that holds none. It has the identity and the entries of the
    /// snapshot, each at its old revision, and goes on from a revision that `go_on_from` chooses:
    /// far enough ahead that nobody has seen it. Everything before that counts as trimmed.
    ///
    /// # Errors
    /// When the snapshot is not whole, or the store cannot be written; what is in the directory
    /// then is no store, or not one to use.
    pub fn restore(
        dir: &Path,
        mut snapshot: SnapshotReader<impl BufRead>,
        go_on_from: impl FnOnce(&SnapshotHead) -> Revision,
    ) -> Result<SnapshotHead, RestoreError> {
        let head = snapshot.head().clone();
        let revision = go_on_from(&head);
        if revision < head.revision {
            return Err(RestoreError::Behind {
                asked: revision,
                found: head.revision,
            });
        }
        Disk::make(dir, &head.uid, revision, || snapshot.entry())?;
        // Read back as any start reads it, with all its checks.
        drop(Store::open(dir, Options::default())?);
        Ok(head)
    }
}
