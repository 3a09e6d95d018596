//! Configurations of platforms that no driver speaks to yet: checked with their Secrets, told who
//! uses them, and honest about what nobody knows.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failed assumption in a test is a failed test"
)]

mod support;

use std::time::Duration;

use kube::{
    Api, Client,
    api::{ApiResource, DynamicObject, Patch, PatchParams},
};
use serde_json::{Value, json};
use support::{Sandbox, kube as real};

/// Generous: a configuration is looked at each quarter of a minute.
const LIMIT: Duration = Duration::from_secs(120);

fn api(client: &Client, api_version: &str, kind: &str) -> Api<DynamicObject> {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let resource = ApiResource::from_gvk(&kube::api::GroupVersionKind::gvk(group, version, kind));
    Api::default_namespaced_with(client.clone(), &resource)
}

async fn apply(client: &Client, kind: &str, name: &str, rest: Value) {
    let api_version = match kind {
        "Secret" => "v1",
        _ => "vitistack.io/v1alpha1",
    };
    let mut object = json!({
        "apiVersion": api_version, "kind": kind, "metadata": {"name": name},
    });
    object
        .as_object_mut()
        .unwrap()
        .extend(rest.as_object().unwrap().clone());
    let params = PatchParams::apply("test").force();
    let api = api(client, api_version, kind);
    api.patch(name, &params, &Patch::Apply(&object))
        .await
        .unwrap();
}

/// Waits until a condition of a configuration has this status and reason; the status as a whole.
async fn until(client: &Client, kind: &str, condition: [&str; 3]) -> Value {
    let api = api(client, "vitistack.io/v1alpha1", kind);
    let look = async {
        loop {
            let status = api.get("site").await.unwrap().data["status"].clone();
            let conditions = status["conditions"].as_array().cloned();
            let holds = |one: &Value| {
                [&one["type"], &one["status"], &one["reason"]] == condition.map(|word| word)
            };
            if conditions.unwrap_or_default().iter().any(holds) {
                return status;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    match tokio::time::timeout(LIMIT, look).await {
        Ok(status) => status,
        Err(_) => panic!("waited for {condition:?}: {:#?}", api.get("site").await),
    }
}

async fn kubevirt(client: &Client) {
    let kind = "KubevirtConfig";
    let spec = json!({"spec": {
        "name": "site", "kubeconfigSecretRef": "site-access", "secretNamespace": "default",
    }});
    apply(client, kind, "site", spec).await;
    let missing = until(client, kind, ["Validated", "False", "SecretNotFound"]).await;
    assert_eq!(missing["phase"], "Pending");
    let message = missing["message"].as_str().unwrap();
    assert!(message.contains("default/site-access"), "{message}");
    let unused = until(client, kind, ["Referenced", "False", "NotReferenced"]).await;
    assert_eq!(unused["name"], "site");

    let wrong = json!({"stringData": {"config": "hidden"}});
    apply(client, "Secret", "site-access", wrong).await;
    let unusable = until(client, kind, ["Validated", "False", "SecretUnusable"]).await;
    assert_eq!(unusable["phase"], "Failed");
    let message = unusable["message"].as_str().unwrap();
    assert!(message.contains("no key kubeconfig"), "{message}");
    assert!(!unusable.to_string().contains("hidden"), "{unusable}");

    let good = "clusters: [{name: a, cluster: {server: https://a.example}}]";
    let good = json!({"stringData": {"kubeconfig": good}});
    apply(client, "Secret", "site-access", good).await;
    until(client, kind, ["Validated", "True", "SecretUsable"]).await;
    let provider = json!({"spec": {
        "type": "kubevirt", "region": "here",
        "authentication": {"type": "credentials", "credentialsRef": {"name": "site-access"}},
    }});
    apply(client, "MachineProvider", "virt", provider).await;
    let used = until(client, kind, ["Referenced", "True", "Referenced"]).await;
    assert!(used.to_string().contains("virt"), "{used}");
    // Nobody has connected, and nothing says so.
    until(client, kind, ["Ready", "Unknown", "NoDriver"]).await;
    assert_eq!(used["appliedVersion"], Value::Null);
}

async fn proxmox(client: &Client) {
    let kind = "ProxmoxConfig";
    let spec = json!({"spec": {
        "cluster": {"endpoint": "https://pve.example:8006", "nodes": ["a"]},
        "credentialsSecretRef": {"name": "pve"},
    }});
    apply(client, kind, "site", spec).await;
    let missing = until(client, kind, ["Validated", "False", "SecretNotFound"]).await;
    assert_eq!(missing["ready"], false);
    let half = json!({"stringData": {"username": "root@pam"}});
    apply(client, "Secret", "pve", half).await;
    until(client, kind, ["Validated", "False", "SecretUnusable"]).await;
    let whole = json!({"stringData": {"username": "root@pam", "password": "hidden"}});
    apply(client, "Secret", "pve", whole).await;
    let usable = until(client, kind, ["Validated", "True", "SecretUsable"]).await;
    assert_eq!(usable["ready"], false, "nobody has connected");
    assert!(!usable.to_string().contains("hidden"), "{usable}");
}

#[test]
fn configurations_of_platforms_are_checked_and_reported() {
    let sandbox = Sandbox::new();
    let up = sandbox.up(&[]);
    real::runtime().block_on(async {
        let client = real::client(&up.kubeconfig()).await.unwrap();
        futures::join!(kubevirt(&client), proxmox(&client));
    });
}
