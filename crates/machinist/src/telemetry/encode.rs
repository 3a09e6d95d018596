//! Spans as messages of OTLP: `ExportTraceServiceRequest`, as protobuf or as JSON.
//!
//! The few messages that a trace needs are written by hand; their field numbers are part of a
//! protocol that does not change. A collector that others wrote reads them in
//! `crates/machinist/tests/tracing`.

use std::time::SystemTime;

use machinist_engine::trace::{Attribute, Role, Span};
use serde_json::{Value, json};

/// Who made the spans.
const SCOPE: &str = "machinist";
/// The flag of a span that is recorded.
const SAMPLED: u32 = 1;
/// `STATUS_CODE_ERROR`.
const FAILED: u8 = 2;

/// A batch of spans, as protobuf.
pub(super) fn protobuf(resource: &[(String, String)], spans: &[Span]) -> Vec<u8> {
    let mut about = Message::default();
    for (key, value) in resource {
        about.message(1, &attribute(key, &Attribute::Text(value.clone())));
    }
    let mut scope = Message::default();
    scope.bytes(1, SCOPE.as_bytes());
    let mut of_scope = Message::default();
    of_scope.message(1, &scope);
    for one in spans {
        of_scope.message(2, &span(one));
    }
    let mut of_resource = Message::default();
    of_resource.message(1, &about);
    of_resource.message(2, &of_scope);
    let mut request = Message::default();
    request.message(1, &of_resource);
    request.0
}

fn span(span: &Span) -> Message {
    let Span {
        context,
        parent,
        name,
        role,
        start,
        end,
        attributes,
        error,
    } = span;
    let mut message = Message::default();
    message.bytes(1, context.trace.bytes());
    message.bytes(2, context.span.bytes());
    if let Some(parent) = parent {
        message.bytes(4, parent.bytes());
    }
    message.bytes(5, name.as_bytes());
    message.number(6, u64::from(kind(*role)));
    message.fixed64(7, nanos(*start));
    message.fixed64(8, nanos(*end));
    for (key, value) in attributes {
        message.message(9, &attribute(key, value));
    }
    if let Some(class) = error {
        message.message(9, &attribute("error.type", &(*class).into()));
        let mut status = Message::default();
        status.number(3, u64::from(FAILED));
        message.message(15, &status);
    }
    message.fixed32(16, SAMPLED);
    message
}

fn attribute(key: &str, value: &Attribute) -> Message {
    let mut any = Message::default();
    match value {
        Attribute::Text(text) => any.bytes(1, text.as_bytes()),
        Attribute::Number(number) => any.number(3, number.cast_unsigned()),
    }
    let mut pair = Message::default();
    pair.bytes(1, key.as_bytes());
    pair.message(2, &any);
    pair
}

/// `SpanKind`.
fn kind(role: Role) -> u8 {
    match role {
        Role::Internal => 1,
        Role::Server => 2,
        Role::Client => 3,
    }
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

/// The same batch as JSON: ids are hexadecimal, and numbers of 64 bits are strings.
pub(super) fn json(resource: &[(String, String)], spans: &[Span]) -> Vec<u8> {
    let pair = |key: &str, value: &Attribute| {
        let value = match value {
            Attribute::Text(text) => json!({ "stringValue": text }),
            Attribute::Number(number) => json!({ "intValue": number.to_string() }),
        };
        json!({ "key": key, "value": value })
    };
    let about = resource
        .iter()
        .map(|(key, value)| pair(key, &value.as_str().into()));
    let spans = spans.iter().map(|span| {
        let told = span.attributes.iter().map(|(key, value)| pair(key, value));
        let mut attributes: Vec<Value> = told.collect();
        let mut message = json!({
            "traceId": span.context.trace.to_string(),
            "spanId": span.context.span.to_string(),
            "name": span.name,
            "kind": kind(span.role),
            "startTimeUnixNano": nanos(span.start).to_string(),
            "endTimeUnixNano": nanos(span.end).to_string(),
            "flags": SAMPLED,
        });
        if let Some(parent) = span.parent {
            message["parentSpanId"] = parent.to_string().into();
        }
        if let Some(class) = span.error {
            attributes.push(pair("error.type", &class.into()));
            message["status"] = json!({ "code": FAILED });
        }
        message["attributes"] = attributes.into();
        message
    });
    let request = json!({ "resourceSpans": [{
        "resource": { "attributes": about.collect::<Vec<_>>() },
        "scopeSpans": [{
            "scope": { "name": SCOPE },
            "spans": spans.collect::<Vec<_>>(),
        }],
    }] });
    request.to_string().into_bytes()
}

#[cfg(test)]
mod tests;
