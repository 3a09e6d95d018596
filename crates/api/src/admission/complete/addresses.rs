//! Families of addresses and lengths of prefixes, as they follow from the addresses themselves.

use std::net::IpAddr;

use serde_json::{Map, Value, json};

use super::list;

/// What follows for an interface: the families, and those of the ranges that lead to it.
pub(super) fn interface(spec: &mut Map<String, Value>) {
    families(spec);
    for source in list(spec, "prefixes") {
        if let Some(template) = template(source) {
            prefix_family(template);
        }
    }
}

/// The families of the addresses unless given, and for each address that is taken from a prefix
/// its family and the length of a single address.
pub(super) fn families(spec: &mut Map<String, Value>) {
    if !spec.contains_key("ipFamilies") {
        let families: Option<Vec<&str>> = list(spec, "ips").map(|ip| family_of(ip)).collect();
        // Two addresses of one family are no list of families.
        let is_list = |all: &Vec<&str>| !all.is_empty() && all.first() != all.get(1);
        if let Some(families) = families.filter(is_list) {
            spec.insert("ipFamilies".to_owned(), json!(families));
        }
    }
    let families = spec.get("ipFamilies").and_then(Value::as_array).cloned();
    for (place, source) in list(spec, "ips").enumerate() {
        let Some(template) = template(source) else {
            continue;
        };
        let by_place = families.as_ref().and_then(|all| all.get(place));
        let Some(family) = by_place.and_then(Value::as_str) else {
            continue;
        };
        let length = match family {
            "IPv4" => 32,
            "IPv6" => 128,
            _ => continue,
        };
        template.entry("ipFamily").or_insert_with(|| family.into());
        if !template.contains_key("prefix") {
            template.entry("prefixLength").or_insert(json!(length));
        }
    }
}

/// The family of a prefix that is written down.
pub(super) fn prefix_family(spec: &mut Map<String, Value>) {
    let family = spec.get("prefix").and_then(of_text);
    if let Some(family) = family {
        spec.entry("ipFamily").or_insert_with(|| family.into());
    }
}

/// The family of one source of an address, if the source tells.
fn family_of(source: &Value) -> Option<&'static str> {
    if let Some(value) = source.get("value") {
        return of_text(value);
    }
    let spec = source.pointer("/ephemeral/prefixTemplate/spec")?;
    match spec["ipFamily"].as_str() {
        Some("IPv4") => return Some("IPv4"),
        Some("IPv6") => return Some("IPv6"),
        _ => {}
    }
    of_text(&spec["prefix"]).or(match spec["prefixLength"].as_i64() {
        Some(32) => Some("IPv4"),
        Some(128) => Some("IPv6"),
        _ => None,
    })
}

/// The family of an address or of a range.
fn of_text(text: &Value) -> Option<&'static str> {
    let text = text.as_str()?;
    let address = text.split_once('/').map_or(text, |(address, _)| address);
    match address.parse().ok()? {
        IpAddr::V4(_) => Some("IPv4"),
        IpAddr::V6(_) => Some("IPv6"),
    }
}

/// The prefix that a source is made from, if it is made.
fn template(source: &mut Value) -> Option<&mut Map<String, Value>> {
    source
        .pointer_mut("/ephemeral/prefixTemplate/spec")?
        .as_object_mut()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(mut spec: Value, expected: &Value) {
        let before = spec.clone();
        interface(spec.as_object_mut().unwrap_or(&mut Map::new()));
        assert_eq!(&spec, expected, "from {before}");
        interface(spec.as_object_mut().unwrap_or(&mut Map::new()));
        assert_eq!(&spec, expected, "a second time, from {before}");
    }

    fn made(spec: Value) -> Value {
        json!({"ephemeral": {"prefixTemplate": {"spec": spec}}})
    }

    #[test]
    fn families_follow_from_addresses() {
        check(
            json!({"ips": [{"value": "10.0.0.7"}, {"value": "fd00::7"}]}),
            &json!({
                "ips": [{"value": "10.0.0.7"}, {"value": "fd00::7"}],
                "ipFamilies": ["IPv4", "IPv6"],
            }),
        );
        check(json!({}), &json!({}));
        let unreadable = json!({"ips": [{"value": "10.0.0"}]});
        check(unreadable.clone(), &unreadable);
    }

    #[test]
    fn templates_follow_from_families() {
        let parent = json!({"name": "p"});
        check(
            json!({"ipFamilies": ["IPv6"], "ips": [made(json!({"parentRef": parent}))]}),
            &json!({
                "ipFamilies": ["IPv6"],
                "ips": [made(json!({"parentRef": parent, "ipFamily": "IPv6", "prefixLength": 128}))],
            }),
        );
        check(
            json!({"ips": [made(json!({"prefix": "10.0.0.7/32"}))]}),
            &json!({
                "ipFamilies": ["IPv4"],
                "ips": [made(json!({"prefix": "10.0.0.7/32", "ipFamily": "IPv4"}))],
            }),
        );
        // Nothing tells the family, so nothing is made up.
        let silent = json!({"ips": [made(json!({"parentRef": parent}))]});
        check(silent.clone(), &silent);
    }

    #[test]
    fn ranges_have_the_family_of_their_prefix() {
        check(
            json!({"prefixes": [made(json!({"prefix": "10.0.0.0/24"})), {"value": "10.1.0.0/24"}]}),
            &json!({"prefixes": [
                made(json!({"prefix": "10.0.0.0/24", "ipFamily": "IPv4"})), {"value": "10.1.0.0/24"},
            ]}),
        );
    }
}
