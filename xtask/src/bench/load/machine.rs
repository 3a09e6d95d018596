//! The Machine of the load: about 2.5 KB as a server shows it, with its managed fields.

use serde_json::{Value, json};

/// The collection that it is created in.
pub(super) const MACHINES: &str = "/apis/vitistack.io/v1alpha1/namespaces/default/machines";

/// The path of one machine.
pub(super) fn path(name: &str) -> String {
    format!("{MACHINES}/{name}")
}

/// A machine as a client sends it.
pub(super) fn body(name: &str) -> Vec<u8> {
    machine(name).to_string().into_bytes()
}

fn machine(name: &str) -> Value {
    let key = "AAAAC3NzaC1lZDI1NTE5AAAAI".repeat(3);
    json!({
        "apiVersion": "vitistack.io/v1alpha1",
        "kind": "Machine",
        "metadata": {
            "name": name,
            "namespace": "default",
            "labels": { "app": "bench", "tier": "worker" },
        },
        "spec": {
            "name": name,
            "instanceType": "medium",
            "cpu": { "cores": 4, "sockets": 1, "threadsPerCore": 1 },
            "memory": 8_589_934_592_i64,
            "os": {
                "family": "linux", "distribution": "debian", "version": "12",
                "architecture": "amd64", "imageID": "debian-12-generic-amd64",
            },
            "disks": [
                { "name": "root", "sizeGB": 20, "boot": true },
                { "name": "data", "sizeGB": 100 },
            ],
            "providerConfig": { "name": "sim", "region": "local" },
            "sshKeys": [format!("ssh-ed25519 {key} someone@example.org")],
            "userData": "#cloud-config\npackages: [curl, jq]\nruncmd:\n  - [systemctl, enable, --now, agent]\n",
            "tags": { "owner": "team-a", "cost-center": "1234" },
        },
    })
}
