//! Messages, held against what the protocol's own library makes of the same span.

use std::time::{Duration, SystemTime};

use super::*;

/// The span below, serialized by Python's `opentelemetry-proto`.
const OFFICIAL: &str = "\
     0ad6010a1d0a1b0a0c736572766963652e6e616d65120b0a096d616368696e69737412b4010a0b0a\
     096d616368696e69737412a4010a104bf92f3577b34da6a3ce929d0e0e4736120800f067aa0ba902\
     b7220811111111111111112a0d70726f76696465722063616c6c30033901002a36fe9c97174181b2\
     1045fe9c97174a1a0a0e6d616368696e6973742e63616c6c12080a066372656174654a180a116d61\
     6368696e6973742e617474656d7074120318ac024a190a0a6572726f722e74797065120b0a095472\
     616e73706f72747a021802850101000000";

fn span() -> Span {
    let traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-1111111111111111-01";
    let parent: machinist_engine::trace::TraceContext = parent.parse().unwrap();
    let start = SystemTime::UNIX_EPOCH + Duration::new(1_700_000_000, 1);
    Span {
        context: traceparent.parse().unwrap(),
        parent: Some(parent.span),
        name: "provider call",
        role: Role::Client,
        start,
        end: start + Duration::from_millis(250),
        attributes: vec![
            ("machinist.call", "create".into()),
            ("machinist.attempt", Attribute::Number(300)),
        ],
        error: Some("Transport"),
    }
}

fn resource() -> [(String, String); 1] {
    [("service.name".to_owned(), "machinist".to_owned())]
}

#[test]
fn protobuf_is_what_the_protocols_library_makes() {
    let made = protobuf(&resource(), &[span()]);
    let made: String = made.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(made, OFFICIAL);
}

#[test]
fn json_says_the_same() {
    let made: Value = serde_json::from_slice(&json(&resource(), &[span()])).unwrap();
    let of_resource = &made["resourceSpans"][0];
    let service = json!({"key": "service.name", "value": {"stringValue": "machinist"}});
    assert_eq!(of_resource["resource"]["attributes"], json!([service]));
    let expected = json!({
        "traceId": "4bf92f3577b34da6a3ce929d0e0e4736",
        "spanId": "00f067aa0ba902b7",
        "parentSpanId": "1111111111111111",
        "name": "provider call",
        "kind": 3,
        "startTimeUnixNano": "1700000000000000001",
        "endTimeUnixNano": "1700000000250000001",
        "flags": 1,
        "status": {"code": 2},
        "attributes": [
            {"key": "machinist.call", "value": {"stringValue": "create"}},
            {"key": "machinist.attempt", "value": {"intValue": "300"}},
            {"key": "error.type", "value": {"stringValue": "Transport"}},
        ],
    });
    assert_eq!(of_resource["scopeSpans"][0]["spans"], json!([expected]));
}
