//! What is sent as messages of OTLP.
//!
//! The few messages that spans and log records need are written by hand; their field numbers are part
//! of a protocol that does not change. A collector that others wrote reads them in
//! `crates/machinist/tests/tracing`.

pub(super) mod logs;
pub(super) mod spans;

use std::time::SystemTime;

use machinist_engine::trace::Attribute;

/// The media type of protobuf.
pub(super) const PROTOBUF: &str = "application/x-protobuf";
/// Who made what is sent.
const SCOPE: &str = "machinist";

/// A request of one resource and one scope; requests of spans and of log records have the same shape.
fn request(resource: &[(String, String)], records: impl Iterator<Item = Message>) -> Vec<u8> {
    let mut about = Message::default();
    for (key, value) in resource {
        about.message(1, &attribute(key, &Attribute::Text(value.clone())));
    }
    let mut scope = Message::default();
    scope.bytes(1, SCOPE.as_bytes());
    let mut of_scope = Message::default();
    of_scope.message(1, &scope);
    records.for_each(|record| of_scope.message(2, &record));
    let mut of_resource = Message::default();
    of_resource.message(1, &about);
    of_resource.message(2, &of_scope);
    let mut request = Message::default();
    request.message(1, &of_resource);
    request.0
}

fn attribute(key: &str, value: &Attribute) -> Message {
    let mut pair = Message::default();
    pair.bytes(1, key.as_bytes());
    pair.message(2, &any(value));
    pair
}

/// `AnyValue`.
fn any(value: &Attribute) -> Message {
    let mut any = Message::default();
    match value {
        Attribute::Text(text) => any.bytes(1, text.as_bytes()),
        Attribute::Number(number) => any.number(3, number.cast_unsigned()),
    }
    any
}

fn nanos(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    u64::try_from(since.unwrap_or_default().as_nanos()).unwrap_or(u64::MAX)
}

/// A message of protobuf that is being written.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push((number & 0x7f) as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    fn tag(&mut self, field: u32, wire: u32) {
        self.varint(u64::from(field << 3 | wire));
    }

    fn number(&mut self, field: u32, number: u64) {
        self.tag(field, 0);
        self.varint(number);
    }

    fn fixed64(&mut self, field: u32, number: u64) {
        self.tag(field, 1);
        self.0.extend(number.to_le_bytes());
    }

    fn fixed32(&mut self, field: u32, number: u32) {
        self.tag(field, 5);
        self.0.extend(number.to_le_bytes());
    }

    fn bytes(&mut self, field: u32, bytes: &[u8]) {
        self.tag(field, 2);
        self.varint(bytes.len() as u64);
        self.0.extend(bytes);
    }

    fn message(&mut self, field: u32, message: &Message) {
        self.bytes(field, &message.0);
    }
}
