//! Vectors from the Go serializer, and bytes from nowhere.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Envelope, Error};

const VECTORS: &str = include_str!("testdata/vectors.json");

fn read(bytes: &[u8]) -> Result<Value, Error> {
    Envelope::open(bytes, "v1", "Secret")?.object()
}

fn vectors() -> Vec<(String, Vec<u8>, Value)> {
    let vectors: Vec<Value> = serde_json::from_str(VECTORS).unwrap();
    let read = |vector: &Value| {
        let text = |name: &str| vector[name].as_str().unwrap().to_owned();
        let bytes = STANDARD.decode(text("protobuf")).unwrap();
        (text("name"), bytes, vector["json"].clone())
    };
    vectors.iter().map(read).collect()
}

/// A body of this kind with this message.
fn body(api_version: &str, kind: &str, message: &[u8]) -> Vec<u8> {
    let type_meta = [field(1, api_version.as_bytes()), field(2, kind.as_bytes())].concat();
    [b"k8s\0".to_vec(), field(1, &type_meta), field(2, message)].concat()
}

/// A field that holds bytes.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![number << 3 | 2];
    let mut length = bytes.len();
    while length >= 0x80 {
        out.push(u8::try_from(length & 0x7f).unwrap() | 0x80);
        length >>= 7;
    }
    out.push(u8::try_from(length).unwrap());
    out.extend(bytes);
    out
}

#[test]
fn what_go_writes_is_read_as_the_json_that_go_writes() {
    let vectors = vectors();
    assert!(vectors.len() > 25, "{}", vectors.len());
    for (name, bytes, expected) in vectors {
        assert_eq!(read(&bytes).unwrap(), expected, "{name}");
    }
}

#[test]
fn a_body_without_a_kind_is_of_the_kind_that_is_expected() {
    let bytes = [b"k8s\0".to_vec(), field(2, &field(3, b"Opaque"))].concat();
    let expected = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {}, "type": "Opaque"});
    assert_eq!(read(&bytes).unwrap(), expected);
}

#[test]
fn pieces_of_one_message_are_joined_and_unknown_fields_are_left_out() {
    let message = [
        field(1, &field(1, b"one")),
        field(15, b"from the future"),
        vec![15 << 3, 1],
        field(1, &field(3, b"space")),
        field(1, &field(1, b"two")),
    ]
    .concat();
    assert_eq!(
        read(&body("v1", "ConfigMap", &message)).unwrap()["metadata"],
        json!({"name": "two", "namespace": "space"})
    );
}

#[test]
fn nonsense_is_refused() {
    let not = |depth: usize| {
        let mut schema = Vec::new();
        for _ in 0..depth {
            // Field 28, `not`, has a tag of two bytes.
            let inner = field(1, &schema);
            schema = [&[0xe2, 0x01][..], &inner[1..]].concat();
        }
        let version = field(4, &field(1, &schema));
        let definition = field(2, &field(7, &version));
        body(
            "apiextensions.k8s.io/v1",
            "CustomResourceDefinition",
            &definition,
        )
    };
    assert!(read(&not(80)).is_ok());
    let versions = field(7, &[]).repeat(200_000);
    let huge = body(
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        &field(2, &versions),
    );
    let managed = |entry: &[u8]| {
        body(
            "v1",
            "Secret",
            &field(1, &[&[0x8a, 0x01], &field(1, entry)[1..]].concat()),
        )
    };
    let time = |seconds: &[u8]| {
        body(
            "v1",
            "Secret",
            &field(1, &field(8, &[&[8], seconds].concat())),
        )
    };
    for (bytes, expected) in [
        (Vec::new(), "empty data"),
        (b"k8s\0".to_vec(), "empty body"),
        (
            b"{}".to_vec(),
            "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]",
        ),
        (b"k8s\0\x0a\x05".to_vec(), "unexpected EOF"),
        (
            b"k8s\0\x08\x05".to_vec(),
            "proto: wrong wireType for field Unknown",
        ),
        (
            body("v1", "Secret", &[8, 1]),
            "proto: wrong wireType for field metadata",
        ),
        (
            body("v1", "Secret", &field(5, b"x")),
            "proto: wrong wireType for field immutable",
        ),
        (
            body("v1", "Secret", &field(3, b"\xff")),
            "a text is not UTF-8",
        ),
        (
            body("v1", "Pod", &[]),
            "no kind \"Pod\" is registered for version \"v1\"",
        ),
        (
            body("v2", "Secret", &[]),
            "no kind \"Secret\" is registered for version \"v2\"",
        ),
        (
            managed(&field(7, &field(1, b"{"))),
            "a value that must be JSON is not",
        ),
        (
            time(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]),
            "a time is out of range",
        ),
        (not(2000), "the object is nested too deeply"),
        (huge, "the object has too many values"),
        (
            body("v1", "Secret", &field(3, b"x").repeat(300_000)),
            "the object has too many values",
        ),
    ] {
        let error = read(&bytes).unwrap_err().to_string();
        assert_eq!(error, expected, "{:?}", &bytes[..bytes.len().min(40)]);
    }
}

proptest! {
    #[test]
    fn no_bytes_do_harm(message in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = read(&message);
        for (api_version, kind) in [
            ("v1", "Event"),
            ("v1", "DeleteOptions"),
            ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
            ("authorization.k8s.io/v1", "SubjectAccessReview"),
        ] {
            let _ = read(&body(api_version, kind, &message));
        }
    }

    #[test]
    fn damaged_vectors_do_no_harm(which in any::<prop::sample::Index>(), at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<bool>()) {
        let vectors = vectors();
        let (_, mut bytes, _) = vectors[which.index(vectors.len())].clone();
        let at = at.index(bytes.len());
        if cut {
            bytes.truncate(at);
        } else {
            bytes[at] = byte;
        }
        let _ = read(&bytes);
    }
}
