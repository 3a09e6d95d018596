//! String formats as a CustomResourceDefinition knows them; an unknown format says nothing.

mod codes;
mod net;
mod time;

use std::borrow::Cow;

use super::Schema;

/// A check for one format.
pub(super) type Check = fn(&str) -> bool;

/// The check of a string format, by its name with the dashes left out, as upstream looks it up.
pub(super) fn check_of(format: &str) -> Option<Check> {
    let check: Check = match &*without_dashes(format) {
        "bsonobjectid" => codes::is_object_id,
        "uri" => net::is_request_uri,
        "email" => net::is_email,
        "hostname" => net::is_hostname,
        "ipv4" => net::is_ipv4,
        "ipv6" => net::is_ipv6,
        "cidr" => net::is_cidr,
        "mac" => net::is_mac,
        "uuid" => |text| codes::is_uuid(text, None),
        "uuid3" => |text| codes::is_uuid(text, Some('3')),
        "uuid4" => |text| codes::is_uuid(text, Some('4')),
        "uuid5" => |text| codes::is_uuid(text, Some('5')),
        "isbn" => |text| codes::is_isbn10(text) || codes::is_isbn13(text),
        "isbn10" => codes::is_isbn10,
        "isbn13" => codes::is_isbn13,
        "creditcard" => codes::is_credit_card,
        "ssn" => codes::is_ssn,
        "hexcolor" => codes::is_hex_color,
        "rgbcolor" => codes::is_rgb_color,
        "byte" => codes::is_base64,
        "password" => |_| true,
        "date" => time::is_date,
        "datetime" => time::is_date_time,
        "duration" => time::is_duration,
        "k8sshortname" => net::is_short_name,
        "k8slongname" => net::is_long_name,
        _ => return None,
    };
    Some(check)
}

/// A format by the name under which it is known.
pub(crate) fn without_dashes(format: &str) -> Cow<'_, str> {
    match format.contains('-') {
        true => format.replace('-', "").into(),
        false => format.into(),
    }
}

/// Whether `text` has the format; a format that nobody knows has no opinion.
pub(crate) fn matches(format: &str, text: &str) -> bool {
    check_of(format).is_none_or(|check| check(text))
}

/// The format of a node, if it is one that its type supports.
pub(crate) fn effective(schema: &Schema) -> Option<&str> {
    let format = schema.format.as_deref()?;
    let known = match schema.ty.as_deref() {
        None | Some("string") => check_of(format).is_some(),
        _ if schema.int_or_string => check_of(format).is_some(),
        Some("integer") => matches!(format, "int32" | "int64"),
        Some("number") => matches!(format, "float" | "double"),
        _ => false,
    };
    known.then_some(format)
}

#[cfg(test)]
mod tests;
