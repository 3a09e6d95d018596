//! How a write is asked for: its options, and the patch in its body.

use bytes::Bytes;
use serde_json::Value;

use super::Call;
use super::body::{self, Decoded};
use crate::patch;
use crate::registry::{Kind, Strategic};
use crate::resource::{FieldValidation, Given, PatchKind, WriteOptions};
use crate::schema::go_quote;
use crate::status::{ApiError, Cause};

/// How a write is to be made, from the query and from what was found in its body.
pub(super) fn write_options(
    call: &Call,
    complaints: Vec<String>,
) -> Result<WriteOptions, ApiError> {
    let given = call.query.get("fieldManager");
    let mut causes = Vec::new();
    if given.len() > 128 {
        let why = "Too long: may not be more than 128 bytes".to_owned();
        causes.push(Cause::new("FieldValueTooLong", "fieldManager", why));
    }
    for (at, wrong) in given.char_indices().filter(|(_, c)| c.is_control()) {
        let why = format!(
            "invalid character U+{:04X} (at position {at})",
            u32::from(wrong)
        );
        causes.push(Cause::invalid("fieldManager", &go_quote(given), &why));
    }
    if !causes.is_empty() {
        return Err(call.query.refuse(&causes));
    }
    Ok(WriteOptions {
        dry_run: call.query.dry_run()?,
        manager: call.manager(),
        validation: call.query.field_validation()?,
        force: call.query.flag("force"),
        complaints,
        caller: call.identity.clone(),
        given: Given {
            field_manager: given.to_owned(),
            field_validation: call.query.get("fieldValidation").to_owned(),
        },
        notes: call.notes.clone(),
        internal: false,
    })
}

/// The patch of a request and how it is to be made.
pub(super) fn patch_request(
    call: &Call,
    kind: &Kind,
    bytes: &Bytes,
) -> Result<(PatchKind, Value, WriteOptions), ApiError> {
    let media = call
        .content_type()
        .split(';')
        .next()
        .unwrap_or_default()
        .trim();
    let mut supported = vec![
        "application/json-patch+json",
        "application/merge-patch+json",
        "application/apply-patch+yaml",
    ];
    if kind.strategic != Strategic::Refused {
        supported.push("application/strategic-merge-patch+json");
    }
    if !supported.contains(&media) && media != "application/apply-patch+json" {
        return Err(if kind.builtin {
            ApiError::unroutable_media_type()
        } else {
            ApiError::unsupported_media_type(&supported)
        });
    }
    let (patch, decoded) = match media {
        "application/json-patch+json" => (
            PatchKind::Change(patch::PatchKind::Json),
            of_operations(body::patch(bytes, "error decoding patch: ")?),
        ),
        "application/merge-patch+json" => (
            PatchKind::Change(patch::PatchKind::Merge),
            body::patch(bytes, "error decoding patch: ")?,
        ),
        "application/strategic-merge-patch+json" => (
            PatchKind::Change(patch::PatchKind::Strategic),
            body::patch(bytes, "")?,
        ),
        _ => (PatchKind::Apply, applied(call, bytes)?),
    };
    let options = write_options(call, decoded.complaints)?;
    if patch == PatchKind::Apply && call.query.get("fieldManager").is_empty() {
        let cause = Cause::required("fieldManager", "is required for apply patch");
        return Err(call.query.refuse(&[cause]));
    }
    if patch != PatchKind::Apply && call.query.has("force") {
        let cause = Cause::forbidden("force", "may not be specified for non-apply patch");
        return Err(call.query.refuse(&[cause]));
    }
    Ok((patch, decoded.value, options))
}

/// The body of an apply. Without strict validation the last of several keys counts.
fn applied(call: &Call, bytes: &Bytes) -> Result<Decoded, ApiError> {
    let decoded = body::yaml(bytes).map_err(|error| {
        let why = format!("error decoding YAML: error converting YAML to JSON: {error}");
        ApiError::bad_request(why)
    })?;
    let strict = call.query.field_validation()? == FieldValidation::Strict;
    match decoded.complaints.first() {
        Some(why) if strict => Err(ApiError::bad_request(format!(
            "error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  {why}"
        ))),
        _ => Ok(decoded),
    }
}

/// What is said of the fields of a JSON patch says that it is about the patch.
fn of_operations(mut decoded: Decoded) -> Decoded {
    const KNOWN: [&str; 4] = ["op", "path", "from", "value"];
    let operations = decoded.value.as_array().into_iter().flatten().enumerate();
    for (at, operation) in operations {
        let fields = operation.as_object().into_iter().flatten();
        for (field, _) in fields.filter(|(field, _)| !KNOWN.contains(&field.as_str())) {
            let path = format!("[{at}].{field}");
            let complaint = format!("unknown field \"{path}\"");
            decoded.complaints.push(complaint);
        }
    }
    for complaint in &mut decoded.complaints {
        complaint.insert_str(0, "json patch ");
    }
    decoded
}
