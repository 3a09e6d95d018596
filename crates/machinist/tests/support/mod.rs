//! What every test of the binary needs: a control plane in a directory of its own, the real
//! peers beside it, and patience with a limit.
//!
//! Nothing here knows what a test wants to prove.
#![allow(
    dead_code,
    unused_imports,
    reason = "each test file uses the part that it needs"
)]
#![allow(
    unreachable_pub,
    reason = "a module of a test is its own crate's whole interface"
)]

pub mod control_plane;
pub mod kube;
pub mod kubectl;
pub mod manifests;
pub mod operator;
pub mod peers;
pub mod process;
pub mod replica;
pub mod scene;
pub mod wait;

pub use control_plane::{Sandbox, Up};
pub use kubectl::Kubectl;
pub use process::Finished;
pub use wait::{PATIENCE, wait_for};
