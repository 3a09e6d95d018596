//! Dynamic use: no type at all, only group, version and resource.
//!
//! `cargo run -p machinist --example dynamic` runs against a server of its own in memory; with
//! `KUBECONFIG` set, against the cluster that it names.

#[path = "support/client.rs"]
mod client;

use kube::{
    Api, ResourceExt as _,
    api::PostParams,
    core::{ApiResource, DynamicObject, GroupVersionKind},
};
use serde_json::json;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let kind = GroupVersionKind::gvk("vitistack.io", "v1alpha1", "Machine");
    let resource = ApiResource::from_gvk_with_plural(&kind, "machines");
    let machines: Api<DynamicObject> =
        Api::namespaced_with(client::client().await?, "default", &resource);
    let machine: DynamicObject = serde_json::from_value(json!({
        "apiVersion": "vitistack.io/v1alpha1",
        "kind": "Machine",
        "metadata": { "name": "dynamic" },
        "spec": {
            "providerRef": { "name": "local" },
            "resources": { "cpu": { "cores": 4 }, "memory": { "size": "8Gi" } },
        },
    }))?;
    let created = machines.create(&PostParams::default(), &machine).await?;
    println!("{}: {}", created.name_any(), created.data["spec"]);
    // The server has filled in what was left out.
    assert_eq!(created.data["spec"]["powerState"], "Running");
    machines.delete("dynamic", &Default::default()).await?;
    Ok(())
}
