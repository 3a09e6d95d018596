//! Why a driver could not be made, and how the file system's refusals are told.

use std::{
    io,
    net::Ipv4Addr,
    path::{Path, PathBuf},
};

use machinist_core::provider::ProviderError;
use thiserror::Error;

use crate::shared::files;

/// Why the driver could not be made.
#[derive(Debug, Error)]
pub enum QemuError {
    /// Its directory cannot be used.
    #[error("cannot use {} for machines", path.display())]
    Root {
        /// The directory.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// The network is not one that guests can be on.
    #[error("network {0} must be a private /16 network such as 10.77.0.0")]
    Subnet(Ipv4Addr),
}

/// A refusal of the file system in the contract's words: a full disk is a matter of
/// capacity, anything else leaves the outcome unknown.
pub(super) fn io_fault(what: &str, path: &Path, source: io::Error) -> ProviderError {
    if files::is_full(&source) {
        return full(path, what);
    }
    ProviderError::transport(format!("cannot {what} {}", path.display()), source)
}

/// The disk that holds `path` is full.
pub(super) fn full(path: &Path, what: &str) -> ProviderError {
    let there = path.ancestors().find(|parent| parent.exists());
    let free = there.and_then(|parent| files::space(parent).ok());
    let free = free.map_or_else(|| "no".to_owned(), |(_, free)| files::human_size(free));
    ProviderError::NoCapacity {
        reason: format!("cannot {what} {}: the disk is full ({free} free)", path.display()),
    }
}
