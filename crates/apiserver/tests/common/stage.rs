//! A server on its way through scenarios with webhooks: configuring it, calling it, and keeping
//! what came of each call.

use std::time::Duration;

use serde_json::{Value, json};

use super::both::{Peer, masked};
use super::hooks::Hooks;

const CONFIGS: &str = "/apis/admissionregistration.k8s.io/v1";

/// One server on its way through the scenarios.
pub struct Stage<'a> {
    pub peer: Peer,
    pub hooks: &'a Hooks,
    pub transcript: Vec<(String, Value)>,
    marker: usize,
    configured: Vec<String>,
}

impl<'a> Stage<'a> {
    pub fn new(peer: Peer, hooks: &'a Hooks) -> Self {
        Self {
            peer,
            hooks,
            transcript: Vec::new(),
            marker: 0,
            configured: Vec::new(),
        }
    }

    /// Calls and keeps the answer, with the reviews that it caused.
    pub async fn call(&mut self, line: &str, body: Value) {
        let given = (!body.is_null()).then_some(&body);
        let answer = self.peer.call(line, given).await;
        let mut seen = answer.masked();
        let reviews = self.hooks.take_reviews();
        seen["reviews"] = reviews
            .iter()
            .map(|(path, review)| json!([path, masked(review)]))
            .collect();
        let line = format!("{}. {line}", self.transcript.len());
        self.transcript.push((line, seen));
    }

    /// Calls without a body.
    pub async fn get(&mut self, line: &str) {
        self.call(line, Value::Null).await;
    }

    /// Replaces the configurations by these, each `(kind, name, webhooks)`.
    pub async fn configure(&mut self, configurations: &[(&str, &str, Vec<Value>)]) {
        for path in std::mem::take(&mut self.configured) {
            self.peer.ok(&format!("DELETE {path}"), None).await;
        }
        for (kind, name, webhooks) in configurations {
            let plural = format!("{}webhookconfigurations", kind.to_lowercase());
            let body = json!({
                "apiVersion": "admissionregistration.k8s.io/v1",
                "kind": format!("{kind}WebhookConfiguration"),
                "metadata": {"name": name},
                "webhooks": webhooks,
            });
            let line = format!("POST {CONFIGS}/{plural}");
            self.peer.ok(&line, Some(&body)).await;
            self.configured.push(format!("{CONFIGS}/{plural}/{name}"));
        }
        self.settle().await;
    }

    /// Waits until the server knows all configurations: it then knows the last one, which denies
    /// config maps with a label that only this round has.
    async fn settle(&mut self) {
        self.marker += 1;
        for kind in ["Validating", "Mutating"] {
            let label = json!({"matchLabels": {kind: self.marker.to_string()}});
            let mut webhook = self.hook("marker.example.io", "/marker");
            webhook["objectSelector"] = label;
            webhook["rules"] = rules(&["CREATE"], "", "configmaps");
            let plural = format!("{}webhookconfigurations", kind.to_lowercase());
            let body = json!({
                "apiVersion": "admissionregistration.k8s.io/v1",
                "kind": format!("{kind}WebhookConfiguration"),
                "metadata": {"name": "zz-marker"},
                "webhooks": [webhook],
            });
            let path = format!("{CONFIGS}/{plural}/zz-marker");
            let line = format!("PATCH+apply {path}?fieldManager=test&force=true");
            self.peer.ok(&line, Some(&body)).await;
            let object = json!({
                "apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {"name": "marker", "labels": {kind: self.marker.to_string()}},
            });
            let line = "POST /api/v1/namespaces/default/configmaps?dryRun=All";
            let known = async {
                while self.peer.call(line, Some(&object)).await.code < 400 {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            };
            tokio::time::timeout(super::PATIENCE, known)
                .await
                .expect("the configurations become known");
        }
        self.hooks.take_reviews();
    }

    /// A webhook for every write of widgets.
    pub fn hook(&self, name: &str, path: &str) -> Value {
        json!({
            "name": name,
            "clientConfig": self.hooks.client_config(path),
            "rules": rules(&["*"], "example.io", "widgets"),
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
        })
    }
}

pub fn rules(operations: &[&str], group: &str, resource: &str) -> Value {
    json!([{
        "operations": operations, "apiGroups": [group], "apiVersions": ["*"], "resources": [resource],
    }])
}

/// A webhook with more fields, or with other values for them.
pub fn with(mut webhook: Value, more: Value) -> Value {
    for (key, value) in more.as_object().unwrap() {
        webhook[key] = value.clone();
    }
    webhook
}
