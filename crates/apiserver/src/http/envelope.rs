//! Whether a body says what it is, and the answer when it does not.

use serde_json::{Map, Value};

use super::body::{Decoded, Expected, UNREADABLE};
use crate::meta;
use crate::status::ApiError;

/// Whether what was read says of what version and kind it is.
pub(super) fn envelope(
    mut decoded: Decoded,
    bytes: &[u8],
    expected: &Expected<'_>,
) -> Result<Decoded, ApiError> {
    let refuse = |why: String| Err(ApiError::bad_request(why));
    if decoded.value.is_null() {
        decoded.value = Value::Object(Map::new());
    }
    let Some(fields) = decoded.value.as_object() else {
        let found = meta::json_type(&decoded.value);
        return refuse(format!(
            "{UNREADABLE}json: cannot unmarshal {found} into Go value of type struct {{ APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }}"
        ));
    };
    for field in ["apiVersion", "kind"] {
        match fields.get(field) {
            None | Some(Value::Null | Value::String(_)) => {}
            Some(other) => {
                let found = meta::json_type(other);
                return refuse(format!(
                    "{UNREADABLE}json: cannot unmarshal {found} into Go struct field .{field} of type string"
                ));
            }
        }
    }
    let kind = fields.get("kind").and_then(Value::as_str);
    if kind.unwrap_or_default().is_empty() && !expected.protobuf {
        let text = String::from_utf8_lossy(bytes);
        return refuse(format!("Object 'Kind' is missing in '{text}'"));
    }
    Ok(decoded)
}

/// The answer to a body that is not what the path asks for.
pub(super) fn unrecognized(why: &str, bytes: &[u8], expected: &Expected<'_>) -> ApiError {
    if expected.kind == "DeleteOptions" {
        return ApiError::bad_request(why);
    }
    ApiError::bad_request(format!(
        "the object provided is unrecognized (must be of type {}): {why} ({})",
        expected.kind,
        summary(bytes)
    ))
}

/// The first bytes of a body: as text where it looks like JSON.
pub(super) fn summary(bytes: &[u8]) -> String {
    const SHOWN: usize = 30;
    let shown = &bytes[..bytes.len().min(SHOWN)];
    let mut text: String = match bytes.first() {
        None => return "<empty>".into(),
        Some(b'{') => String::from_utf8_lossy(shown).into_owned(),
        Some(_) => shown.iter().map(|byte| format!("{byte:02x}")).collect(),
    };
    if bytes.len() > SHOWN {
        text.push_str(" ...");
    }
    text
}
