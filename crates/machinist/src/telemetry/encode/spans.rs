//! Spans as `ExportTraceServiceRequest`, as protobuf or as JSON.

use machinist_engine::trace::{Attribute, Role, Span};
use serde_json::{Value, json};

use super::{Message, SCOPE, attribute, nanos, request};

/// The flag of a span that is recorded.
const SAMPLED: u32 = 1;
/// `STATUS_CODE_ERROR`.
const FAILED: u8 = 2;

/// A batch of spans, as protobuf.
pub(in crate::telemetry) fn protobuf(resource: &[(String, String)], spans: &[Span]) -> Vec<u8> {
    request(resource, spans.iter().map(span))
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

/// `SpanKind`.
fn kind(role: Role) -> u8 {
    match role {
        Role::Internal => 1,
        Role::Server => 2,
        Role::Client => 3,
    }
}

/// The same batch as JSON: ids are hexadecimal, and numbers of 64 bits are strings.
pub(in crate::telemetry) fn json(resource: &[(String, String)], spans: &[Span]) -> Vec<u8> {
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
