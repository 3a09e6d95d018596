//! Tests of server-side apply.

mod algebra;
mod behaviour;
mod laws;
mod vectors;
mod versions;
