//! How the simulated platform behaves when nothing goes wrong.

use std::{collections::BTreeSet, time::Duration};

/// How a [`super::SimCloud`] behaves.
#[derive(Debug, Clone)]
pub struct SimOptions {
    /// How long each call takes, by tokio's clock, which a test may pause.
    pub latency: Duration,
    /// How long a machine takes to come up, to go down and to leave.
    pub transition: Transition,
    /// Whether `create` knows a key again; a platform without idempotency keys does not.
    pub idempotent: bool,
    /// The images that it has; `None` has every image.
    pub images: Option<BTreeSet<String>>,
    /// How many machines it has room for.
    pub capacity: Option<usize>,
    /// What the host is called in facts.
    pub node: String,
}

impl Default for SimOptions {
    fn default() -> SimOptions {
        SimOptions {
            latency: Duration::ZERO,
            transition: Transition::Immediate,
            idempotent: true,
            images: None,
            capacity: None,
            node: "sim".to_owned(),
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
