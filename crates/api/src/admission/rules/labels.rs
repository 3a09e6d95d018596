//! Keys of labels, wherever a spec has labels: a schema sees only the values of a map, and a rule
//! over keys of unknown length costs more than a server allows.

use serde_json::Value;

use crate::admission::Fault;

/// The fields that hold labels, or labels that something must have.
const HOLDERS: &[&str] = &[
    "labels",
    "matchLabels",
    "machinePoolSelector",
    "volumePoolSelector",
];

const MESSAGE: &str = "is no key of a label: a name of at most 63 letters, digits, dashes, \
                       underscores and dots, after a DNS name and a slash if there is a prefix";

/// Every key that cannot be the key of a label.
pub(super) fn faults(spec: &Value) -> Vec<Fault> {
    let mut found = Vec::new();
    walk("spec", spec, &mut found);
    found
}

fn walk(path: &str, value: &Value, found: &mut Vec<Fault>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let path = format!("{path}.{name}");
                if HOLDERS.contains(&name.as_str()) {
                    let keys = value
                        .as_object()
                        .into_iter()
                        .flat_map(|labels| labels.keys());
                    let bad = keys.filter(|key| !is_key(key));
                    found.extend(bad.map(|key| Fault::new(&path, key.as_str(), MESSAGE)));
                } else {
                    walk(&path, value, found);
                }
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                walk(&format!("{path}[{at}]"), item, found);
            }
        }
        _ => {}
    }
}

/// Whether a text can be the key of a label.
fn is_key(key: &str) -> bool {
    let (prefix, name) = match key.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, key),
    };
    let ends = |text: &str, good: fn(char) -> bool| text.starts_with(good) && text.ends_with(good);
    let label = |part: &str| {
        let good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        ends(part, good) && part.chars().all(|c| good(c) || c == '-')
    };
    let name_is_good = name.len() <= 63
        && ends(name, |c| c.is_ascii_alphanumeric())
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    name_is_good && prefix.is_none_or(|prefix| prefix.len() <= 253 && prefix.split('.').all(label))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keys_are_told_apart() {
        for good in ["a", "app.kubernetes.io/name", "A_b.c-d", "x/y", "1"] {
            assert!(is_key(good), "{good}");
        }
        let long = "a".repeat(64);
        for bad in [
            "", "/a", "a/", "a/b/c", "-a", "a-", "A/b", "a..b/c", "a b", &long,
        ] {
            assert!(!is_key(bad), "{bad}");
        }
    }

    #[test]
    fn every_place_is_looked_at() {
        let spec = json!({
            "machinePoolSelector": {"a b": "c", "ok": "c"},
            "volumes": [{"ephemeral": {"volumeTemplate": {"metadata": {"labels": {"": "x"}}}}}],
        });
        let fields: Vec<String> = faults(&spec).into_iter().map(|fault| fault.field).collect();
        assert_eq!(
            fields,
            [
                "spec.machinePoolSelector",
                "spec.volumes[0].ephemeral.volumeTemplate.metadata.labels"
            ]
        );
    }
}
