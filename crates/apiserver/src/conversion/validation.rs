//! What is wrong with how a definition wants its versions converted and stored, in the words of
//! Kubernetes.

use serde_json::Value;

use crate::admission;
use crate::meta::strings;
use crate::status::Cause;

/// Judges `spec.conversion` of a definition.
pub(crate) fn validate(conversion: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    validate_conversion(conversion, &mut causes);
    causes
}

fn validate_conversion(conversion: &Value, causes: &mut Vec<Cause>) {
    const PATH: &str = "spec.conversion";
    let strategies = ["None", "Webhook"];
    // Without a strategy there is none, as the default says.
    let strategy = match conversion["strategy"].as_str() {
        None | Some("") => "None",
        Some(strategy) => strategy,
    };
    if !strategies.contains(&strategy) {
        let field = format!("{PATH}.strategy");
        causes.push(Cause::unsupported(
            &field,
            &format!("{strategy:?}"),
            &strategies,
        ));
    }
    // Messages name the fields as they were called before v1.
    let (client, versions) = (
        format!("{PATH}.webhookClientConfig"),
        format!("{PATH}.conversionReviewVersions"),
    );
    let webhook = &conversion["webhook"];
    let config = &webhook["clientConfig"];
    if strategy == "Webhook" {
        if config.is_object() {
            admission::validate_client(config, &client, causes);
        } else {
            let why = "required when strategy is set to Webhook";
            causes.push(Cause::required(&client, why));
        }
        let given = strings(webhook.get("conversionReviewVersions"));
        if given.is_empty() {
            causes.push(Cause::required(&versions, ""));
        } else {
            admission::validate_versions(&given, &versions, causes);
        }
    } else {
        let why = "should not be set when strategy is not set to Webhook";
        if config.is_object() {
            causes.push(Cause::forbidden(&client, why));
        }
        if !strings(webhook.get("conversionReviewVersions")).is_empty() {
            causes.push(Cause::forbidden(&versions, why));
        }
    }
}

/// Judges `status.storedVersions`: what lies in the store must stay readable.
pub(crate) fn validate_stored(definition: &Value) -> Vec<Cause> {
    let stored = strings(definition.pointer("/status/storedVersions"));
    let versions = definition["spec"]["versions"].as_array();
    let versions = versions.map(Vec::as_slice).unwrap_or_default();
    let mut causes = Vec::new();
    for (at, version) in stored.iter().enumerate() {
        if !versions.iter().any(|v| v["name"] == *version) {
            let why = format!(
                "missing from spec.versions; {version} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in {version} and removes {version} from status.storedVersions"
            );
            let field = format!("status.storedVersions[{at}]");
            causes.push(Cause::invalid(&field, &format!("{version:?}"), &why));
        }
    }
    causes
}
