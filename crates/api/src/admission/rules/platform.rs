//! What a provider of shape C says of its platform: settings beside the known ones in spec.config,
//! which the server keeps without looking at them.
//!
//! What the other shapes say is seen by CEL, in the rules of the kind.

use serde_json::Value;

use crate::{admission::Fault, certificates::read_bundle, names};

/// The settings that a schema knows; all others are strings.
const KNOWN: &[&str] = &[
    "endpoint",
    "version",
    "timeout",
    "retryPolicy",
    "rateLimiting",
    "customSettings",
    "proxmox",
    "kubevirt",
];

/// How much of a bundle that is refused is shown.
const SHOWN: usize = 40;

/// One setting that a platform cannot do without.
struct Needed {
    platform: &'static str,
    /// Names of the setting; one of them is enough, and the first is what messages name.
    names: &'static [&'static str],
    is_good: fn(&str) -> bool,
    allowed: &'static str,
}

const NEEDED: &[Needed] = &[
    Needed {
        platform: "azure",
        names: &["resourceGroup"],
        is_good: is_resource_group,
        allowed: "the name of a resource group, such as rg-production",
    },
    Needed {
        platform: "azure",
        names: &["subscriptionId"],
        is_good: is_uuid,
        allowed: "the UUID of a subscription",
    },
    Needed {
        platform: "gcp",
        names: &["project"],
        is_good: is_project,
        allowed: "the ID of a project, such as my-gcp-project",
    },
    Needed {
        platform: "vsphere",
        names: &["datacenter"],
        is_good: is_given,
        allowed: "the name of a datacenter",
    },
    Needed {
        platform: "openstack",
        names: &[
            "tenant",
            "tenantName",
            "tenantId",
            "project",
            "projectName",
            "projectId",
        ],
        is_good: is_given,
        allowed: "the tenant that machines are made in",
    },
    Needed {
        platform: "openstack",
        names: &["domain", "domainName", "domainId"],
        is_good: is_given,
        allowed: "the domain that the tenant is in",
    },
];

pub(super) fn faults(spec: &Value) -> Vec<Fault> {
    let config = spec["config"].as_object().into_iter().flatten();
    let mut found: Vec<Fault> = config
        .filter(|(name, value)| !KNOWN.contains(&name.as_str()) && !value.is_string())
        .map(|(name, value)| {
            let message = "must be a string, as every setting of the platform is";
            Fault::new(format!("spec.config.{name}"), value.clone(), message)
        })
        .collect();
    found.extend(endpoint(&spec["endpoint"]));
    found.extend(poll_interval(spec));
    let platform = match spec["providerType"].as_str() {
        // The other name of the same.
        Some("vmware") => "vsphere",
        Some(platform) => platform,
        None => return found,
    };
    let needed = NEEDED.iter().filter(|needed| needed.platform == platform);
    found.extend(needed.filter_map(|needed| missing(spec, needed)));
    let clusters = spec["zones"]
        .as_array()
        .is_some_and(|zones| !zones.is_empty());
    if platform == "vsphere" && !clusters && setting(spec, "cluster").is_none() {
        found.push(Fault::new(
            "spec.config.cluster",
            Value::Null,
            "a vsphere provider needs the names of its clusters, here or in spec.zones",
        ));
    }
    if let Some((field, zone)) = setting(spec, "zone")
        && platform == "gcp"
        && !is_zone(zone)
    {
        found.push(Fault::new(
            field,
            zone,
            "must be a zone, such as us-central1-a",
        ));
    }
    found
}

/// Whom an endpoint is believed by: an authority that is none, or one that is named and not asked.
fn endpoint(endpoint: &Value) -> Option<Fault> {
    let bundle = endpoint["caBundle"].as_str()?;
    let skips = ["insecureSkipTLSVerify", "insecureSkipVerify"];
    if let Some(skip) = skips.iter().find(|skip| endpoint[**skip] == true) {
        let message = "names the authority that the endpoint's certificate is checked against, and it is not checked at all: keep one of the two";
        return Some(Fault::new(
            format!("spec.endpoint.{skip}"),
            true,
            format!("spec.endpoint.caBundle {message}"),
        ));
    }
    let error = read_bundle(bundle).err()?;
    let shown: String = bundle.trim().chars().take(SHOWN).collect();
    Some(Fault::new(
        "spec.endpoint.caBundle",
        shown,
        error.to_string(),
    ))
}

/// How often a platform is asked for its machines, where changes are not told by itself.
fn poll_interval(spec: &Value) -> Option<Fault> {
    let (field, text) = setting(spec, names::POLL_INTERVAL)?;
    let seconds = match (text.strip_suffix('s'), text.strip_suffix('m')) {
        (Some(seconds), _) => seconds.parse::<u32>().ok(),
        (None, Some(minutes)) => minutes.parse::<u32>().ok().and_then(|m| m.checked_mul(60)),
        (None, None) => None,
    };
    let is_good = seconds.is_some_and(|seconds| (1..=3600).contains(&seconds));
    let message = "must be whole seconds or minutes between 1s and 60m, such as 30s";
    (!is_good).then(|| Fault::new(field, text, message))
}

/// A setting that is not empty, with its path; it may also stand where shape A has it.
fn setting<'a>(spec: &'a Value, name: &str) -> Option<(String, &'a str)> {
    let config = &spec["config"];
    let beside = (format!("spec.config.{name}"), &config[name]);
    let custom = (
        format!("spec.config.customSettings.{name}"),
        &config["customSettings"][name],
    );
    [beside, custom]
        .into_iter()
        .filter_map(|(field, value)| Some((field, value.as_str()?)))
        .find(|(_, value)| !value.is_empty())
}

fn missing(spec: &Value, needed: &Needed) -> Option<Fault> {
    let Needed {
        platform,
        names,
        is_good,
        allowed,
    } = needed;
    let given = names.iter().find_map(|name| setting(spec, name));
    match given {
        Some((_, value)) if is_good(value) => None,
        Some((field, value)) => Some(Fault::new(field, value, format!("must be {allowed}"))),
        None => Some(Fault::new(
            format!("spec.config.{}", names.first().unwrap_or(&"")),
            Value::Null,
            format!("a provider of type {platform} needs {allowed}"),
        )),
    }
}

fn is_given(value: &str) -> bool {
    !value.is_empty()
}

fn is_resource_group(value: &str) -> bool {
    let all = value
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || "-_.()".contains(c));
    (1..=90).contains(&value.len()) && all && !value.ends_with('.')
}

fn is_uuid(value: &str) -> bool {
    let lengths = value.split('-').map(str::len);
    lengths.eq([8, 4, 4, 4, 12]) && value.chars().all(|c| c == '-' || c.is_ascii_hexdigit())
}

fn is_project(value: &str) -> bool {
    let lower = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let (domain, name) = value.rsplit_once(':').unwrap_or(("x", value));
    !domain.is_empty()
        && domain.chars().all(|c| lower(c) || "-.".contains(c))
        && (6..=30).contains(&name.len())
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.ends_with(lower)
        && name.chars().all(|c| lower(c) || c == '-')
}

fn is_zone(value: &str) -> bool {
    let mut parts = value.split('-');
    let (Some(area), Some(region), Some(zone), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    let lower = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_lowercase());
    let name = region.trim_end_matches(|c: char| c.is_ascii_digit());
    lower(area) && lower(name) && name.len() < region.len() && zone.len() == 1 && lower(zone)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fields(platform: &str, config: Value) -> Vec<String> {
        let found = faults(&json!({"providerType": platform, "config": config}));
        found.into_iter().map(|fault| fault.field).collect()
    }

    #[test]
    fn settings_are_strings() {
        let config = json!({"a": 1, "b": "x", "timeout": 3, "customSettings": {}, "c": null});
        assert_eq!(
            fields("kubevirt", config),
            ["spec.config.a", "spec.config.c"]
        );
    }

    #[test]
    fn an_endpoint_names_an_authority_that_can_be_read_and_is_asked() {
        let good = include_str!("../../../tests/support/authority.pem");
        let check = |endpoint: Value| -> Vec<String> {
            let found = faults(&json!({"endpoint": endpoint}));
            found.iter().map(ToString::to_string).collect()
        };
        assert!(check(json!({"caBundle": good, "insecureSkipVerify": false})).is_empty());
        assert!(check(json!({"insecureSkipTLSVerify": true})).is_empty());
        let both = check(json!({"caBundle": good, "insecureSkipTLSVerify": true}));
        assert_eq!(both.len(), 1, "{both:?}");
        assert!(both[0].starts_with("spec.endpoint.insecureSkipTLSVerify: "));
        assert!(both[0].contains("spec.endpoint.caBundle"), "{both:?}");
        let bad = check(json!({"caBundle": "my authority"}));
        assert_eq!(bad.len(), 1, "{bad:?}");
        let said = "spec.endpoint.caBundle: Invalid value: \"my authority\": holds no certificate";
        assert!(bad[0].starts_with(said), "{bad:?}");
    }

    #[test]
    fn each_platform_needs_its_settings() {
        let uuid = "00000000-0000-0000-0000-00000000000a";
        for (platform, config, expected) in [
            (
                "azure",
                json!({"resourceGroup": "rg", "subscriptionId": uuid}),
                vec![],
            ),
            (
                "azure",
                json!({"customSettings": {"resourceGroup": "rg", "subscriptionId": uuid}}),
                vec![],
            ),
            (
                "azure",
                json!({"resourceGroup": "rg."}),
                vec!["resourceGroup", "subscriptionId"],
            ),
            (
                "azure",
                json!({"resourceGroup": "rg", "subscriptionId": "7"}),
                vec!["subscriptionId"],
            ),
            (
                "gcp",
                json!({"project": "my-gcp-project", "zone": "us-central1-a"}),
                vec![],
            ),
            (
                "gcp",
                json!({"project": "example.com:my-gcp-project"}),
                vec![],
            ),
            (
                "gcp",
                json!({"project": "My", "zone": "us-central"}),
                vec!["project", "zone"],
            ),
            (
                "vsphere",
                json!({"datacenter": "DC", "cluster": "a"}),
                vec![],
            ),
            ("vsphere", json!({}), vec!["datacenter", "cluster"]),
            (
                "openstack",
                json!({"projectName": "p", "domainId": "d"}),
                vec![],
            ),
            ("openstack", json!({"tenant": ""}), vec!["tenant", "domain"]),
            ("proxmox", json!({}), vec![]),
        ] {
            let expected: Vec<String> = expected
                .into_iter()
                .map(|name| format!("spec.config.{name}"))
                .collect();
            assert_eq!(
                fields(platform, config.clone()),
                expected,
                "{platform} {config}"
            );
        }
        let zones =
            json!({"providerType": "vsphere", "zones": ["a"], "config": {"datacenter": "d"}});
        assert_eq!(faults(&zones), []);
    }
}
