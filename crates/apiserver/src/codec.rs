//! How objects lie in the store: JSON with `metadata` first and without a resource version.
//!
//! The revision of a write is known only after it, so `resourceVersion` cannot be part of the
//! value; because `metadata` comes first, it can be spliced in at a fixed place without parsing.

use bytes::Bytes;
use machinist_store::Entry;
use serde_json::{Map, Value};

use crate::status::ApiError;

const OPENING: &[u8] = b"{\"metadata\":{";
const RESOURCE_VERSION: &[u8] = b"\"resourceVersion\":\"";

/// How deep an object may nest: what is stored must be read again, and the reader stops at 128.
pub(crate) const DEPTH: usize = 120;
/// How large the stored form of an object may be; a body may not be larger either.
pub(crate) const SIZE: usize = 3 * 1024 * 1024;

/// Whether a value nests deeper than this.
pub(crate) fn is_deeper(value: &Value, limit: usize) -> bool {
    let Some(below) = limit.checked_sub(1) else {
        return true;
    };
    match value {
        Value::Array(list) => list.iter().any(|v| is_deeper(v, below)),
        Value::Object(map) => map.values().any(|v| is_deeper(v, below)),
        _ => false,
    }
}

/// The stored form of an object that a client has a hand in, unless it is too deep or too large:
/// many small changes together can be what no single one could.
pub(crate) fn encode_bounded(object: &Value) -> Result<Bytes, ApiError> {
    if is_deeper(object, DEPTH) {
        let message = format!("the object nests deeper than {DEPTH} levels");
        return Err(ApiError::bad_request(message));
    }
    let bytes = encode(object);
    if bytes.len() > SIZE {
        return Err(ApiError::too_large(SIZE));
    }
    Ok(bytes)
}

/// The stored form of an object.
pub(crate) fn encode(object: &Value) -> Bytes {
    let mut out = Vec::with_capacity(1024);
    let empty = Map::new();
    let fields = object.as_object().unwrap_or(&empty);
    let metadata = fields
        .get("metadata")
        .and_then(Value::as_object)
        .unwrap_or(&empty);
    out.extend_from_slice(OPENING);
    let kept = metadata.iter().filter(|(key, _)| *key != "resourceVersion");
    write_members(&mut out, kept, true);
    out.push(b'}');
    write_members(
        &mut out,
        fields.iter().filter(|(key, _)| *key != "metadata"),
        false,
    );
    out.push(b'}');
    // It is kept for long, as the object and among the past changes.
    out.shrink_to_fit();
    out.into()
}

fn write_members<'a>(
    out: &mut Vec<u8>,
    members: impl Iterator<Item = (&'a String, &'a Value)>,
    mut first: bool,
) {
    for (key, value) in members {
        if !std::mem::take(&mut first) {
            out.push(b',');
        }
        // Writing JSON into memory cannot fail: every key is a string.
        let _ = serde_json::to_writer(&mut *out, key);
        out.push(b':');
        let _ = serde_json::to_writer(&mut *out, value);
    }
}

/// The object in an entry, with its resource version.
pub(crate) fn decode(entry: &Entry) -> Value {
    let mut object = decode_value(&entry.value);
    set_resource_version(&mut object, entry.modified.0);
    object
}

/// The object in a stored value, without a resource version.
pub(crate) fn decode_value(value: &[u8]) -> Value {
    serde_json::from_slice(value).unwrap_or_else(|error| {
        tracing::error!(%error, "a stored object is not JSON");
        Value::Object(Map::new())
    })
}

/// Whether a stored object may have a field of this name somewhere; what it does not mention, it does
/// not have.
pub(crate) fn mentions(value: &[u8], field: &str) -> bool {
    let field = field.as_bytes();
    value.windows(field.len()).any(|part| part == field)
}

/// Writes a resource version into an object.
pub(crate) fn set_resource_version(object: &mut Value, revision: u64) {
    crate::meta::metadata_mut(object).insert("resourceVersion".into(), revision.to_string().into());
}

/// Appends the JSON of an entry, with its resource version, without parsing it.
pub(crate) fn splice(entry: &Entry, out: &mut Vec<u8>) {
    let rest = entry.value.strip_prefix(OPENING).unwrap_or(b"}}");
    out.extend_from_slice(OPENING);
    out.extend_from_slice(RESOURCE_VERSION);
    out.extend_from_slice(entry.modified.0.to_string().as_bytes());
    out.push(b'"');
    if !rest.starts_with(b"}") {
        out.push(b',');
    }
    out.extend_from_slice(rest);
}

/// How many bytes [`splice`] appends.
pub(crate) fn spliced_length(entry: &Entry) -> usize {
    let rest = entry.value.strip_prefix(OPENING).unwrap_or(b"}}");
    let digits = entry.modified.0.checked_ilog10().unwrap_or(0) as usize + 1;
    let comma = usize::from(!rest.starts_with(b"}"));
    OPENING.len() + RESOURCE_VERSION.len() + digits + 1 + comma + rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use machinist_store::Revision;
    use serde_json::json;

    #[test]
    fn what_is_stored_takes_no_more_room_than_it_needs() {
        let object = json!({"metadata": {"name": "x"}, "data": "x".repeat(1500)});
        let stored = encode(&object);
        let length = stored.len();
        let room = stored.try_into_mut().unwrap().capacity();
        assert_eq!(room, length);
    }

    #[test]
    fn splicing_gives_what_decoding_gives() {
        for object in [
            json!({"apiVersion": "v1", "kind": "A", "metadata": {"name": "x", "resourceVersion": "1"}, "data": {"k": "v"}}),
            json!({"apiVersion": "v1", "metadata": {}}),
            json!({}),
        ] {
            let entry = Entry {
                key: "k".into(),
                value: encode(&object),
                created: Revision(1),
                modified: Revision(42),
            };
            let mut out = Vec::new();
            splice(&entry, &mut out);
            assert_eq!(out.len(), spliced_length(&entry));
            let spliced: Value = serde_json::from_slice(&out).unwrap();
            assert_eq!(spliced, decode(&entry));
            assert_eq!(spliced["metadata"]["resourceVersion"], "42");
        }
    }
}
