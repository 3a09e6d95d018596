//! Machines on EC2, which moto plays, behind the proxy that makes calls go wrong: the fault
//! table on a platform that is far away.
#![cfg(feature = "aws")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed assumption is a failed test"
)]

#[path = "../../../../tests/cloud/mod.rs"]
mod cloud;
mod example;
mod faults;
mod life;
mod platform;
mod replicas;
#[path = "../support/mod.rs"]
mod support;
