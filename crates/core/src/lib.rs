//! The brain: the domain model, dialects, planner and driver contract, without I/O and
//! without a clock.

pub mod dialect;
pub mod explain;
pub mod machine;
pub mod place;
pub mod preview;
pub mod provider;
pub mod quota;
pub mod redact;
