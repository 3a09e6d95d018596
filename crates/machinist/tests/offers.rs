//! What providers offer, at the door of both servers: a machine that its provider cannot satisfy is
//! refused with the field, its value and what is offered.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failed assumption in a test is a failed test"
)]

mod support;

use std::time::Duration;

use kube::{
    Api, Client,
    api::{Patch, PatchParams, PostParams},
};
use machinist_api::vitistack::{Machine, MachineProvider};
use serde_json::{Value, json};
use support::{
    Sandbox,
    kube::{self as real, Cluster},
    operator,
};

/// Generous: the machine that runs this may be busy.
const LIMIT: Duration = Duration::from_secs(60);

fn machine(name: &str, spec: &Value) -> Machine {
    let mut spec = spec.clone();
    spec["name"] = name.into();
    let machine = json!({
        "apiVersion": "vitistack.io/v1alpha1", "kind": "Machine",
        "metadata": {"name": name}, "spec": spec,
    });
    serde_json::from_value(machine).unwrap()
}

/// A machine of the documented form that the provider can satisfy, changed as told.
fn spec(change: &Value) -> Value {
    let mut spec = json!({
        "providerRef": {"name": "choosy"}, "instanceType": "small",
        "os": {"family": "linux", "distribution": "debian", "version": "12", "imageID": "debian-12"},
        "network": {"subnet": "net-1"},
    });
    json_patch::merge(&mut spec, change);
    spec
}

/// What a write came to: admitted, or in which words it was refused.
async fn outcome(machines: &Api<Machine>, spec: &Value) -> Result<(), String> {
    let dry = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    match machines.create(&dry, &machine("m", spec)).await {
        Ok(_) => Ok(()),
        Err(kube::Error::Api(status)) if status.code == 403 => Err(status.message.clone()),
        Err(error) => panic!("{error}"),
    }
}

/// Waits until a machine is refused, or is not any more.
async fn until(machines: &Api<Machine>, spec: &Value, refused: bool) {
    let look = async {
        while outcome(machines, spec).await.is_err() != refused {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(LIMIT, look).await.unwrap();
}

/// The whole of it, on a server that has our definitions and asks our webhooks.
async fn holds(client: Client) {
    let providers: Api<MachineProvider> = Api::default_namespaced(client.clone());
    let provider = json!({
        "apiVersion": "vitistack.io/v1alpha1", "kind": "MachineProvider",
        "metadata": {"name": "choosy"},
        "spec": {
            "type": "sim", "region": "here", "availabilityZones": ["zone-a", "zone-b"],
            "capabilities": {
                "supportedOperations": ["create", "delete", "start"],
                "supportedOSTypes": ["linux"],
                "supportedInstanceTypes": ["small", "large"],
                "availableImages": [{"name": "debian-12", "id": "img-1"}],
            },
            "networkConfig": {"availableNetworks": [{"id": "net-1", "name": "inside"}]},
            "computeConfig": {"maxCPU": "4", "maxMemoryGB": "8"},
            "storageConfig": {"availableStorageTypes": [{"name": "gp3", "type": "ssd"}]},
        },
    });
    let provider: MachineProvider = serde_json::from_value(provider).unwrap();
    let params = PostParams::default();
    providers.create(&params, &provider).await.unwrap();
    let machines: Api<Machine> = Api::default_namespaced(client.clone());
    let huge = spec(&json!({"instanceType": "huge"}));
    until(&machines, &huge, true).await;

    assert_eq!(outcome(&machines, &spec(&json!({}))).await, Ok(()));
    let zone = |zone: &str| json!({"name": "sim", "region": "here", "zone": zone});
    let fits = spec(&json!({"providerRef": null, "providerConfig": zone("zone-b")}));
    assert_eq!(outcome(&machines, &fits).await, Ok(()));
    let cases = [
        (
            json!({"instanceType": "huge"}),
            "spec.instanceType: \"huge\": MachineProvider default/choosy does not offer instance type huge; it offers large, small",
        ),
        (
            json!({"providerRef": null, "providerConfig": zone("zone-c")}),
            "spec.providerConfig.zone: \"zone-c\": MachineProvider default/choosy does not offer zone zone-c; it offers zone-a, zone-b",
        ),
        (
            json!({"os": {"family": "windows"}}),
            "spec.os.family: \"windows\": MachineProvider default/choosy does not offer windows; it offers linux",
        ),
        (
            json!({"os": {"imageID": "plan9"}}),
            "spec.os.imageID: \"plan9\": MachineProvider default/choosy does not offer image plan9; it offers debian-12, img-1",
        ),
        (
            json!({"network": {"subnet": "outside"}}),
            "spec.network.subnet: \"outside\": MachineProvider default/choosy does not offer network outside; it offers inside, net-1",
        ),
        (
            json!({"disks": [{"name": "root", "sizeGB": 1, "type": "ssd"}, {"name": "data", "sizeGB": 1, "type": "st1"}]}),
            "spec.disks[1].type: \"st1\": MachineProvider default/choosy does not offer storage class st1; it offers gp3, ssd",
        ),
        (
            json!({"powerState": "Stopped"}),
            "spec.powerState: \"Stopped\": MachineProvider default/choosy does not offer to stop machines; it offers create, delete, start",
        ),
        (
            json!({"cpu": {"cores": 8}}),
            "spec.cpu: \"8\": MachineProvider default/choosy offers 4 processors at most, not 8",
        ),
        (
            json!({"memory": 17_179_869_184_i64}),
            "spec.memory: \"16.0 GiB\": MachineProvider default/choosy offers",
        ),
    ];
    for (change, words) in cases {
        let told = outcome(&machines, &spec(&change)).await.unwrap_err();
        assert!(told.contains(words), "{words} is not in {told}");
    }
    // A provider that nobody knows, and one that is left to the scheduler, are not this one's business.
    for change in [
        json!({"providerRef": {"name": "unknown"}, "instanceType": "huge"}),
        json!({"providerRef": null, "instanceType": "huge"}),
    ] {
        assert_eq!(outcome(&machines, &spec(&change)).await, Ok(()), "{change}");
    }

    // What is there may be changed when the provider changes its mind, but not for the worse.
    let there = machine("there", &spec(&json!({})));
    machines.create(&params, &there).await.unwrap();
    let offer = |kinds: Value| json!({"spec": {"capabilities": {"supportedInstanceTypes": kinds}}});
    let patch = PatchParams::default();
    let change = Patch::Merge(offer(json!(["large"])));
    providers.patch("choosy", &patch, &change).await.unwrap();
    until(&machines, &spec(&json!({})), true).await;
    let tags = Patch::Merge(json!({"spec": {"tags": {"a": "b"}}}));
    machines.patch("there", &patch, &tags).await.unwrap();
    // A provider that offers everything refuses nothing.
    let all = json!({"spec": {
        "capabilities": null, "networkConfig": null, "computeConfig": null, "availabilityZones": null,
        "storageConfig": null,
    }});
    let change = Patch::Merge(all);
    providers.patch("choosy", &patch, &change).await.unwrap();
    until(&machines, &huge, false).await;
}

#[test]
fn the_embedded_server_refuses_what_is_not_offered() {
    let sandbox = Sandbox::new();
    let up = sandbox.up(&[]);
    let runtime = real::runtime();
    runtime.block_on(async {
        let client = real::client(&up.kubeconfig()).await.unwrap();
        holds(client).await;
    });
}

#[test]
fn a_real_server_refuses_what_is_not_offered_with_the_operator() {
    let sandbox = Sandbox::new();
    let Some(cluster) = Cluster::start(&sandbox) else {
        return;
    };
    let _operator = operator::start_whole(&sandbox, &cluster);
    let runtime = real::runtime();
    runtime.block_on(async {
        let client = real::client(&cluster.kubeconfig()).await.unwrap();
        holds(client).await;
    });
}
