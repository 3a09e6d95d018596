//! A cloud for tests: moto as EC2, and a proxy before it that does what moto leaves out and makes
//! calls go wrong on demand.
//!
//! Included by the tests of several crates (`#[path]`). Everything ends with the test.
#![allow(
    dead_code,
    unused_imports,
    unreachable_pub,
    reason = "each test uses the part that it needs"
)]

pub mod exchange;
pub mod fault;
pub mod memory;
pub mod moto;
pub mod proxy;

pub use fault::{Call, Fault, Outcome};
pub use moto::{IMAGE, Moto, REGION};
pub use proxy::{Options, Proxy};
