//! Messages, held against what the protocol's own library makes of the same record.

use super::*;
use machinist_engine::trace::TraceContext;

/// The entry below, serialized by Python's `opentelemetry-proto`.
const OFFICIAL: &str = "\
     0a9c020a1d0a1b0a0c736572766963652e6e616d65120b0a096d616368696e69737412fa010a0b0a\
     096d616368696e69737412ea010901002a36fe9c9717100d1a045741524e2a070a054f7563682e32\
     1f0a126b38732e6e616d6573706163652e6e616d6512090a0764656661756c74321c0a0f6b38732e\
     6f626a6563742e6b696e6412090a074d616368696e65321b0a0f6b38732e6f626a6563742e6e616d\
     6512080a067765622d303132150a0e6b38732e6f626a6563742e75696412030a017532220a106b38\
     732e6576656e742e726561736f6e120e0a0c4372656174654661696c6564321c0a106b38732e6576\
     656e742e616374696f6e12080a066372656174654a104bf92f3577b34da6a3ce929d0e0e47365901\
     002a36fe9c9717";

#[test]
fn protobuf_is_what_the_protocols_library_makes() {
    let traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let context: TraceContext = traceparent.parse().unwrap();
    let entry = Entry {
        at: jiff::Timestamp::from_nanosecond(1_700_000_000_000_000_001).unwrap(),
        warning: true,
        kind: "Machine".to_owned(),
        namespace: "default".to_owned(),
        name: "web-01".to_owned(),
        uid: "u".to_owned(),
        reason: "CreateFailed".to_owned(),
        action: Some("create".to_owned()),
        note: "Ouch.".to_owned(),
        trace: Some(context.trace),
    };
    let resource = [("service.name".to_owned(), "machinist".to_owned())];
    let made = protobuf(&resource, &[entry]);
    let made: String = made.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(made, OFFICIAL);
}
