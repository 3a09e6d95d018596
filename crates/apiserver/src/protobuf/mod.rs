//! Kubernetes protobuf: from the bytes that typed Go clients send to the JSON that they mean.
//!
//! Such a body is an envelope that names a kind, around the message of that kind. What the messages
//! hold is data (`messages`); one decoder reads them all. Only requests come this way: every client
//! that writes protobuf also reads JSON, so nothing here encodes.

mod decode;
mod message;
mod messages;
mod wire;

#[cfg(test)]
mod tests;

use serde_json::Value;

use decode::Decoder;
use wire::{Fields, Raw};

/// The media type of such bodies.
pub(crate) const MEDIA_TYPE: &str = "application/vnd.kubernetes.protobuf";

const MAGIC: &[u8] = b"k8s\0";

/// Why a body is not an object. The words are those of the Go decoder where it has any.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("empty data")]
    Empty,
    #[error(
        "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"
    )]
    Prefix,
    #[error("empty body")]
    EmptyBody,
    #[error("unexpected EOF")]
    Truncated,
    #[error("proto: integer overflow")]
    Overflow,
    #[error("proto: illegal tag {0}")]
    Tag(u64),
    #[error("proto: wrong wireType for field {0}")]
    WireType(&'static str),
    #[error("a text is not UTF-8")]
    Utf8(#[source] std::str::Utf8Error),
    #[error("a value that must be JSON is not")]
    Json(#[source] serde_json::Error),
    #[error("a time is out of range")]
    Time,
    #[error("a number is not finite")]
    Number,
    #[error("the object is nested too deeply")]
    Depth,
    #[error("the object has too many values")]
    Size,
    #[error("no kind \"{kind}\" is registered for version \"{api_version}\"")]
    UnknownKind { api_version: String, kind: String },
}

/// A body that names its kind and has not been read further.
#[derive(Debug)]
pub(crate) struct Envelope<'a> {
    pub(crate) api_version: String,
    pub(crate) kind: String,
    message: &'a [u8],
}

impl<'a> Envelope<'a> {
    /// Opens a body; the kind is the one that is expected where the body does not say.
    pub(crate) fn open(bytes: &'a [u8], api_version: &str, kind: &str) -> Result<Self, Error> {
        if bytes.is_empty() {
            return Err(Error::Empty);
        }
        let content = bytes.strip_prefix(MAGIC).ok_or(Error::Prefix)?;
        if content.is_empty() {
            return Err(Error::EmptyBody);
        }
        let mut envelope = Envelope {
            api_version: String::new(),
            kind: String::new(),
            message: &[],
        };
        for field in Fields::of(content) {
            match field? {
                (1, Raw::Bytes(type_meta)) => envelope.read_type(type_meta)?,
                (2, Raw::Bytes(message)) => envelope.message = message,
                (1 | 2, _) => return Err(Error::WireType("Unknown")),
                _ => {}
            }
        }
        if envelope.kind.is_empty() {
            kind.clone_into(&mut envelope.kind);
        }
        if envelope.api_version.is_empty() {
            api_version.clone_into(&mut envelope.api_version);
        }
        Ok(envelope)
    }

    fn read_type(&mut self, bytes: &[u8]) -> Result<(), Error> {
        for field in Fields::of(bytes) {
            let (place, raw) = match field? {
                (1, raw) => (&mut self.api_version, raw),
                (2, raw) => (&mut self.kind, raw),
                _ => continue,
            };
            let Raw::Bytes(text) = raw else {
                return Err(Error::WireType("TypeMeta"));
            };
            *place = str::from_utf8(text).map_err(Error::Utf8)?.to_owned();
        }
        Ok(())
    }

    /// The object, as a client that writes JSON would have sent it.
    pub(crate) fn object(self) -> Result<Value, Error> {
        let Some(message) = messages::find(&self.api_version, &self.kind) else {
            return Err(Error::UnknownKind {
                api_version: self.api_version,
                kind: self.kind,
            });
        };
        let mut object = Decoder::default().object(message, self.message)?;
        object.insert("apiVersion".into(), self.api_version.into());
        object.insert("kind".into(), self.kind.into());
        Ok(Value::Object(object))
    }
}
