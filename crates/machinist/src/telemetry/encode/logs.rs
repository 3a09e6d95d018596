//! Entries of the journal as `ExportLogsServiceRequest`, in the words that OpenTelemetry has for events
//! of Kubernetes.

use std::time::SystemTime;

use machinist_engine::journal::Entry;

use super::{Message, any, attribute, nanos, request};

/// `SEVERITY_NUMBER_INFO` and `SEVERITY_NUMBER_WARN`, with their texts.
const INFO: (u64, &str) = (9, "INFO");
const WARN: (u64, &str) = (13, "WARN");

/// A batch of entries, as protobuf.
pub(in crate::telemetry) fn protobuf(resource: &[(String, String)], entries: &[Entry]) -> Vec<u8> {
    request(resource, entries.iter().map(record))
}

fn record(entry: &Entry) -> Message {
    let Entry {
        at,
        warning,
        kind,
        namespace,
        name,
        uid,
        reason,
        action,
        note,
        trace,
    } = entry;
    let at = nanos(SystemTime::from(*at));
    let (number, text) = if *warning { WARN } else { INFO };
    let mut message = Message::default();
    message.fixed64(1, at);
    message.number(2, number);
    message.bytes(3, text.as_bytes());
    message.message(5, &any(&note.as_str().into()));
    let told = [
        ("k8s.namespace.name", namespace),
        ("k8s.object.kind", kind),
        ("k8s.object.name", name),
        ("k8s.object.uid", uid),
        ("k8s.event.reason", reason),
    ];
    for (key, value) in told {
        message.message(6, &attribute(key, &value.as_str().into()));
    }
    if let Some(action) = action {
        message.message(6, &attribute("k8s.event.action", &action.as_str().into()));
    }
    if let Some(trace) = trace {
        message.bytes(9, trace.bytes());
    }
    message.fixed64(11, at);
    message
}

#[cfg(test)]
mod tests;
