//! The rules of a ClusterRole that is made of others.

use serde_json::Value;

use crate::meta;
use crate::selector::LabelSelector;

/// The rules that a ClusterRole gathers from all others, in the order of their names; nothing when
/// it gathers none.
pub(crate) fn aggregated_rules(role: &Value, all: &[&Value]) -> Option<Vec<Value>> {
    let selectors = role
        .pointer("/aggregationRule/clusterRoleSelectors")?
        .as_array()?;
    let mut sorted: Vec<&Value> = all.to_vec();
    sorted.sort_by_key(|other| meta::name(other));
    let mut rules: Vec<Value> = Vec::new();
    for selector in selectors {
        let selector = LabelSelector::of_object(selector);
        for other in &sorted {
            let chosen = meta::name(other) != meta::name(role)
                && selector.matches(other.pointer("/metadata/labels"));
            if !chosen {
                continue;
            }
            for rule in other["rules"].as_array().into_iter().flatten() {
                if !rules.contains(rule) {
                    rules.push(rule.clone());
                }
            }
        }
    }
    Some(rules)
}
