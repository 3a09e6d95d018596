//! The forms of addresses and domains, alone and in lists.

use schemars::Schema;
use serde_json::{Value, json};

use super::{Rule, add_rules, cidr};

/// A DNS domain, in any case.
const DOMAIN_PATTERN: &str =
    r"^[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?(\.[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?)*$";

/// A DNS domain.
pub(crate) fn domain(schema: &mut Schema) {
    schema.insert("maxLength".to_owned(), 253.into());
    schema.insert("pattern".to_owned(), Value::from(DOMAIN_PATTERN));
}

/// A list of DNS domains.
pub(crate) fn domains(schema: &mut Schema) {
    let item = json!({ "type": "string", "maxLength": 253, "pattern": DOMAIN_PATTERN });
    schema.insert("items".to_owned(), item);
}

/// An IPv4 address range.
pub(crate) fn ipv4_cidr(schema: &mut Schema) {
    cidr(schema);
    let pattern = r"^([0-9]{1,3}\.){3}[0-9]{1,3}/[0-9]{1,2}$";
    schema.insert("pattern".to_owned(), pattern.into());
}

/// An address or an address range.
pub(crate) fn ip_or_cidr(schema: &mut Schema) {
    const RULE: Rule = Rule::new(
        "isIP(self) || isCIDR(self)",
        "must be an IPv4 or IPv6 address, or a range in CIDR notation, such as 10.0.1.0/24",
    );
    schema.insert("maxLength".to_owned(), 64.into());
    add_rules(schema, &[RULE]);
}
