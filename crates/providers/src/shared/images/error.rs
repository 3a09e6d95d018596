//! Why an image cannot be used, and what that means to a provider.

use std::{io, path::PathBuf, sync::Arc, time::Duration};

use machinist_core::provider::ProviderError;
use thiserror::Error;

use crate::shared::{files, http::ForbiddenAddress};

/// Why an image cannot be used.
#[derive(Debug, Error)]
pub enum ImageError {
    /// Nothing carries this name.
    #[error(
        "no such image; looked for {}; an image is given by a name that the provider lists, a name in an image directory, an absolute path, or a file:// or http(s):// URL",
        looked.join(", ")
    )]
    NotFound {
        /// Every place that was looked at.
        looked: Vec<String>,
    },
    /// The file is there but no disk can be made of it.
    #[error("{} cannot be a disk image: {reason}", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The declared checksum has an unknown form.
    #[error("checksum {0:?} is not of the form sha256:<64 hexadecimal digits>")]
    ChecksumForm(String),
    /// The content is not what was declared.
    #[error("the content has checksum sha256:{actual}, not sha256:{expected}")]
    Checksum {
        /// What was declared.
        expected: String,
        /// What was found.
        actual: String,
    },
    /// The server refused for good.
    #[error("the server answered {status}")]
    Refused {
        /// The HTTP status.
        status: String,
    },
    /// It is where nobody is asked.
    #[error("it is not fetched")]
    Forbidden(#[source] ForbiddenAddress),
    /// The transfer failed; it goes on where it stopped when it is tried again.
    #[error("the transfer failed")]
    Transfer(#[source] reqwest::Error),
    /// The transfer ended before the announced length.
    #[error("the transfer ended after {done} of {total} bytes")]
    Short {
        /// Bytes that came.
        done: u64,
        /// Bytes that were announced.
        total: u64,
    },
    /// Another process is fetching the same image.
    #[error("another process is fetching this image")]
    Elsewhere,
    /// There is no room for it.
    #[error(
        "{} needs {} for an image and has {} free",
        path.display(), files::human_size(*needed), files::human_size(*free)
    )]
    Full {
        /// The directory that it should have come to.
        path: PathBuf,
        /// Bytes needed.
        needed: u64,
        /// Bytes free.
        free: u64,
    },
    /// The file system refused.
    #[error("cannot {what} {}", path.display())]
    Io {
        /// What was attempted.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
}

impl ImageError {
    /// The error in the contract's words; `reference` is what was declared.
    pub fn into_provider(error: Arc<ImageError>, reference: &str) -> ProviderError {
        match &*error {
            ImageError::NotFound { .. }
            | ImageError::Unusable { .. }
            | ImageError::ChecksumForm(_)
            | ImageError::Checksum { .. }
            | ImageError::Refused { .. } => ProviderError::Rejected {
                field: "image",
                value: reference.to_owned(),
                reason: error.to_string(),
            },
            ImageError::Forbidden(address) => ProviderError::Rejected {
                field: "image",
                value: reference.to_owned(),
                reason: address.to_string(),
            },
            ImageError::Full { .. } => ProviderError::NoCapacity {
                reason: error.to_string(),
            },
            ImageError::Elsewhere => ProviderError::Busy {
                reason: format!("image {reference}: {error}"),
                retry_after: Some(Duration::from_secs(2)),
            },
            ImageError::Io { path, source, .. } if files::is_full(source) => {
                ProviderError::NoCapacity {
                    reason: format!("the file system of {} is full", path.display()),
                }
            }
            ImageError::Transfer(_) | ImageError::Short { .. } | ImageError::Io { .. } => {
                ProviderError::transport(format!("fetching image {reference}"), error)
            }
        }
    }
}
