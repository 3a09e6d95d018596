//! The platforms: one folder a driver, and the conformance suite that all of them pass.
//!
//! A driver implements `machinist_core::provider::Provider` and nothing else: it makes no
//! choices, and time-outs, retries and metrics are put around it by others.

#[cfg(feature = "aws")]
pub mod aws;
pub mod conformance;
pub mod fault;
pub mod qemu;
pub mod shared;
pub mod sim;

#[cfg(feature = "aws")]
pub use aws::{Aws, AwsConfig};
pub use qemu::{Accelerator, Network, Qemu, QemuConfig, QemuError};
pub use shared::{http::Reach, images::Progress, oauth2::Tokens, way::Way};
pub use sim::{Sim, SimCloud, SimOptions};
