//! How the simulated platform behaves when nothing goes wrong.

use std::{collections::BTreeSet, time::Duration};

use jiff::Timestamp;
use machinist_core::provider::{Changes, Lookup, When};

/// How a [`super::SimCloud`] behaves.
#[derive(Debug, Clone)]
pub struct SimOptions {
    /// How long each call takes, by tokio's clock, which a test may pause.
    pub latency: Duration,
    /// How many calls are served at a time; the others wait their turn.
    pub concurrency: Option<usize>,
    /// Whether every call is written down; a platform that runs for long would fill the memory.
    pub record: bool,
    /// How long a machine takes to come up, to go down and to leave.
    pub transition: Transition,
    /// Whether it tells of changes; if not, they must be looked for.
    pub pushes: bool,
    /// Whether `create` knows a key again; a platform without idempotency keys does not.
    pub idempotent: bool,
    /// The images that it has; `None` has every image.
    pub images: Option<BTreeSet<String>>,
    /// The most processors that one machine can have.
    pub most_cpus: Option<u32>,
    /// The processors that it says to have.
    pub cpus: Option<u64>,
    /// The memory that it says to have, in bytes.
    pub memory: Option<u64>,
    /// The disk space that it says to have, in bytes.
    pub storage: Option<u64>,
    /// How many machines it has room for.
    pub capacity: Option<usize>,
    /// What the host is called in facts.
    pub node: String,
    /// Whether a look shows everything at once; only where it does not may a test make it stale.
    pub lookup: Lookup,
    /// What can be changed about a machine that exists.
    pub changes: Changes,
    /// The time at which it begins; `None` is now.
    pub epoch: Option<Timestamp>,
}

impl Default for SimOptions {
    fn default() -> SimOptions {
        SimOptions {
            latency: Duration::ZERO,
            concurrency: None,
            record: true,
            transition: Transition::Immediate,
            pushes: true,
            idempotent: true,
            images: None,
            most_cpus: None,
            cpus: None,
            memory: None,
            storage: None,
            capacity: None,
            node: "sim".to_owned(),
            lookup: Lookup::Consistent,
            changes: Changes {
                resize: When::Stopped,
                attach_disk: When::Always,
                detach_disk: When::Always,
                grow_disk: When::Always,
                nics: When::Always,
            },
            epoch: None,
        }
    }
}

/// When a change of state is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transition {
    /// At once.
    Immediate,
    /// After the machine was looked at this many times.
    Looks(u32),
    /// After this long, by tokio's clock.
    After(Duration),
}
