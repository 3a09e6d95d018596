//! Reading bodies: JSON, YAML and, for what is built in, Kubernetes protobuf into values, within
//! limits, with duplicate fields noticed.

use std::fmt;

use axum::body::{Body, HttpBody as _};
use bytes::Bytes;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use serde_saphyr::DuplicateKeyPolicy;

use super::envelope::{envelope, summary, unrecognized};
use crate::guard::body_refusal;
use crate::protobuf::{self, Envelope};
use crate::registry::Kind;
use crate::schema::Path;
use crate::status::ApiError;

/// The largest body that is read.
pub(crate) const LIMIT: usize = crate::codec::SIZE;

/// How refusals of bodies begin that cannot be read at all.
pub(super) const UNREADABLE: &str = "couldn't get version/kind; json parse error: ";

/// A value that was read from a body.
#[derive(Debug)]
pub(crate) struct Decoded {
    pub(crate) value: Value,
    /// Complaints about fields that were given more than once; the last one counts.
    pub(crate) complaints: Vec<String>,
}

/// The bytes of a body, unless there are too many.
pub(crate) async fn read(body: Body) -> Result<Bytes, ApiError> {
    if usize::try_from(body.size_hint().lower()).is_ok_and(|size| size > LIMIT) {
        drain(body).await;
        return Err(ApiError::too_large(LIMIT));
    }
    match Limited::new(body, LIMIT).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(ApiError::too_large(LIMIT)),
        Err(error) => Err(body_refusal(error.as_ref())),
    }
}

/// Reads a body of no use, so far as that is bearable: a client that is still writing when the
/// connection closes does not get to read the answer.
async fn drain(mut body: Body) {
    let mut left = 2 * LIMIT;
    while let Some(Ok(frame)) = body.frame().await {
        left = left.saturating_sub(frame.data_ref().map_or(0, Bytes::len));
        if left == 0 {
            return;
        }
    }
}

/// What a body is expected to be.
#[derive(Debug)]
pub(crate) struct Expected<'a> {
    pub(crate) api_version: String,
    pub(crate) kind: &'a str,
    /// Whether it may be protobuf: its message is known then, which a custom kind's is not.
    pub(crate) protobuf: bool,
}

impl<'a> Expected<'a> {
    /// An object of a kind.
    pub(crate) fn object(kind: &'a Kind) -> Self {
        Self {
            api_version: kind.api_version(),
            kind: &kind.kind,
            protobuf: kind.builtin,
        }
    }

    /// Something that is not an object of the kind itself.
    pub(crate) fn builtin(api_version: String, kind: &'a str) -> Self {
        Self {
            api_version,
            kind,
            protobuf: true,
        }
    }
}

/// Reads a value in the form that the content type names.
pub(crate) fn decode(
    content_type: &str,
    bytes: &[u8],
    expected: &Expected<'_>,
) -> Result<Decoded, ApiError> {
    let media = content_type.split(';').next().unwrap_or_default().trim();
    let read = match media {
        "" if content_type.trim().is_empty() => json(bytes),
        "application/json" | "*/*" => json(bytes),
        "application/yaml" | "application/x-yaml" | "text/yaml" => yaml(bytes),
        protobuf::MEDIA_TYPE if expected.protobuf => return protobuf(bytes, expected),
        _ => {
            let supported = ["application/json", "application/yaml", protobuf::MEDIA_TYPE];
            return Err(ApiError::unsupported_media_type(&supported));
        }
    };
    read.and_then(|decoded| envelope(decoded, bytes, expected))
        .map_err(|error| unrecognized(&error.message, bytes, expected))
}

/// Reads Kubernetes protobuf.
fn protobuf(bytes: &[u8], expected: &Expected<'_>) -> Result<Decoded, ApiError> {
    let wanted = expected.kind;
    let envelope = Envelope::open(bytes, &expected.api_version, wanted).map_err(|error| {
        ApiError::bad_request(format!(
            "the object provided is unrecognized (must be of type {wanted}): {error} ({})",
            summary(bytes)
        ))
    })?;
    let kind = envelope.kind.clone();
    let version = match envelope.api_version.split_once('/') {
        Some((_, version)) => version.to_owned(),
        None => envelope.api_version.clone(),
    };
    let value = envelope.object().map_err(|error| {
        ApiError::bad_request(format!(
            "{kind} in version {version:?} cannot be handled as a {wanted}: {error}"
        ))
    })?;
    Ok(Decoded {
        value,
        complaints: Vec::new(),
    })
}

/// Reads a patch that is JSON; refusals begin with these words.
pub(crate) fn patch(bytes: &[u8], before: &str) -> Result<Decoded, ApiError> {
    json(bytes).map_err(|error| {
        let why = error.message.strip_prefix(UNREADABLE).unwrap_or_default();
        ApiError::bad_request(format!("{before}{why}"))
    })
}

/// Reads JSON.
pub(crate) fn json(bytes: &[u8]) -> Result<Decoded, ApiError> {
    let mut duplicates = Vec::new();
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = Node {
        path: Path::Root,
        duplicates: &mut duplicates,
    }
    .deserialize(&mut reader)
    .and_then(|value| reader.end().map(|()| value))
    .map_err(|error| {
        let why = match serde_json::from_slice::<serde::de::IgnoredAny>(bytes) {
            Ok(_) => error.to_string(),
            Err(_) => super::complaint(bytes),
        };
        ApiError::bad_request(format!("{UNREADABLE}{why}"))
    })?;
    Ok(Decoded {
        value,
        complaints: duplicates,
    })
}

/// Reads YAML, of which JSON is a part.
pub(crate) fn yaml(bytes: &[u8]) -> Result<Decoded, ApiError> {
    if bytes.trim_ascii_start().starts_with(b"{") {
        return json(bytes);
    }
    let invalid = |why: String| ApiError::bad_request(format!("yaml: {why}"));
    let text = std::str::from_utf8(bytes).map_err(|e| invalid(e.to_string()))?;
    let mut complaints = Vec::new();
    let read = match serde_saphyr::from_str(text) {
        Err(error) => match repeated_key(&error) {
            Some(complaint) => {
                complaints.push(complaint);
                serde_saphyr::from_str_with_options(
                    text,
                    serde_saphyr::options! { duplicate_keys: DuplicateKeyPolicy::LastWins },
                )
            }
            None => Err(error),
        },
        read => read,
    };
    let value = read.map_err(|e| invalid(e.to_string()))?;
    Ok(Decoded { value, complaints })
}

/// What to say of a key that is there twice, if that is what is wrong.
fn repeated_key(error: &serde_saphyr::Error) -> Option<String> {
    let error = error.without_snippet();
    let serde_saphyr::Error::DuplicateMappingKey { key, location } = error else {
        return None;
    };
    let (key, line) = (key.as_deref().unwrap_or_default(), location.line());
    Some(format!("line {line}: key \"{key}\" already set in map"))
}

struct Node<'a> {
    path: Path<'a>,
    duplicates: &'a mut Vec<String>,
}

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value)
            .map(Value::Number)
            .ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        loop {
            let path = Path::Item(&self.path, list.len());
            match items.next_element_seed(Node {
                path,
                duplicates: self.duplicates,
            })? {
                Some(item) => list.push(item),
                None => return Ok(Value::Array(list)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = fields.next_key::<String>()? {
            let path = Path::Field(&self.path, &key);
            if map.contains_key(&key) {
                self.duplicates.push(format!("duplicate field \"{path}\""));
            }
            if self.duplicates.len() > 100 {
                return Err(A::Error::custom("too many duplicate fields"));
            }
            let value = fields.next_value_seed(Node {
                path,
                duplicates: self.duplicates,
            })?;
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duplicates_are_named_and_the_last_one_counts() {
        let decoded = json(br#"{"a": 1, "b": [{"c": 1, "c": 2}], "a": 3.5}"#).unwrap();
        assert_eq!(
            decoded.value,
            serde_json::json!({"a": 3.5, "b": [{"c": 2}]})
        );
        let complaints = ["duplicate field \"b[0].c\"", "duplicate field \"a\""];
        assert_eq!(decoded.complaints, complaints);
    }

    #[test]
    fn nonsense_is_refused() {
        let deep = "[".repeat(100_000);
        for text in ["", "{", "{} {}", "\u{1}", deep.as_str()] {
            assert_eq!(
                json(text.as_bytes()).unwrap_err().code,
                400,
                "{}",
                &text[..text.len().min(9)]
            );
        }
        let mut expected = Expected::builtin("v1".into(), "Secret");
        let error = |expected: &Expected<'_>, bytes: &[u8]| {
            decode("application/vnd.kubernetes.protobuf", bytes, expected).unwrap_err()
        };
        for (bytes, message) in [
            (
                &b"k8s"[..],
                "the object provided is unrecognized (must be of type Secret): provided data does not appear to be a protobuf message, expected prefix [107 56 115 0] (6b3873)",
            ),
            (
                b"k8s\0\x0a\x09\x0a\x02v1\x12\x03Pod",
                "Pod in version \"v1\" cannot be handled as a Secret: no kind \"Pod\" is registered for version \"v1\"",
            ),
            (
                b"k8s\0\x12\x02\x0a\x05",
                "Secret in version \"v1\" cannot be handled as a Secret: unexpected EOF",
            ),
        ] {
            let refused = error(&expected, bytes);
            assert_eq!(
                (refused.code.as_u16(), refused.message.as_str()),
                (400, message)
            );
        }
        expected.protobuf = false;
        assert_eq!(error(&expected, b"k8s\0").code, 415);
        assert_eq!(json(b"\"\xff\"").unwrap_err().code, 400);
    }

    #[test]
    fn yaml_is_read() {
        let decoded = yaml(b"a: 1\nb:\n- c: x\n  d: true\n").unwrap();
        assert_eq!(
            decoded.value,
            serde_json::json!({"a": 1, "b": [{"c": "x", "d": true}]})
        );
        assert_eq!(yaml(b"a: [").unwrap_err().code, 400);
    }
}
