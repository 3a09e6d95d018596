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

use json_patch::{AddOperation, Patch, PatchOperation, ReplaceOperation};
use serde_json::Value;

use crate::codec::{DEPTH, is_deeper};
use crate::meta;

pub use error::PatchError;
pub use merge::merge_patch;
pub(crate) use strategic::go_text;
pub use strategic::strategic_merge_patch;
pub use strategies::Lists;

/// The most operations that one JSON patch may have.
pub const MAX_JSON_PATCH_OPERATIONS: usize = 10_000;

/// The most bytes that the copies of one JSON patch may add.
pub const MAX_COPIED_BYTES: usize = 3 * 1024 * 1024;

/// The kinds of patch, by the media type that names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatchKind {
    /// `application/json-patch+json`: a list of operations (RFC 6902).
    Json,
    /// `application/merge-patch+json`: an object laid over another (RFC 7386).
    Merge,
    /// `application/strategic-merge-patch+json`: a merge patch in which lists may merge;
    /// for custom resources of the groups alone that the embedder names.
    Strategic,
}

/// The object after the patch; the live object itself is left as it was.
pub fn apply_patch(
    kind: PatchKind,
    lists: Lists<'_>,
    live: &Value,
    body: &Value,
) -> Result<Value, PatchError> {
    match kind {
        PatchKind::Json => json_patch(live, body),
        PatchKind::Merge if body.is_object() => Ok(merge_patch(live, body)),
        PatchKind::Merge => Err(PatchError::malformed(format!(
            "error decoding patch: {}",
            not_a_map(body)
        ))),
        PatchKind::Strategic => strategic_merge_patch(lists, live, body),
    }
}

/// Runs the operations one after the other; when one fails, none counts.
///
/// As in Kubernetes, and other than in RFC 6902, `replace` also sets a field that is not there.
pub fn json_patch(live: &Value, operations: &Value) -> Result<Value, PatchError> {
    if let Some(count) = operations
        .as_array()
        .map(Vec::len)
        .filter(|n| *n > MAX_JSON_PATCH_OPERATIONS)
    {
        return Err(PatchError::TooManyOperations { count });
    }
    if !operations.is_array() {
        let found = meta::json_type(operations);
        return Err(PatchError::malformed(format!(
            "error decoding patch: json: cannot unmarshal {found} into Go value of type []handlers.jsonPatchOp"
        )));
    }
    let Patch(operations) =
        serde_json::from_value(operations.clone()).map_err(|_| PatchError::NoOperation)?;
    let mut patched = live.clone();
    let mut copied = 0;
    for (index, operation) in operations.into_iter().enumerate() {
        check_growth(&patched, &operation, index, &mut copied)?;
        let operation = replace_or_add(&patched, operation);
        let failed = |err: json_patch::PatchError| PatchError::Operation {
            index,
            path: err.path.to_string(),
            source: err.kind,
        };
        json_patch::patch(&mut patched, &[operation]).map_err(failed)?;
    }
    Ok(patched)
}

/// The words for a body that should be an object and is not.
fn not_a_map(body: &Value) -> String {
    let found = meta::json_type(body);
    format!("json: cannot unmarshal {found} into Go value of type map[string]interface {{}}")
}

/// Copies can double an object with every operation, and nesting can go deeper than the stack:
/// both are refused before they happen.
fn check_growth(
    object: &Value,
    operation: &PatchOperation,
    index: usize,
    copied: &mut usize,
) -> Result<(), PatchError> {
    let (path, value) = match operation {
        PatchOperation::Add(AddOperation { path, value })
        | PatchOperation::Replace(ReplaceOperation { path, value }) => (path, Some(value)),
        PatchOperation::Copy(copy) => {
            let value = copy.from.resolve(object).ok();
            *copied += value.map_or(0, |value| value.to_string().len());
            if *copied > MAX_COPIED_BYTES {
                return Err(PatchError::TooMuchCopied { size: *copied });
            }
            (&copy.path, value)
        }
        PatchOperation::Move(moved) => (&moved.path, moved.from.resolve(object).ok()),
        PatchOperation::Remove(_) | PatchOperation::Test(_) => return Ok(()),
    };
    let room = DEPTH.saturating_sub(path.count());
    if value.is_some_and(|value| is_deeper(value, room)) {
        return Err(PatchError::TooDeep { index });
    }
    Ok(())
}

fn replace_or_add(object: &Value, operation: PatchOperation) -> PatchOperation {
    let PatchOperation::Replace(ReplaceOperation { path, value }) = operation else {
        return operation;
    };
    let parent = path.parent().and_then(|parent| parent.resolve(object).ok());
    if parent.is_some_and(Value::is_object) {
        PatchOperation::Add(AddOperation { path, value })
    } else {
        PatchOperation::Replace(ReplaceOperation { path, value })
    }
}
