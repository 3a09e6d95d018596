//! What can be wrong with a patch; which HTTP status says so is left to the caller.

/// Why a patch was not applied.
#[derive(Debug, thiserror::Error)]
pub enum PatchError {
    /// The body is not a patch of its kind.
    #[error("{reason}")]
    Malformed {
        /// What is wrong.
        reason: String,
    },
    /// An operation of a JSON patch lacks a part, or is none.
    #[error("an operation of the JSON patch is none")]
    NoOperation,
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
    #[error("{reason}")]
    Unfit {
        /// What is wrong.
        reason: String,
    },
}

impl PatchError {
    pub(super) fn malformed(reason: impl Into<String>) -> Self {
        Self::Malformed {
            reason: reason.into(),
        }
    }

    pub(super) fn unfit(reason: impl Into<String>) -> Self {
        Self::Unfit {
            reason: reason.into(),
        }
    }
}
