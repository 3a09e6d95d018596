//! Tests of server-side apply.

mod algebra;
mod behaviour;
pub(super) mod laws;
mod vectors;
mod versions;
