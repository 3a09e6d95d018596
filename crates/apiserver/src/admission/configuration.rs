//! Webhooks as their configurations describe them, made ready to be matched and called.

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use super::condition::Conditions;
use super::rules::Rule;
use crate::meta;
use crate::selector::LabelSelector;
use crate::webhook::Target;

/// What becomes of a request when its webhook cannot be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FailurePolicy {
    /// It goes on.
    Ignore,
    /// It fails.
    Fail,
}

/// One webhook of a configuration.
#[derive(Debug)]
pub(super) struct Webhook {
    pub(super) name: String,
    pub(super) configuration: String,
    /// What tells it from every other webhook.
    pub(super) id: String,
    pub(super) target: Result<Target, String>,
    pub(super) rules: Vec<Rule>,
    pub(super) failure: FailurePolicy,
    /// Whether other versions of a resource that the rules name are meant too.
    pub(super) equivalent: bool,
    pub(super) namespaces: LabelSelector,
    pub(super) objects: LabelSelector,
    pub(super) conditions: Conditions,
    pub(super) timeout: Duration,
    /// Whether it may be asked about requests that store nothing.
    pub(super) dry_run: bool,
    pub(super) reinvoke: bool,
    pub(super) review_versions: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Wire {
    name: String,
    client_config: Value,
    rules: Vec<Rule>,
    failure_policy: String,
    match_policy: String,
    namespace_selector: Value,
    object_selector: Value,
    side_effects: String,
    timeout_seconds: u64,
    admission_review_versions: Vec<String>,
    reinvocation_policy: String,
    match_conditions: Value,
}

impl Default for Wire {
    fn default() -> Self {
        Self {
            name: String::new(),
            client_config: Value::Null,
            rules: Vec::new(),
            failure_policy: "Fail".into(),
            match_policy: "Equivalent".into(),
            namespace_selector: Value::Null,
            object_selector: Value::Null,
            side_effects: String::new(),
            timeout_seconds: 10,
            admission_review_versions: Vec::new(),
            reinvocation_policy: "Never".into(),
            match_conditions: Value::Null,
        }
    }
}

impl Webhook {
    /// The webhooks of a configuration object, in their order.
    pub(super) fn read_all(object: &Value) -> Vec<Arc<Self>> {
        let configuration = meta::name(object);
        let hooks = object["webhooks"].as_array().into_iter().flatten();
        hooks
            .enumerate()
            .filter_map(|(at, hook)| match Wire::deserialize(hook) {
                Ok(wire) => Some(Arc::new(Self::read(wire, configuration, at))),
                Err(error) => {
                    // Admission refuses such a configuration before it is stored.
                    tracing::error!(configuration, %error, "a stored webhook cannot be read");
                    None
                }
            })
            .collect()
    }

    fn read(wire: Wire, configuration: &str, at: usize) -> Self {
        Self {
            id: format!("{configuration}/{}/{at}", wire.name),
            configuration: configuration.to_owned(),
            target: Target::parse(&wire.client_config).map_err(|error| error.to_string()),
            rules: wire.rules,
            failure: match wire.failure_policy.as_str() {
                "Ignore" => FailurePolicy::Ignore,
                _ => FailurePolicy::Fail,
            },
            equivalent: wire.match_policy == "Equivalent",
            namespaces: LabelSelector::of_object(&wire.namespace_selector),
            objects: LabelSelector::of_object(&wire.object_selector),
            conditions: Conditions::read(&wire.match_conditions),
            timeout: Duration::from_secs(wire.timeout_seconds.clamp(1, 30)),
            dry_run: matches!(wire.side_effects.as_str(), "None" | "NoneOnDryRun"),
            reinvoke: wire.reinvocation_policy == "IfNeeded",
            review_versions: wire.admission_review_versions,
            name: wire.name,
        }
    }
}
