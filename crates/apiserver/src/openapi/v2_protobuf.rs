//! The definitions of a v2 document in the protobuf form that kubectl asks for (`openapi.v2` of
//! gnostic). Paths are left out: who wants those reads JSON or v3.

use serde_json::Value;

/// The media types by which the form is asked for: the first is the right one, the second the one
/// that clients send.
pub(crate) const MEDIA_TYPES: [&str; 2] = [
    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
];

/// The fields of a schema that are plain, by their numbers.
const TEXTS: [(u32, &str); 5] = [
    (1, "$ref"),
    (2, "format"),
    (3, "title"),
    (4, "description"),
    (13, "pattern"),
];
const DOUBLES: [(u32, &str); 3] = [(6, "multipleOf"), (7, "maximum"), (9, "minimum")];
const FLAGS: [(u32, &str); 3] = [
    (8, "exclusiveMaximum"),
    (10, "exclusiveMinimum"),
    (16, "uniqueItems"),
];
const NUMBERS: [(u32, &str); 6] = [
    (11, "maxLength"),
    (12, "minLength"),
    (14, "maxItems"),
    (15, "minItems"),
    (17, "maxProperties"),
    (18, "minProperties"),
];

/// A v2 document as protobuf.
pub(crate) fn encode(document: &Value) -> Vec<u8> {
    let mut out = Message::default();
    out.text(1, document["swagger"].as_str().unwrap_or_default());
    let mut info = Message::default();
    info.text(1, document["info"]["title"].as_str().unwrap_or_default());
    info.text(2, document["info"]["version"].as_str().unwrap_or_default());
    out.message(2, &info);
    out.message(8, &Message::default());
    out.message(9, &named_schemas(&document["definitions"]));
    out.0
}

/// Definitions, or the properties of an object: both are names with schemas.
fn named_schemas(schemas: &Value) -> Message {
    let mut out = Message::default();
    for (name, schema) in schemas.as_object().into_iter().flatten() {
        let mut named = Message::default();
        named.text(1, name);
        named.message(2, &schema_message(schema));
        out.message(1, &named);
    }
    out
}

fn schema_message(schema: &Value) -> Message {
    let mut out = Message::default();
    for (number, field) in TEXTS {
        if let Some(text) = schema[field].as_str() {
            out.text(number, text);
        }
    }
    for (number, field) in DOUBLES {
        if let Some(double) = schema[field].as_f64() {
            out.tag(number, 1);
            out.0.extend_from_slice(&double.to_le_bytes());
        }
    }
    for (number, field) in FLAGS {
        if schema[field] == true {
            out.varint_field(number, 1);
        }
    }
    for (number, field) in NUMBERS {
        if let Some(value) = schema[field].as_u64() {
            out.varint_field(number, value);
        }
    }
    if let Some(default) = schema.get("default") {
        out.message(5, &any(default));
    }
    for name in schema["required"].as_array().into_iter().flatten() {
        out.text(19, name.as_str().unwrap_or_default());
    }
    for value in schema["enum"].as_array().into_iter().flatten() {
        out.message(20, &any(value));
    }
    match &schema["additionalProperties"] {
        Value::Bool(open) => {
            let mut item = Message::default();
            item.varint_field(2, u64::from(*open));
            out.message(21, &item);
        }
        Value::Object(_) => {
            let mut item = Message::default();
            item.message(1, &schema_message(&schema["additionalProperties"]));
            out.message(21, &item);
        }
        _ => {}
    }
    if let Some(ty) = schema["type"].as_str() {
        let mut item = Message::default();
        item.text(1, ty);
        out.message(22, &item);
    }
    if schema["items"].is_object() {
        let mut item = Message::default();
        item.message(1, &schema_message(&schema["items"]));
        out.message(23, &item);
    }
    for branch in schema["allOf"].as_array().into_iter().flatten() {
        out.message(24, &schema_message(branch));
    }
    if schema["properties"].is_object() {
        out.message(25, &named_schemas(&schema["properties"]));
    }
    for (name, value) in schema.as_object().into_iter().flatten() {
        if name.starts_with("x-") {
            let mut named = Message::default();
            named.text(1, name);
            named.message(2, &any(value));
            out.message(31, &named);
        }
    }
    out
}

/// A value of any kind travels as YAML, of which JSON is a part.
fn any(value: &Value) -> Message {
    let mut out = Message::default();
    out.text(2, &format!("{value}\n"));
    out
}

/// A message that is being written.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value.to_le_bytes()[0] | 0x80);
            value >>= 7;
        }
        self.0.push(value.to_le_bytes()[0]);
    }

    fn tag(&mut self, number: u32, wire: u64) {
        self.varint(u64::from(number) << 3 | wire);
    }

    fn varint_field(&mut self, number: u32, value: u64) {
        self.tag(number, 0);
        self.varint(value);
    }

    fn bytes(&mut self, number: u32, bytes: &[u8]) {
        self.tag(number, 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn text(&mut self, number: u32, text: &str) {
        self.bytes(number, text.as_bytes());
    }

    fn message(&mut self, number: u32, message: &Self) {
        self.bytes(number, &message.0);
    }
}
