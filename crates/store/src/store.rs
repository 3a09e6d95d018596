//! The store as its users hold it: reads from memory, writes through the writer, watches.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use bytes::Bytes;
use tokio::sync::{oneshot, watch};

use crate::backend::{Backend, Disk, Loaded, Memory};
use crate::error::{OpenError, WatchError, WriteError};
use crate::live::Live;
use crate::options::Options;
use crate::types::{Entry, Expect, Page, Revision};
use crate::watch::Watch;
use crate::writer::{Op, WriterHandle};

/// A revisioned key-value store with watches. Clones are cheap and share one store; the last one
/// to go, or [`Store::close`], finishes the writes that were queued and lets go of the file.
#[derive(Clone, Debug)]
pub struct Store {
    shared: Arc<Shared>,
    writer: Arc<WriterHandle>,
    newest: watch::Receiver<Revision>,
}

/// What readers, watches and the writer have in common.
#[derive(Debug)]
pub(crate) struct Shared {
    live: RwLock<Live>,
    uid: String,
    /// The newest revision that may be looked for, so that a watch that has seen it need not
    /// take the lock to learn that there is nothing new.
    newest: AtomicU64,
}

impl Shared {
    /// A look at the visible state. No lock holder runs foreign code, so a poisoned lock cannot
    /// hide a half-made change.
    pub(crate) fn live(&self) -> RwLockReadGuard<'_, Live> {
        self.live.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The newest revision, or one that was the newest a moment ago.
    pub(crate) fn newest(&self) -> Revision {
        Revision(self.newest.load(Ordering::Acquire))
    }

    /// Lets watches look for a revision; before they are woken for it.
    pub(crate) fn set_newest(&self, revision: Revision) {
        self.newest.store(revision.0, Ordering::Release);
    }

    /// Only the writer thread changes the visible state.
    pub(crate) fn live_mut(&self) -> RwLockWriteGuard<'_, Live> {
        self.live.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store {
    /// An empty store that ends with its process.
    pub fn memory() -> Self {
        Self::memory_with(Options::default())
    }

    /// An empty store that ends with its process, with choices.
    pub fn memory_with(options: Options) -> Self {
        let loaded = Loaded::empty(options.uid.clone());
        Self::with_backend(Memory, loaded, options)
    }

    /// The store in a directory; both are made when they do not exist.
    ///
    /// # Errors
    /// [`OpenError`] says whether the file is in use, too new, damaged, or out of reach.
    pub fn open(dir: &Path, options: Options) -> Result<Self, OpenError> {
        let (disk, loaded) = Disk::open_dir(dir, options.uid.clone())?;
        Ok(Self::with_backend(disk, loaded, options))
    }

    /// A store over any backend and what that backend has loaded.
    pub fn with_backend(backend: impl Backend, loaded: Loaded, options: Options) -> Self {
        let (announce, newest) = watch::channel(loaded.revision);
        let shared = Arc::new(Shared {
            uid: loaded.uid.clone(),
            newest: AtomicU64::new(loaded.revision.0),
            live: RwLock::new(Live::new(loaded)),
        });
        let writer = WriterHandle::start(shared.clone(), Box::new(backend), announce, options);
        Self {
            shared,
            writer: Arc::new(writer),
            newest,
        }
    }

    /// The identity of this store, which a copy in another directory would share.
    pub fn uid(&self) -> &str {
        &self.shared.uid
    }

    /// The newest visible revision.
    pub fn revision(&self) -> Revision {
        self.shared.live().revision
    }

    /// The oldest revision from which a watch can start.
    pub fn compacted(&self) -> Revision {
        self.shared.live().ring.compacted()
    }

    /// The entry of a key.
    pub fn get(&self, key: &str) -> Option<Entry> {
        self.shared.live().get(key).cloned()
    }

    /// The entries under a prefix that come after a key, at most `limit`, at one revision.
    pub fn list(&self, prefix: &str, after: Option<&str>, limit: Option<usize>) -> Page {
        self.shared.live().list(prefix, after, limit)
    }

    /// The same list as it was at an earlier revision, so that pages agree with each other.
    ///
    /// # Errors
    /// [`WatchError::Compacted`] when that revision is no longer kept, [`WatchError::Future`]
    /// when it has not happened.
    pub fn list_at(
        &self,
        prefix: &str,
        after: Option<&str>,
        limit: Option<usize>,
        at: Revision,
    ) -> Result<Page, WatchError> {
        self.shared.live().list_at(prefix, after, limit, at)
    }

    /// Sets a key and gives the revision of the write, once it is durable and visible.
    ///
    /// # Errors
    /// `Exists` when the key should be absent, `Conflict` when it is not at the expected revision
    /// (also when it does not exist), else `Failed` or `Closed`.
    pub async fn put(
        &self,
        key: &str,
        value: Bytes,
        expect: Expect,
    ) -> Result<Revision, WriteError> {
        let (reply, answer) = oneshot::channel();
        let op = Op::Put {
            key: key.into(),
            // A copy of its own size: the caller's may be a slice that pins a whole request.
            value: Bytes::copy_from_slice(&value),
            expect,
            reply,
        };
        self.writer.ask(op, answer).await
    }

    /// Removes a key and gives its last value with the revision of the deletion.
    ///
    /// # Errors
    /// `NotFound` when there is nothing to delete, `Conflict` when the key is at another revision
    /// than expected, `Exists` when it was expected to be absent, else `Failed` or `Closed`.
    pub async fn delete(&self, key: &str, expect: Expect) -> Result<Entry, WriteError> {
        let (reply, answer) = oneshot::channel();
        let op = Op::Delete {
            key: key.into(),
            expect,
            reply,
        };
        self.writer.ask(op, answer).await
    }

    /// Lets go of the history up to a revision, durably, and gives the oldest revision from which
    /// a watch can start now. Live entries stay. What lies ahead of the newest revision is cut.
    ///
    /// # Errors
    /// `Failed` or `Closed`.
    pub async fn compact(&self, up_to: Revision) -> Result<Revision, WriteError> {
        let (reply, answer) = oneshot::channel();
        self.writer.ask(Op::Compact { up_to, reply }, answer).await
    }

    /// Every event under a prefix with a revision greater than `after`.
    ///
    /// # Errors
    /// [`WatchError::Compacted`] at once when some of them are no longer kept;
    /// [`WatchError::Future`] when `after` has not happened.
    pub fn watch(&self, prefix: &str, after: Revision) -> Result<Watch, WatchError> {
        let live = self.shared.live();
        if after > live.revision {
            return Err(WatchError::Future {
                current: live.revision,
            });
        }
        live.ring.reaches(after)?;
        Ok(Watch::new(
            self.shared.clone(),
            prefix,
            after,
            self.newest.clone(),
        ))
    }

    /// Finishes the writes that were queued, ends the writer and lets go of the file. Other
    /// clones can still read; their writes answer `Closed`.
    pub async fn close(self) {
        let (reply, done) = oneshot::channel();
        // An answer that never comes means that the writer has already ended.
        let _ = self.writer.ask(Op::Close { reply }, done).await;
        self.writer.join();
    }
}
