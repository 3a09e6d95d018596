//! The one writer: takes what has queued up, decides it as a group, makes it durable, shows it.
//!
//! Leaves to others: the decisions themselves (`group`), the medium (a backend), the reading.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

use bytes::Bytes;
use tokio::sync::{mpsc, oneshot, watch};

use crate::backend::{Backend, BackendError, Batch};
use crate::error::WriteError;
use crate::options::Options;
use crate::store::Shared;
use crate::types::{Entry, Expect, Revision};

mod group;

use group::{Answer, Group};

/// How many writes may wait for the writer before callers wait to queue theirs.
const QUEUE: usize = 1024;
/// How many writes become durable together at most.
const GROUP_OPS: usize = 512;
/// How many bytes of values a group takes before it is closed to further writes.
const GROUP_BYTES: usize = 8 << 20;

pub(crate) type Reply<T> = oneshot::Sender<Result<T, WriteError>>;

/// What can be asked of the writer, each with the place for its answer.
#[derive(Debug)]
pub(crate) enum Op {
    Put {
        key: Arc<str>,
        value: Bytes,
        expect: Expect,
        reply: Reply<Revision>,
    },
    Delete {
        key: Arc<str>,
        expect: Expect,
        reply: Reply<Entry>,
    },
    Compact {
        up_to: Revision,
        reply: Reply<Revision>,
    },
    Close {
        reply: Reply<()>,
    },
}

impl Op {
    fn bytes(&self) -> usize {
        match self {
            Op::Put { value, .. } => value.len(),
            Op::Delete { .. } | Op::Compact { .. } | Op::Close { .. } => 0,
        }
    }
}

/// The store's end of the writer.
#[derive(Debug)]
pub(crate) enum WriterHandle {
    /// The writer has a thread. The order of the fields matters: the queue closes before the
    /// thread is waited for.
    Threaded {
        queue: mpsc::Sender<Op>,
        thread: Thread,
    },
    /// Whoever asks writes; nothing when the store is closed.
    Inline(Mutex<Option<Writer>>),
}

impl WriterHandle {
    pub(crate) fn start(
        shared: Arc<Shared>,
        backend: Box<dyn Backend>,
        announce: watch::Sender<Revision>,
        options: Options,
    ) -> Self {
        let inline = options.inline;
        let writer = Writer {
            shared,
            backend,
            announce,
            options,
            poisoned: None,
        };
        if inline {
            return Self::Inline(Mutex::new(Some(writer)));
        }
        let (queue, ops) = mpsc::channel(QUEUE);
        let thread = std::thread::Builder::new()
            .name("store-writer".into())
            .spawn(move || writer.run(ops))
            // Without its thread the store reads, and answers every write with `Closed`.
            .inspect_err(|error| tracing::error!(%error, "cannot start the store's writer"))
            .ok();
        Self::Threaded {
            queue,
            thread: Thread(Mutex::new(thread)),
        }
    }

    /// Queues an operation, or carries it out, and waits for its answer.
    pub(crate) async fn ask<T>(
        &self,
        op: Op,
        answer: oneshot::Receiver<Result<T, WriteError>>,
    ) -> Result<T, WriteError> {
        let taken = match self {
            Self::Threaded { queue, .. } => queue.send(op).await.is_ok(),
            Self::Inline(writer) => {
                let mut place = writer.lock().unwrap_or_else(PoisonError::into_inner);
                let taken = place.is_some();
                *place = place.take().and_then(|writer| writer.alone(op));
                taken
            }
        };
        if !taken {
            return Err(WriteError::Closed);
        }
        answer.await.unwrap_or(Err(WriteError::Closed))
    }

    /// Waits for the thread to end; it must have been asked to.
    pub(crate) fn join(&self) {
        if let Self::Threaded { thread, .. } = self {
            thread.join();
        }
    }
}

#[derive(Debug)]
pub(crate) struct Thread(Mutex<Option<JoinHandle<()>>>);

impl Thread {
    fn join(&self) {
        let mut thread = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(thread) = thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the store's writer panicked");
        }
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        self.join();
    }
}

pub(crate) struct Writer {
    shared: Arc<Shared>,
    backend: Box<dyn Backend>,
    announce: watch::Sender<Revision>,
    options: Options,
    poisoned: Option<Arc<BackendError>>,
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer").finish_non_exhaustive()
    }
}

impl Writer {
    /// Carries out one operation as a group of its own; the writer, unless that closed it.
    fn alone(mut self, op: Op) -> Option<Writer> {
        let mut group = Group::new(&self.shared);
        let closing = group.add(op);
        let now = Instant::now();
        let (batch, answers) = group.finish(&self.options, now);
        self.commit(batch, answers, now);
        let Some(reply) = closing else {
            return Some(self);
        };
        drop(self);
        let _ = reply.send(Ok(()));
        None
    }

    fn run(mut self, mut ops: mpsc::Receiver<Op>) {
        let mut closing = Vec::new();
        while let Some(first) = ops.blocking_recv() {
            let mut group = Group::new(&self.shared);
            let (mut count, mut bytes) = (0, 0);
            let mut next = Some(first);
            while let Some(op) = next {
                count += 1;
                bytes += op.bytes();
                if let Some(reply) = group.add(op) {
                    // What is queued already is still written; nothing new is let in.
                    ops.close();
                    closing.push(reply);
                }
                let full = count >= GROUP_OPS || bytes >= GROUP_BYTES;
                next = if full { None } else { ops.try_recv().ok() };
            }
            let now = Instant::now();
            let (batch, answers) = group.finish(&self.options, now);
            self.commit(batch, answers, now);
        }
        // The file is let go of before anyone hears that the store is closed, and the watches
        // end only when every event is there to be read.
        drop(self);
        for reply in closing {
            let _ = reply.send(Ok(()));
        }
    }

    fn commit(&mut self, batch: Option<Batch>, answers: Vec<Answer>, now: Instant) {
        if let Some(batch) = batch {
            let outcome = match &self.poisoned {
                Some(error) => Err(error.clone()),
                None => self.backend.commit(&batch).map_err(Arc::new),
            };
            if let Err(error) = outcome {
                self.note(&error);
                answers.into_iter().for_each(|answer| answer.fail(&error));
                return;
            }
            let revision = batch.revision;
            let trimmed = self.shared.live_mut().apply(batch, now);
            self.shared.set_newest(revision);
            self.announce.send_replace(revision);
            drop(trimmed);
        }
        for answer in answers {
            answer.give();
        }
    }

    fn note(&mut self, error: &Arc<BackendError>) {
        let cause = std::error::Error::source(&**error);
        tracing::error!(%error, cause, "a group of writes failed");
        if matches!(**error, BackendError::Poisoned(_)) {
            self.poisoned = Some(error.clone());
        }
    }
}
