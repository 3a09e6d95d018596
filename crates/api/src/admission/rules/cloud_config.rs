//! First-boot data that says it is cloud-config must be YAML: otherwise the guest starts and
//! ignores all of it, and nobody learns why.
//!
//! Scripts, templates and multi-part archives are the guest's own affair.

use serde_json::Value;

use crate::admission::Fault;

/// The first line of cloud-config, as cloud-init looks for it.
const HEADER: &str = "#cloud-config";
/// The most of a text that a message quotes.
const QUOTED: usize = 60;

pub(super) fn faults(spec: &Value) -> Vec<Fault> {
    let init = &spec["cloudInit"];
    let user_data = [
        ("spec.userData", &spec["userData"]),
        ("spec.cloudInit.userData", &init["userData"]),
    ];
    let user_data = user_data
        .into_iter()
        .filter_map(|(field, value)| Some((field, value.as_str()?)))
        .filter(|(_, text)| text.lines().next().map(str::trim_end) == Some(HEADER));
    let network = init["networkData"].as_str();
    user_data
        .chain(network.map(|text| ("spec.cloudInit.networkData", text)))
        .filter_map(|(field, text)| fault(field, text))
        .collect()
}

fn fault(field: &str, text: &str) -> Option<Fault> {
    let wrong = match serde_saphyr::from_str::<Value>(text) {
        Ok(Value::Object(_) | Value::Null) => return None,
        Ok(_) => "is YAML, but no map of settings".to_owned(),
        // Only its first line: what follows draws the place with arrows.
        Err(error) => {
            let error = error.to_string();
            format!("is not YAML: {}", error.lines().next().unwrap_or_default())
        }
    };
    let first = text
        .lines()
        .find(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let value: String = first.unwrap_or_default().chars().take(QUOTED).collect();
    let message = format!("{wrong}; the guest would ignore all of it");
    Some(Fault::new(field, value, message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn said(spec: Value) -> Vec<(String, String)> {
        let found = faults(&spec).into_iter();
        found.map(|fault| (fault.field, fault.message)).collect()
    }

    #[test]
    fn what_a_guest_can_read_is_accepted() {
        for text in [
            "#!/bin/bash\nif [ x: then",
            "#cloud-config\npackages: [nginx]\nruncmd:\n- echo 'a: b'\n",
            "#cloud-config\n",
            "#cloud-config   \n# nothing else\n",
            "## template: jinja\n#cloud-config\nx: {% if a %}\n",
            "Content-Type: multipart/mixed\n\n",
            "",
        ] {
            assert_eq!(said(json!({"userData": text})), [], "{text:?}");
            assert_eq!(
                said(json!({"cloudInit": {"userData": text}})),
                [],
                "{text:?}"
            );
        }
        assert_eq!(
            said(json!({"cloudInit": {"networkData": "version: 2\n"}})),
            []
        );
        assert_eq!(said(json!({"cloudInit": 7, "userData": [1]})), []);
    }

    #[test]
    fn what_it_would_ignore_is_refused_with_the_field() {
        let broken = "#cloud-config\npackages: [nginx\nruncmd: x\n";
        let found = said(json!({"userData": broken, "cloudInit": {"networkData": "- a\n"}}));
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(found[0].0, "spec.userData");
        assert!(found[0].1.starts_with("is not YAML: "), "{found:?}");
        assert_eq!(
            found[1],
            (
                "spec.cloudInit.networkData".to_owned(),
                "is YAML, but no map of settings; the guest would ignore all of it".to_owned()
            )
        );
    }
}
