//! The forms of names: of objects and of keys.

use schemars::Schema;
use serde_json::json;

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

/// One SSH public key: its type, the key, and perhaps a comment.
pub(crate) fn ssh_public_key(schema: &mut Schema) {
    schema.insert("maxLength".to_owned(), 16384.into());
    schema.insert(
        "pattern".to_owned(),
        r"^[a-z0-9@.-]+ +\S+( [^\r\n]*)?$".into(),
    );
}
