//! The forms of names: of objects, of labels, of keys.

use schemars::Schema;
use serde_json::{Value, json};

use crate::names::NAME_PATTERN;

/// A DNS subdomain, which is what most objects are named by.
const SUBDOMAIN_PATTERN: &str =
    r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";

/// The name of an object.
pub(crate) fn object_name(schema: &mut Schema) {
    schema.insert("maxLength".to_owned(), 253.into());
    schema.insert("pattern".to_owned(), SUBDOMAIN_PATTERN.into());
}

/// A list of names of objects.
pub(crate) fn object_names(schema: &mut Schema) {
    schema.insert(
        "items".to_owned(),
        json!({ "type": "string", "maxLength": 253, "pattern": SUBDOMAIN_PATTERN }),
    );
}

/// A name without dots, which can stand in a host name.
pub(crate) fn label_name(schema: &mut Schema) {
    schema.insert("maxLength".to_owned(), 63.into());
    schema.insert("pattern".to_owned(), NAME_PATTERN.into());
}

/// A reference to an object of a kind whose names have no dots.
pub(crate) fn label_reference(schema: &mut Schema) {
    let name = schema
        .get_mut("properties")
        .and_then(|properties| properties.get_mut("name"));
    if let Some(name) = name {
        name["maxLength"] = 63.into();
        name["pattern"] = NAME_PATTERN.into();
    }
}

/// The key of a label.
pub(crate) fn label_key(schema: &mut Schema) {
    schema.insert("maxLength".to_owned(), 317.into());
    schema.insert(
        "pattern".to_owned(),
        r"^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$".into(),
    );
}

/// A list of values of labels.
pub(crate) fn label_values(schema: &mut Schema) {
    schema.insert("items".to_owned(), label_value());
}

fn label_value() -> Value {
    json!({
        "type": "string",
        "maxLength": 63,
        "pattern": "^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$",
    })
}

/// Labels of an object, or the labels that an object must have.
pub(crate) fn labels(schema: &mut Schema) {
    schema.insert("maxProperties".to_owned(), 64.into());
    schema.insert("additionalProperties".to_owned(), label_value());
}

/// One SSH public key: its type, the key, and perhaps a comment.
pub(crate) fn ssh_public_key(schema: &mut Schema) {
    schema.insert("maxLength".to_owned(), 16384.into());
    schema.insert(
        "pattern".to_owned(),
        r"^[a-z0-9@.-]+ +\S+( [^\r\n]*)?$".into(),
    );
}
