//! What a caller may choose about a store.

use std::time::Duration;

/// Choices for a store; the default suits a control plane of some 100,000 objects.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many past events are kept for watches.
    pub keep_events: usize,
    /// How many bytes of keys and values the kept events may name, so that a run of large values
    /// cannot fill the memory. The events of the newest group are kept whatever their size.
    pub keep_bytes: u64,
    /// How long past events are kept; the next write after that lets them go. What was read at
    /// start counts from then.
    pub keep_for: Duration,
    /// The identity of a store that is created now; made at random when absent. A store that
    /// already exists keeps the one it has.
    pub uid: Option<String>,
    /// Whether whoever asks for a write carries it out, without the writer's thread: for a
    /// simulation whose time stands still while nothing in its own thread is to be done.
    pub inline: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            keep_events: 100_000,
            keep_bytes: 128 << 20,
            // As long as Kubernetes keeps them.
            keep_for: Duration::from_secs(300),
            uid: None,
            inline: false,
        }
    }
}
