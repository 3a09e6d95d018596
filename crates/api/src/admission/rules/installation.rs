//! Rules about what CEL does not see: the type of a field that has none, and the namespace of an object.

use serde_json::Value;

use crate::admission::Fault;

/// The infrastructure of an installation is an object or a word. Kubernetes has no type for that,
/// so the schema lets anything pass.
pub(super) fn faults(spec: &Value) -> Vec<Fault> {
    let field = "spec.infrastructure";
    let fault = match &spec["infrastructure"] {
        Value::Null | Value::Object(_) => None,
        Value::String(word) if !word.is_empty() && word.len() <= 253 => None,
        other => Some(Fault::new(
            field,
            other.clone(),
            "must be an object with providers, or a word of 1 to 253 characters, such as prod",
        )),
    };
    fault.into_iter().collect()
}

/// A network is not joined with itself, by whichever way it names its namespace.
pub(super) fn peerings(object: &Value) -> Vec<Fault> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let metadata = &object["metadata"];
    let (namespace, name) = (text(&metadata["namespace"]), text(&metadata["name"]));
    let itself = |target: &Value| {
        // Without a namespace the server's own rule finds it.
        target["namespace"].as_str() == Some(namespace.as_str()) && target["name"] == name.as_str()
    };
    let spec = &object["spec"];
    let items = |field: &str| spec[field].as_array().into_iter().flatten().enumerate();
    let asked = items("peerings")
        .filter(|(_, peering)| itself(&peering["networkRef"]))
        .map(|(at, _)| format!("spec.peerings[{at}].networkRef"));
    let claimed = items("incomingPeerings")
        .filter(|(_, claim)| itself(claim))
        .map(|(at, _)| format!("spec.incomingPeerings[{at}]"));
    let named = format!("{namespace}/{name}");
    asked
        .chain(claimed)
        .map(|field| {
            Fault::new(
                field,
                named.clone(),
                "is the network itself; name another one",
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn infrastructure_is_an_object_or_a_word() {
        for good in [json!(null), json!({}), json!("prod")] {
            assert_eq!(faults(&json!({"infrastructure": good})), []);
        }
        for bad in [json!(7), json!([]), json!(""), json!(true)] {
            let found = faults(&json!({"infrastructure": bad}));
            assert_eq!(found.len(), 1, "{bad}");
            assert_eq!(found[0].value, bad);
        }
    }

    #[test]
    fn a_network_is_not_joined_with_itself() {
        let network = |namespace: &str| {
            json!({
                "metadata": {"namespace": "a", "name": "net"},
                "spec": {
                    "peerings": [{"name": "x", "networkRef": {"namespace": namespace, "name": "net"}}],
                    "incomingPeerings": [{"namespace": namespace, "name": "net"}],
                },
            })
        };
        assert_eq!(peerings(&network("b")), []);
        let fields: Vec<String> = peerings(&network("a"))
            .into_iter()
            .map(|fault| fault.field)
            .collect();
        assert_eq!(
            fields,
            ["spec.peerings[0].networkRef", "spec.incomingPeerings[0]"]
        );
    }
}
