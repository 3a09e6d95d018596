//! The formats of documented strings: patterns where a pattern is exact, CEL where it is not.
//!
//! Every string that a CEL rule reads has a maximum length, because the API server bounds a rule's
//! cost by the largest value that the schema lets through.

use schemars::Schema;
use serde_json::{Value, json};

use super::{Rule, add_rules};

/// Longest textual IP address or CIDR, with room to spare.
const MAX_ADDRESS: u32 = 64;
/// Longest quantity, duration or decimal that anybody writes.
const MAX_NUMBER: u32 = 32;

fn set(schema: &mut Schema, key: &str, value: impl Into<Value>) {
    schema.insert(key.to_owned(), value.into());
}

fn checked(schema: &mut Schema, max_length: u32, rule: Rule) {
    set(schema, "maxLength", max_length);
    add_rules(schema, &[rule]);
}

const IP: Rule = Rule::new(
    "isIP(self)",
    "must be an IPv4 or IPv6 address, such as 10.0.1.100",
);

/// An IPv4 or IPv6 address.
pub(crate) fn ip(schema: &mut Schema) {
    checked(schema, MAX_ADDRESS, IP);
}

/// A list of IPv4 or IPv6 addresses.
pub(crate) fn ips(schema: &mut Schema) {
    set(schema, "items", address(IP));
}

const CIDR: Rule = Rule::new(
    "isCIDR(self)",
    "must be an address range in CIDR notation, such as 10.0.1.0/24",
);

/// An address range.
pub(crate) fn cidr(schema: &mut Schema) {
    checked(schema, MAX_ADDRESS, CIDR);
}

/// A list of address ranges.
pub(crate) fn cidrs(schema: &mut Schema) {
    set(schema, "items", address(CIDR));
}

fn address(rule: Rule) -> Value {
    let mut item = Schema::default();
    set(&mut item, "type", "string");
    checked(&mut item, MAX_ADDRESS, rule);
    json!(item)
}

/// An absolute URL.
pub(crate) fn url(schema: &mut Schema) {
    const RULE: Rule = Rule::new(
        "isURL(self)",
        "must be an absolute URL, such as https://pve.example.com:8006",
    );
    checked(schema, 2048, RULE);
}

/// A MAC address.
pub(crate) fn mac(schema: &mut Schema) {
    set(schema, "pattern", "^([0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}$");
}

/// Any Kubernetes quantity that is not negative.
pub(crate) fn quantity(schema: &mut Schema) {
    const RULE: Rule = Rule::new(
        "isQuantity(self) && quantity(self).compareTo(quantity('0')) >= 0",
        "must be a Kubernetes quantity that is not negative, such as 20Gi",
    );
    checked(schema, MAX_NUMBER, RULE);
}

/// The size of a machine's memory.
pub(crate) fn memory_size(schema: &mut Schema) {
    const RULE: Rule = Rule::new(
        "isQuantity(self) && quantity(self).compareTo(quantity('128Mi')) >= 0 \
         && quantity(self).compareTo(quantity('1024Gi')) <= 0",
        "must be a Kubernetes quantity from 128Mi to 1024Gi, such as 4Gi",
    );
    checked(schema, MAX_NUMBER, RULE);
}

/// The size of a machine's volume.
pub(crate) fn volume_size(schema: &mut Schema) {
    const RULE: Rule = Rule::new(
        "isQuantity(self) && quantity(self).compareTo(quantity('1Gi')) >= 0 \
         && quantity(self).compareTo(quantity('100Ti')) <= 0",
        "must be a Kubernetes quantity from 1Gi to 100Ti, such as 20Gi",
    );
    checked(schema, MAX_NUMBER, RULE);
}

/// A duration as Go writes it.
pub(crate) fn duration(schema: &mut Schema) {
    set(schema, "maxLength", MAX_NUMBER);
    set(schema, "pattern", r"^([0-9]+(\.[0-9]+)?(ns|us|ms|s|m|h))+$");
}

/// A decimal number in a string.
pub(crate) fn decimal(schema: &mut Schema) {
    set(schema, "maxLength", MAX_NUMBER);
    set(schema, "pattern", r"^[0-9]+(\.[0-9]+)?$");
}

/// A decimal number above zero in a string.
pub(crate) fn positive_decimal(schema: &mut Schema) {
    set(schema, "maxLength", MAX_NUMBER);
    set(
        schema,
        "pattern",
        r"^(0*[1-9][0-9]*(\.[0-9]+)?|0+\.0*[1-9][0-9]*)$",
    );
}

/// A number from 1 to 65535.
const PORT: &str =
    "(6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[1-5][0-9]{4}|[1-9][0-9]{0,3})";

/// A port in a string.
pub(crate) fn port(schema: &mut Schema) {
    set(schema, "pattern", format!("^{PORT}$"));
}

/// A port, or two ports with a dash between them.
pub(crate) fn port_range(schema: &mut Schema) {
    set(schema, "pattern", format!("^{PORT}(-{PORT})?$"));
}

/// A cron expression of five fields, or one of cron's own words.
pub(crate) fn cron(schema: &mut Schema) {
    let fields = [
        "[0-5]?[0-9]",
        "([01]?[0-9]|2[0-3])",
        "(0?[1-9]|[12][0-9]|3[01])",
        "(0?[1-9]|1[0-2]|JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC)",
        "([0-7]|SUN|MON|TUE|WED|THU|FRI|SAT)",
    ]
    .map(|value| {
        let part = format!(r"(\*|{value}(-{value})?)(/[0-9]+)?");
        format!("{part}(,{part})*")
    });
    set(schema, "maxLength", 256);
    set(
        schema,
        "pattern",
        format!(
            "^(@(yearly|annually|monthly|weekly|daily|midnight|hourly)|{})$",
            fields.join(" +")
        ),
    );
}

/// Data in base64, as the standard alphabet writes it.
pub(crate) fn base64(schema: &mut Schema) {
    set(schema, "maxLength", 87_384);
    set(
        schema,
        "pattern",
        "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$",
    );
}

/// A map of the platform's own settings; bounded, because rules look into it.
pub(crate) fn string_map(schema: &mut Schema) {
    set(schema, "maxProperties", 64);
    set(
        schema,
        "additionalProperties",
        json!({ "type": "string", "maxLength": 4096 }),
    );
}

/// An object that is kept as it is.
pub(crate) fn free_object(schema: &mut Schema) {
    schema.remove("additionalProperties");
    set(schema, "type", "object");
    set(schema, "x-kubernetes-preserve-unknown-fields", true);
}

/// A list of objects that are kept as they are.
pub(crate) fn free_objects(schema: &mut Schema) {
    set(
        schema,
        "items",
        json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true }),
    );
}

/// An object that keeps fields beside those that its schema knows.
pub(crate) fn open_object(schema: &mut Schema) {
    schema.remove("additionalProperties");
    set(schema, "x-kubernetes-preserve-unknown-fields", true);
}
