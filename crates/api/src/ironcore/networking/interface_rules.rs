//! The CEL rules about addresses that an interface and a load balancer share, and those of an
//! interface alone.

use kube::core::Rule as RootRule;
use schemars::Schema;

use crate::schema::{Rule, add_rules};

/// The address at one place and the family at the same place agree. There are two families, so
/// there are at most two places, and a rule for each needs no index that counts.
macro_rules! same_family {
    ($place:literal) => {
        Rule::new(
            concat!(
                "!has(self.ips) || !has(self.ipFamilies) || self.ips.size() <= ",
                $place,
                " || self.ipFamilies.size() <= ",
                $place,
                " || ((!has(self.ips[",
                $place,
                "].value) || !isIP(self.ips[",
                $place,
                "].value)",
                " || ip(self.ips[",
                $place,
                "].value).family()",
                " == (self.ipFamilies[",
                $place,
                "] == 'IPv4' ? 4 : 6))",
                " && (!has(self.ips[",
                $place,
                "].ephemeral)",
                " || !has(self.ips[",
                $place,
                "].ephemeral.prefixTemplate.spec.ipFamily)",
                " || self.ips[",
                $place,
                "].ephemeral.prefixTemplate.spec.ipFamily",
                " == self.ipFamilies[",
                $place,
                "]))",
            ),
            concat!(
                "ips[",
                $place,
                "] must be of the family that ipFamilies[",
                $place,
                "] names"
            ),
        )
        .about(".ips", concat!("self.ips[", $place, "].value"))
    };
}

const FAMILIES: &[Rule] = &[
    Rule::required(
        ".ipFamilies",
        "has(self.ipFamilies) || has(self.ips)",
        "ipFamilies is required without ips: IPv4, IPv6 or both",
    ),
    same_family!("0"),
    same_family!("1"),
    Rule::new(
        "!has(self.ips) || self.ips.size() < 2 || !has(self.ips[0].value) || !has(self.ips[1].value) \
         || !isIP(self.ips[0].value) || !isIP(self.ips[1].value) \
         || ip(self.ips[0].value).family() != ip(self.ips[1].value).family()",
        "ips must be of different families: one IPv4 address and one IPv6 address",
    ).about(".ips", "self.ips[0].value + ' and ' + self.ips[1].value"),
];

/// Rules over the spec of an interface.
pub(super) fn interface(schema: &mut Schema) {
    const COUNT: &[Rule] = &[Rule::new(
        "!has(self.ipFamilies) || self.ipFamilies.size() == (has(self.ips) ? self.ips.size() : 0)",
        "ips must have one entry for each of ipFamilies",
    )
    .counting(".ips", "has(self.ips) ? self.ips.size() : 0")];
    add_rules(schema, FAMILIES);
    add_rules(schema, COUNT);
}

/// Rules over the spec of a load balancer, whose addresses may be left to be found.
pub(super) fn load_balancer(schema: &mut Schema) {
    const COUNT: &[Rule] = &[Rule::new(
        "!has(self.ipFamilies) || !has(self.ips) || self.ipFamilies.size() == self.ips.size()",
        "ips must have one entry for each of ipFamilies, or be left out",
    )
    .counting(".ips", "self.ips.size()")];
    add_rules(schema, FAMILIES);
    add_rules(schema, COUNT);
}

/// What is made for an interface is named after it, and has room for the name.
pub(super) fn names_have_room() -> RootRule {
    RootRule::new(
        "self.metadata.name.size() <= 58 || \
         ((!has(self.spec.prefixes) || self.spec.prefixes.all(source, !has(source.ephemeral))) \
         && (self.metadata.name.size() <= 61 \
         || !has(self.spec.ips) || self.spec.ips.all(source, !has(source.ephemeral))))",
    )
    .message(
        "metadata.name must leave room for the names of the prefixes that are made for the \
         interface: at most 61 characters with ephemeral ips, 58 with ephemeral prefixes",
    )
    .field_path(".metadata.name")
    .reason(kube::core::Reason::FieldValueForbidden)
}
