//! Names of the tags that a provider puts on every machine: a schema sees only the values of a map.
//!
//! A name that the platform does not take would have every machine of the provider refused, each with
//! a fault that is not its own.

use serde_json::Value;

use crate::admission::Fault;

/// What the names of Machinist's own tags begin with.
const OWN: &str = "machinist.vitistack.io/";
/// EC2 has names of its own, and keeps them to itself.
const OF_EC2: &str = "aws:";
const LONGEST: usize = 127;

/// Every tag that no machine could carry.
pub(super) fn faults(spec: &Value) -> Vec<Fault> {
    let platform = spec["type"].as_str().or(spec["providerType"].as_str());
    let on_ec2 = platform == Some("aws");
    let names = spec["defaultTags"].as_object().into_iter().flatten();
    let bad = |name: &str| {
        let reserved = on_ec2 && name.to_ascii_lowercase().starts_with(OF_EC2);
        name.is_empty() || name.chars().count() > LONGEST || name.starts_with(OWN) || reserved
    };
    names
        .filter(|(name, _)| bad(name))
        .map(|(name, _)| {
            let or_ec2 = if on_ec2 { " or aws:" } else { "" };
            let message = format!(
                "is no name of a tag: it has 1 to {LONGEST} characters and does not begin with {OWN}{or_ec2}"
            );
            Fault::new("spec.defaultTags", name.as_str(), message)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_tag_that_no_machine_could_carry_is_named() {
        let said = |platform: &str, name: &str| {
            let found = faults(&json!({"type": platform, "defaultTags": {name: "x"}}));
            found.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert!(said("aws", "team").is_empty());
        assert!(said("sim", "aws:team").is_empty());
        let long = "n".repeat(128);
        for (platform, name) in [
            ("sim", ""),
            ("sim", long.as_str()),
            ("sim", "machinist.vitistack.io/key"),
            ("aws", "AWS:team"),
        ] {
            let said = said(platform, name);
            assert_eq!(said.len(), 1, "{platform} {name}");
            let begins = format!("spec.defaultTags: Invalid value: {name:?}: is no name of a tag");
            assert!(said[0].starts_with(&begins), "{said:?}");
        }
    }
}
