//! Warnings about secrets that stand in clear text in a spec, and about certificates that nobody checks.
//!
//! Such manifests are documented or shipped, so they are accepted; whoever writes them is told.

use serde_json::Value;

/// Where a secret may stand in clear text: kind, pointer, and what to use in its place.
const SECRETS: &[(&str, &str, &str)] = &[
    (
        "ProxmoxConfig",
        "/spec/token",
        "keep it in a Secret and name that in spec.credentialsSecretRef",
    ),
    (
        "KubernetesCluster",
        "/spec/talosConfig/machine/token",
        "leave it out, so that one is made and kept in a Secret",
    ),
    (
        "KubernetesCluster",
        "/spec/talosConfig/machine/ca/key",
        "leave it out, so that one is made and kept in a Secret",
    ),
];

/// Parameters of an authentication whose name says that they are secret.
const SECRET_WORDS: &[&str] = &["password", "passwd", "secret", "token", "apikey"];

pub(super) fn warnings(kind: &str, spec: &Value) -> Vec<String> {
    let mut found: Vec<String> = SECRETS
        .iter()
        .filter(|(of, pointer, _)| *of == kind && at(spec, pointer).is_some())
        .map(|(_, pointer, instead)| {
            let field = pointer.trim_start_matches('/').replace('/', ".");
            format!("{field} is a secret in clear text, which everybody reads who reads the object: {instead}")
        })
        .collect();
    if kind == "MachineProvider" {
        let parameters = spec["authentication"]["parameters"].as_object();
        let names = parameters.into_iter().flat_map(|all| all.keys());
        found.extend(names.filter(|name| is_secret(name)).map(|name| {
            format!(
                "spec.authentication.parameters.{name} looks like a secret in clear text: \
                 keep it in a Secret and name that in spec.authentication.credentialsRef"
            )
        }));
        for field in ["insecureSkipTLSVerify", "insecureSkipVerify"] {
            if spec["endpoint"][field] == true {
                found.push(format!(
                    "spec.endpoint.{field} is true: nobody checks whom the provider's credentials \
                     are sent to; name its authority in spec.endpoint.caBundle"
                ));
            }
        }
    }
    found
}

fn at<'a>(spec: &'a Value, pointer: &str) -> Option<&'a Value> {
    spec.pointer(pointer.trim_start_matches("/spec"))
}

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace(['-', '_'], "");
    SECRET_WORDS.iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn secrets_are_found_and_not_repeated() {
        let said = warnings("ProxmoxConfig", &json!({"username": "u", "token": "abc"}));
        assert_eq!(said.len(), 1);
        assert!(
            said[0].starts_with("spec.token is a secret in clear text"),
            "{said:?}"
        );
        assert!(!said[0].contains("abc"), "{said:?}");
        assert!(warnings("Machine", &json!({"token": "abc"})).is_empty());
        let parameters = json!({"API_Key": "x", "user": "y"});
        let provider = json!({
            "authentication": {"parameters": parameters},
            "endpoint": {"insecureSkipTLSVerify": true, "insecureSkipVerify": false},
        });
        let said = warnings("MachineProvider", &provider);
        assert_eq!(said.len(), 2, "{said:?}");
        assert!(said[0].contains("API_Key"), "{said:?}");
    }
}
