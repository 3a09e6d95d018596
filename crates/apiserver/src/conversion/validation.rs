//! What is wrong with how a definition wants its versions converted and stored, in the words of
//! Kubernetes.

use serde_json::Value;

use crate::admission;
use crate::meta::strings;
use crate::status::Cause;

/// Judges `spec.conversion` and `status.storedVersions` of a definition.
pub(crate) fn validate(definition: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    validate_conversion(&definition["spec"]["conversion"], &mut causes);
    validate_stored(definition, &mut causes);
    causes
}

fn validate_conversion(conversion: &Value, causes: &mut Vec<Cause>) {
    const PATH: &str = "spec.conversion";
    let strategies = ["None", "Webhook"];
    let strategy = conversion["strategy"].as_str().unwrap_or_default();
    if !strategies.contains(&strategy) {
        let field = format!("{PATH}.strategy");
        causes.push(Cause::not_supported(&field, strategy, &strategies));
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

fn validate_stored(definition: &Value, causes: &mut Vec<Cause>) {
    const PATH: &str = "status.storedVersions";
    let stored = strings(definition.pointer("/status/storedVersions"));
    let shown = Value::from(stored.clone()).to_string();
    if stored.is_empty() {
        let why = "must have at least one stored version";
        causes.push(Cause::invalid(PATH, &shown, why));
        return;
    }
    let versions = definition["spec"]["versions"].as_array();
    let versions = versions.map(Vec::as_slice).unwrap_or_default();
    let name = |version: &Value| version["name"].as_str().unwrap_or_default().to_owned();
    for version in versions.iter().filter(|v| v["storage"] == true) {
        if !stored.contains(&name(version).as_str()) {
            let why = format!("must have the storage version {}", name(version));
            causes.push(Cause::invalid(PATH, &shown, &why));
        }
    }
    for (at, version) in stored.iter().enumerate() {
        if !versions.iter().any(|v| name(v) == *version) {
            let why = format!(
                "missing from spec.versions; {version} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in {version} and removes {version} from status.storedVersions"
            );
            causes.push(Cause::invalid(
                &format!("{PATH}[{at}]"),
                &format!("{version:?}"),
                &why,
            ));
        }
    }
}
