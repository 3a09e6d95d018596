//! What can go wrong with one call, and the account of every call.

use std::time::Duration;

/// What goes wrong with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The connection is cut before the call has an effect.
    Before,
    /// The connection is cut after it took effect.
    LostAnswer,
    /// It is refused: too many requests.
    Throttle,
    /// It is answered with an error of the server, and has no effect.
    ServerError,
    /// A look tells what was before the last change.
    Stale,
    /// It takes effect, and its answer comes this much later.
    Delay(Duration),
    /// It is delivered twice.
    Repeat,
}

/// What became of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It has not ended.
    Pending,
    /// It was carried out.
    Done,
    /// A token made it the same as an earlier one.
    Replayed,
    /// It was refused, or never arrived.
    Refused,
}

/// One call that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Its number, from zero.
    pub index: u64,
    /// What was called.
    pub action: String,
    /// The key that it was signed with.
    pub key: String,
    /// What was made to go wrong.
    pub fault: Option<Fault>,
    /// What became of it.
    pub outcome: Outcome,
}
