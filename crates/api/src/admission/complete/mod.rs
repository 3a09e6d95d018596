//! Defaults that follow from other fields, which a schema cannot say: families of addresses, lengths
//! of prefixes, directions of policies, names of devices.
//!
//! What a value follows from stays as it was written; what was written is never changed.

mod addresses;
mod devices;

use serde_json::{Map, Value, json};

/// Path at which the defaults are served as a webhook.
pub const COMPLETE_PATH: &str = "/mutate";

/// The kinds that have such defaults: group and plural.
pub const COMPLETED: &[(&str, &[&str])] = &[
    ("compute.ironcore.dev", &["machines"]),
    (
        "networking.ironcore.dev",
        &["networkinterfaces", "loadbalancers", "networkpolicies"],
    ),
    ("ipam.ironcore.dev", &["prefixes", "prefixallocations"]),
];

/// Fills in what follows from the rest of an object; `old` is what it was before, if it was.
pub fn complete(object: &mut Value, old: Option<&Value>) {
    let word = |field: &str| object[field].as_str().unwrap_or_default().to_owned();
    let (version, kind) = (word("apiVersion"), word("kind"));
    let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) else {
        return;
    };
    match (version.as_str(), kind.as_str()) {
        ("compute.ironcore.dev/v1alpha1", "Machine") => {
            devices::name(spec, old.and_then(|old| old["spec"].as_object()));
            for interface in list(spec, "networkInterfaces") {
                let template = interface.pointer_mut("/ephemeral/networkInterfaceTemplate/spec");
                if let Some(template) = template.and_then(Value::as_object_mut) {
                    addresses::interface(template);
                }
            }
        }
        ("networking.ironcore.dev/v1alpha1", "NetworkInterface") => addresses::interface(spec),
        ("networking.ironcore.dev/v1alpha1", "LoadBalancer") => addresses::families(spec),
        ("networking.ironcore.dev/v1alpha1", "NetworkPolicy") => policy_types(spec),
        ("ipam.ironcore.dev/v1alpha1", "Prefix" | "PrefixAllocation") => {
            addresses::prefix_family(spec);
        }
        _ => {}
    }
}

/// A policy is about the ways that it has rules for.
fn policy_types(spec: &mut Map<String, Value>) {
    let given = |spec: &Map<String, Value>, field: &str| {
        let items = spec.get(field).and_then(Value::as_array);
        items.is_some_and(|items| !items.is_empty())
    };
    if given(spec, "policyTypes") {
        return;
    }
    let ways = [("ingress", "Ingress"), ("egress", "Egress")];
    let types: Vec<&str> = ways
        .into_iter()
        .filter_map(|(field, way)| given(spec, field).then_some(way))
        .collect();
    if !types.is_empty() {
        spec.insert("policyTypes".to_owned(), json!(types));
    }
}

/// The items of a list that may be missing.
fn list<'a>(
    spec: &'a mut Map<String, Value>,
    field: &str,
) -> impl Iterator<Item = &'a mut Value> + use<'a> {
    let items = spec.get_mut(field).and_then(Value::as_array_mut);
    items.into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_object_of_ours_stays_as_it_is() {
        for object in [
            json!(null),
            json!({}),
            json!({"apiVersion": "compute.ironcore.dev/v1alpha1", "kind": "Machine", "spec": 7}),
            json!({"apiVersion": "v1", "kind": "Machine", "spec": {"volumes": [{"name": "a"}]}}),
            json!({
                "apiVersion": "compute.ironcore.dev/v1alpha1", "kind": "Machine",
                "spec": {"volumes": [7, {"device": 8}], "networkInterfaces": "x"},
            }),
        ] {
            let mut after = object.clone();
            complete(&mut after, Some(&object));
            assert_eq!(after, object);
        }
    }

    #[test]
    fn policies_are_about_what_they_have_rules_for() {
        for (spec, expected) in [
            (json!({"ingress": [{}]}), json!(["Ingress"])),
            (
                json!({"ingress": [{}], "egress": [{}]}),
                json!(["Ingress", "Egress"]),
            ),
            (
                json!({"egress": [{}], "policyTypes": ["Ingress"]}),
                json!(["Ingress"]),
            ),
            (json!({"egress": [], "policyTypes": []}), json!([])),
        ] {
            let mut object = json!({
                "apiVersion": "networking.ironcore.dev/v1alpha1", "kind": "NetworkPolicy", "spec": spec,
            });
            complete(&mut object, None);
            assert_eq!(object["spec"]["policyTypes"], expected, "{object}");
        }
    }
}
