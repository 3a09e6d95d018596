//! From the journal to the database: a thread of its own applies whole segments, so that no write
//! waits for the database unless both segments are full.
//!
//! Applying is safe to repeat: the database says up to which frame of the journal it has come.

use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::JoinHandle;

use redb::{Database, ReadableDatabase};

use super::load::{self, LoadError};
use super::{Applied, Medium, Row, open_database, record, write};
use crate::backend::{BackendError, Batch};

/// What is applied together.
pub(super) struct Job {
    pub(super) batches: Vec<Batch>,
    /// The sequence number of the first frame that comes after them.
    pub(super) next: u64,
}

/// A transaction failed, and the database holds neither the state before it nor the one after.
#[derive(Debug, thiserror::Error)]
#[error("the database is at frame {found} of the journal, and was last known to be at {known}")]
struct InDoubt {
    found: u64,
    known: u64,
}

enum Order {
    Apply(Job),
    Again,
}

/// What the thread is doing, as far as it is known here.
enum State {
    Idle,
    Busy,
    /// The last job failed and has to be done again.
    Failed,
}

/// The writer's end of the thread. The order of the fields matters: the orders end before the
/// thread is waited for.
pub(super) struct Checkpoints {
    orders: Option<Sender<Order>>,
    outcomes: Receiver<Result<(), BackendError>>,
    state: State,
    thread: Option<JoinHandle<()>>,
}

impl Checkpoints {
    pub(super) fn start<M: Medium>(medium: M, database: Database, applied: Applied) -> Self {
        let (orders, taken) = mpsc::channel();
        let (tell, outcomes) = mpsc::channel();
        let worker = Worker {
            medium,
            database: Some(database),
            applied,
        };
        let thread = std::thread::Builder::new()
            .name("store-checkpoint".into())
            .spawn(move || worker.run(&taken, &tell))
            // Without its thread the first full segment fails its write, and says so.
            .inspect_err(|error| tracing::error!(%error, "cannot start the store's checkpoints"))
            .ok();
        Self {
            orders: Some(orders),
            outcomes,
            state: State::Idle,
            thread,
        }
    }

    /// Waits until everything that was begun is in the database; a failure is tried once more.
    pub(super) fn settle(&mut self) -> Result<(), BackendError> {
        match self.state {
            State::Idle => return Ok(()),
            State::Busy => {}
            State::Failed => self.order(Order::Again)?,
        }
        self.state = State::Failed;
        self.outcomes.recv().map_err(|_| gone())??;
        self.state = State::Idle;
        Ok(())
    }

    /// Begins a job; everything before it must have been settled.
    pub(super) fn begin(&mut self, job: Job) -> Result<(), BackendError> {
        self.order(Order::Apply(job))?;
        self.state = State::Busy;
        Ok(())
    }

    fn order(&self, order: Order) -> Result<(), BackendError> {
        let orders = self.orders.as_ref().ok_or_else(gone)?;
        orders.send(order).map_err(|_| gone())
    }
}

impl Drop for Checkpoints {
    fn drop(&mut self) {
        self.orders = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the store's checkpoints panicked");
        }
    }
}

fn gone() -> BackendError {
    BackendError::Failed("the thread that writes the database has ended".into())
}

struct Worker<M> {
    medium: M,
    /// Absent after a failure, until the next try opens it again.
    database: Option<Database>,
    applied: Applied,
}

impl<M: Medium> Worker<M> {
    fn run(mut self, orders: &Receiver<Order>, tell: &Sender<Result<(), BackendError>>) {
        let mut job = None;
        while let Ok(order) = orders.recv() {
            if let Order::Apply(next) = order {
                job = Some(next);
            }
            let outcome = job.as_ref().map_or(Ok(()), |job| self.apply(job));
            if let Err(error) = &outcome {
                let cause = std::error::Error::source(error);
                tracing::error!(%error, cause, "the journal could not be brought into the database");
            } else {
                job = None;
            }
            if tell.send(outcome).is_err() {
                return;
            }
        }
    }

    fn apply(&mut self, job: &Job) -> Result<(), BackendError> {
        let database = match self.database.take() {
            Some(database) => database,
            None => self.reopen(job)?,
        };
        if self.applied.next != job.next {
            let applied = Applied {
                next: job.next,
                ..self.applied
            };
            apply(&database, &job.batches, applied)
                .map_err(|error| BackendError::Failed(Box::new(error)))?;
            self.applied = applied;
        }
        // Reached only by success: a database that failed once refuses everything until it is
        // opened again, and is let go of.
        self.database = Some(database);
        Ok(())
    }

    /// Opens the database anew after a failed transaction, and finds out whether it is in it.
    fn reopen(&mut self, job: &Job) -> Result<Database, BackendError> {
        let failed = |error: redb::Error| BackendError::Failed(Box::new(error));
        let database = open_database(&self.medium).map_err(failed)?;
        let read = database.begin_read().map_err(|e| failed(e.into()))?;
        let meta = load::Meta::read(&read).map_err(|error| match error {
            LoadError::Database(error) => failed(error),
            other => BackendError::Poisoned(Box::new(other)),
        })?;
        drop(read);
        let found = meta.applied;
        if found.next != self.applied.next && found.next != job.next {
            return Err(BackendError::Poisoned(Box::new(InDoubt {
                found: found.next,
                known: self.applied.next,
            })));
        }
        self.applied = found;
        Ok(database)
    }
}

/// One durable transaction for all batches.
fn apply(database: &Database, batches: &[Batch], applied: Applied) -> Result<(), redb::Error> {
    write(database, applied, |tables| {
        let mut buffer = Vec::new();
        for batch in batches {
            for change in &batch.changes {
                record::encode(change, &mut buffer);
                tables.put(&Row {
                    revision: change.revision,
                    key: &change.key,
                    created: change.created,
                    is_live: change.value.is_some(),
                    record: &buffer,
                })?;
            }
            tables.end(&batch.obsolete, batch.revision, batch.compacted)?;
        }
        Ok(())
    })
}
