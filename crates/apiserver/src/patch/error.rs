//! What can be wrong with a patch, and which HTTP status says so.

/// Why a patch was not applied.
#[derive(Debug, thiserror::Error)]
pub enum PatchError {
    /// The body is not a patch of its kind.
    #[error("malformed patch at {path:?}: {reason}")]
    Malformed {
        /// The field of the patch, as in `.metadata.finalizers`.
        path: String,
        /// What is wrong there.
        reason: String,
    },
    /// The body is not a list of JSON patch operations.
    #[error("malformed JSON patch")]
    JsonPatch(#[source] serde_json::Error),
    /// A JSON patch has too many operations.
    #[error(
        "The allowed maximum operations in a JSON patch is {max}, got {count}",
        max = super::MAX_JSON_PATCH_OPERATIONS
    )]
    TooManyOperations {
        /// How many it has.
        count: usize,
    },
    /// The copies of a JSON patch add up to too much.
    #[error("Unable to complete the copy, the accumulated size increase of copy is {size}, exceeding the limit {max}", max = super::MAX_COPIED_BYTES)]
    TooMuchCopied {
        /// The size of all copies so far.
        size: usize,
    },
    /// An operation of a JSON patch would make the object too deep.
    #[error("operation {index} of the JSON patch makes the object nest too deep")]
    TooDeep {
        /// Which operation, counted from zero.
        index: usize,
    },
    /// An operation of a JSON patch does not work on this object, or its test failed.
    #[error("operation {index} of the JSON patch failed at {path:?}")]
    Operation {
        /// Which operation, counted from zero.
        index: usize,
        /// The JSON pointer that it names.
        path: String,
        /// What went wrong.
        source: json_patch::PatchErrorKind,
    },
    /// The patch is well formed and does not fit the object.
    #[error("the patch does not fit the object at {path:?}: {reason}")]
    Unfit {
        /// The field of the object, as in `.metadata.finalizers`.
        path: String,
        /// What is wrong there.
        reason: String,
    },
}

impl PatchError {
    pub(super) fn malformed(path: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Malformed {
            path: path.into(),
            reason: reason.into(),
        }
    }

    pub(super) fn unfit(path: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Unfit {
            path: path.into(),
            reason: reason.into(),
        }
    }

    /// The HTTP status that Kubernetes answers with.
    pub fn status(&self) -> http::StatusCode {
        match self {
            Self::Malformed { .. } | Self::JsonPatch(_) => http::StatusCode::BAD_REQUEST,
            Self::TooManyOperations { .. } | Self::TooMuchCopied { .. } => {
                http::StatusCode::PAYLOAD_TOO_LARGE
            }
            Self::TooDeep { .. } | Self::Operation { .. } | Self::Unfit { .. } => {
                http::StatusCode::UNPROCESSABLE_ENTITY
            }
        }
    }
}
