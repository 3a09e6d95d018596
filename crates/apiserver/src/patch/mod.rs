//! The three kinds of patch that are not apply: JSON patch, merge patch, strategic merge patch.
//!
//! Everything here is a pure function from an object and a patch to an object; choosing the kind
//! by content type, preconditions, validation and storing are left to the caller.

mod error;
mod merge;
mod strategic;
mod strategic_list;
mod strategies;

#[cfg(test)]
mod tests;

use serde_json::Value;

pub use error::PatchError;
pub use merge::merge_patch;
pub use strategic::strategic_merge_patch;

/// The most operations that one JSON patch may have.
pub const MAX_JSON_PATCH_OPERATIONS: usize = 10_000;

/// The kinds of patch, by the media type that names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatchKind {
    /// `application/json-patch+json`: a list of operations (RFC 6902).
    Json,
    /// `application/merge-patch+json`: an object laid over another (RFC 7386).
    Merge,
    /// `application/strategic-merge-patch+json`: a merge patch that knows the built-in kinds;
    /// not for custom resources.
    Strategic,
}

/// The object after the patch; the live object itself is left as it was.
pub fn apply_patch(kind: PatchKind, live: &Value, body: &Value) -> Result<Value, PatchError> {
    match kind {
        PatchKind::Json => json_patch(live, body),
        PatchKind::Merge if body.is_object() => Ok(merge_patch(live, body)),
        PatchKind::Merge => Err(PatchError::malformed("", "a merge patch must be a JSON object")),
        PatchKind::Strategic => strategic_merge_patch(live, body),
    }
}

/// Runs the operations one after the other; when one fails, none counts.
pub fn json_patch(live: &Value, operations: &Value) -> Result<Value, PatchError> {
    if let Some(count) = operations.as_array().map(Vec::len).filter(|n| *n > MAX_JSON_PATCH_OPERATIONS) {
        return Err(PatchError::TooManyOperations { count });
    }
    let patch: json_patch::Patch =
        serde_json::from_value(operations.clone()).map_err(PatchError::JsonPatch)?;
    let mut patched = live.clone();
    json_patch::patch(&mut patched, &patch).map_err(PatchError::Operation)?;
    Ok(patched)
}
