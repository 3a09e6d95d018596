//! The local QEMU as a provider, and a machine for it.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use kube::{
    Api, Client, ResourceExt as _,
    api::{Patch, PatchParams},
};
use machinist_api::vitistack::MachineProvider;
use serde_json::{Value, json};
use tokio::time::sleep;

pub(super) const NAMESPACE: &str = "default";
/// Where a machine's directory has the number of its process.
pub(super) const PID_FILE: &str = "qemu.pid";
const LOOK: Duration = Duration::from_millis(5);
const PATIENCE: Duration = Duration::from_secs(120);

/// Declares the local QEMU with these settings and waits until it is ready. Returns its UID.
pub(super) async fn declare(client: &Client, settings: Value) -> Result<String> {
    let providers: Api<MachineProvider> = Api::namespaced(client.clone(), NAMESPACE);
    let provider = json!({
        "apiVersion": "vitistack.io/v1alpha1",
        "kind": "MachineProvider",
        "metadata": { "name": "local" },
        "spec": {
            "type": "qemu",
            "region": "local",
            "config": { "customSettings": settings },
        },
    });
    let patch = Patch::Apply(&provider);
    let applied = providers
        .patch("local", &PatchParams::apply("bench"), &patch)
        .await;
    let uid = applied
        .context("cannot apply the provider")?
        .uid()
        .context("it has no UID")?;
    let began = Instant::now();
    loop {
        let provider = providers
            .get("local")
            .await
            .context("cannot get the provider")?;
        let status = provider.status.unwrap_or_default();
        if status.ready == Some(true) {
            return Ok(uid);
        }
        if began.elapsed() > PATIENCE {
            bail!("the provider was not ready within {PATIENCE:?}: {status:?}");
        }
        sleep(LOOK).await;
    }
}

/// The machine of the quickstart, with the image by its path.
pub(super) fn machine(name: &str, image: &Path) -> Value {
    json!({
        "apiVersion": "vitistack.io/v1alpha1",
        "kind": "Machine",
        "metadata": { "name": name },
        "spec": {
            "name": name,
            "instanceType": "small",
            "cpu": { "cores": 1 },
            "memory": 128 << 20,
            "os": {
                "family": "linux",
                "distribution": "debian",
                "version": "12",
                "architecture": "amd64",
                "imageID": image,
            },
            "disks": [{ "name": "root", "sizeGB": 1, "boot": true }],
            "providerConfig": { "name": "qemu", "region": "local" },
            "userData": "#!/bin/sh\necho bench\n",
        },
    })
}
