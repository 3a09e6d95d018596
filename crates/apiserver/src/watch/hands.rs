//! Hands for a delivery to many: a thread on each processor that helps when a crew has much to tell.
//!
//! Tasks that are woken together tend to be put on one processor: a kernel wakes a thread where its waker
//! runs, above all in a virtual machine, whose idle processors look taken, and it is milliseconds before it
//! moves one elsewhere. A delivery is over by then. So these threads stay where they are. One that does
//! not get its processor takes no work either: whoever is free takes the next turn.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, OnceLock};

use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};
use tokio::sync::Notify;

/// More threads than this are not kept, however many processors there are.
const MOST: usize = 8;
/// How many connections are worth waking a thread for.
const WORTH: usize = 64;

/// Work that several do together, turn by turn.
pub(super) trait Work: Send + Sync + 'static {
    /// Does so many of the whole, from one on.
    fn turn(&self, from: usize, to: usize);
}

/// A piece of work, and how far it is.
pub(super) struct Job<W> {
    work: W,
    count: usize,
    /// How many are done in one turn.
    step: usize,
    next: AtomicUsize,
    done: AtomicUsize,
    all_done: Notify,
}

impl<W: Work> Job<W> {
    /// Work on so many things.
    pub(super) fn new(work: W, count: usize, step: usize) -> Self {
        Self {
            work,
            count,
            step,
            next: AtomicUsize::new(0),
            done: AtomicUsize::new(0),
            all_done: Notify::new(),
        }
    }

    /// Takes a turn; false when none is left to take.
    pub(super) fn turn(&self) -> bool {
        let from = self.next.fetch_add(self.step, Ordering::Relaxed);
        if from >= self.count {
            return false;
        }
        let to = self.count.min(from + self.step);
        let _taken = Taken(self, to - from);
        self.work.turn(from, to);
        true
    }

    /// Resolves when those who took the last turns have done them.
    pub(super) async fn finished(&self) {
        while self.done.load(Ordering::Acquire) < self.count {
            self.all_done.notified().await;
        }
    }
}

/// Counts a turn as done, also when it failed: nobody is to wait for it for ever.
struct Taken<'a, W>(&'a Job<W>, usize);

impl<W> Drop for Taken<'_, W> {
    fn drop(&mut self) {
        let Self(job, size) = self;
        if job.done.fetch_add(*size, Ordering::AcqRel) + *size >= job.count {
            job.all_done.notify_one();
        }
    }
}

/// The threads, which begin with the first delivery that is worth them and end with their server.
pub(crate) struct Hands<W>(OnceLock<Vec<Hand<W>>>);

/// One of them.
struct Hand<W> {
    processor: usize,
    jobs: Sender<Arc<Job<W>>>,
}

impl<W> Default for Hands<W> {
    fn default() -> Self {
        Self(OnceLock::new())
    }
}

impl<W: Work> Hands<W> {
    /// Has others help with a job, if it is large.
    pub(super) fn call(&self, job: &Arc<Job<W>>) {
        let worth = job.count / WORTH;
        if worth == 0 {
            return;
        }
        // Who calls works on this processor already.
        let here = sched_getcpu();
        let others = self.0.get_or_init(start).iter();
        for hand in others.filter(|hand| hand.processor != here).take(worth) {
            // One whose thread is gone does not help.
            let _ = hand.jobs.send(job.clone());
        }
    }
}

/// A thread on each processor that this process may use; none where there is but one.
fn start<W: Work>() -> Vec<Hand<W>> {
    let usable = sched_getaffinity(None).unwrap_or_default();
    if usable.count() < 2 {
        return Vec::new();
    }
    let processors = (0..CpuSet::MAX_CPU).filter(|processor| usable.is_set(*processor));
    let hired = processors.take(MOST).filter_map(|processor| {
        let (jobs, coming) = channel();
        let thread = std::thread::Builder::new().name(format!("teller-{processor}"));
        // Without threads the crew does it alone.
        thread.spawn(move || help(processor, &coming)).ok()?;
        Some(Hand { processor, jobs })
    });
    hired.collect()
}

/// Helps with one job after the other.
fn help<W: Work>(processor: usize, jobs: &Receiver<Arc<Job<W>>>) {
    let mut only = CpuSet::new();
    only.set(processor);
    if let Err(error) = sched_setaffinity(None, &only) {
        tracing::debug!(%error, processor, "a thread cannot stay on a processor");
    }
    while let Ok(job) = jobs.recv() {
        while job.turn() {}
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    struct Marks(Mutex<Vec<u32>>);

    impl Work for Marks {
        fn turn(&self, from: usize, to: usize) {
            assert!(from != 64, "a turn that fails");
            for mark in &mut self.0.lock().unwrap()[from..to] {
                *mark += 1;
            }
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn everything_is_done_once_whoever_does_it() {
        let hands = Hands::default();
        for _ in 0..50 {
            let job = Arc::new(Job::new(Marks(Mutex::new(vec![0; 1001])), 1001, 32));
            // The turn that fails is taken by a thread of its own.
            assert!(job.turn() && job.turn());
            let failing = job.clone();
            assert!(std::thread::spawn(move || failing.turn()).join().is_err());
            hands.call(&job);
            while job.turn() {
                tokio::task::yield_now().await;
            }
            job.finished().await;
            let marks = job.work.0.lock().unwrap();
            let done = |range: std::ops::Range<usize>| marks[range].iter().all(|mark| *mark == 1);
            assert!(done(0..64) && done(96..1001));
        }
    }
}
