//! Quotas at the door of both servers: a hundred writers at once never get more than there is,
//! dry runs take nothing, and what fails or goes gives its place back.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failed assumption in a test is a failed test"
)]

mod support;

use std::{sync::Arc, time::Duration};

use futures::future::join_all;
use k8s_openapi::api::core::v1::Namespace;
use kube::{
    Api, Client, ResourceExt,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
};
use machinist_api::vitistack::{Machine, NetworkConfiguration, Vitistack};
use machinist_engine::{
    SystemClock,
    quota::{Book, Gate},
};
use serde_json::{Value, json};
use support::{
    Sandbox,
    kube::{self as real, Cluster},
    operator,
};

/// Generous: the machine that runs this may be busy.
const LIMIT: Duration = Duration::from_secs(60);
/// A namespace that has no quota at first.
const ELSEWHERE: &str = "elsewhere";
/// A namespace with a quota for each provider.
const SHARED: &str = "shared";

fn machine(name: &str, gigabytes: u64) -> Machine {
    machine_at("nobody", name, gigabytes)
}

fn machine_at(provider: &str, name: &str, gigabytes: u64) -> Machine {
    let machine = json!({
        "apiVersion": "vitistack.io/v1alpha1", "kind": "Machine", "metadata": {"name": name},
        "spec": {
            "providerRef": {"name": provider},
            "disks": [{"name": "root", "sizeGB": gigabytes}],
        },
    });
    serde_json::from_value(machine).unwrap()
}

fn stack(name: &str, quotas: &Value) -> Vitistack {
    let stack = json!({
        "apiVersion": "vitistack.io/v1alpha1", "kind": "Vitistack", "metadata": {"name": name},
        "spec": {"quotas": quotas},
    });
    serde_json::from_value(stack).unwrap()
}

fn network(name: &str) -> NetworkConfiguration {
    let network = json!({
        "apiVersion": "vitistack.io/v1alpha1", "kind": "NetworkConfiguration",
        "metadata": {"name": name}, "spec": {"networkId": name},
    });
    serde_json::from_value(network).unwrap()
}

/// What a write came to: admitted, or in which words it was refused.
fn outcome<T>(written: kube::Result<T>) -> Result<(), String> {
    match written {
        Ok(_) => Ok(()),
        Err(kube::Error::Api(status)) if status.code == 403 => Err(status.message.clone()),
        Err(error) => panic!("{error}"),
    }
}

/// Waits until the server holds to the quotas: a machine larger than any may be is refused.
async fn until_held(machines: &Api<Machine>) {
    let probe = dry_run();
    let held = async {
        while outcome(machines.create(&probe, &machine("probe", 1000)).await).is_ok() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(LIMIT, held).await.unwrap();
}

fn dry_run() -> PostParams {
    PostParams {
        dry_run: true,
        ..PostParams::default()
    }
}

/// Waits until there is room for one more machine: less long than a promise is kept whose object
/// is never seen, but the watch that shows it may lag.
async fn until_free(machines: &Api<Machine>) {
    let free = async {
        let probe = machine("probe", 1);
        while let Err(refused) = outcome(machines.create(&dry_run(), &probe).await) {
            assert!(refused.contains("there may be 10 machines"), "{refused}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(LIMIT, free).await.unwrap();
}

/// Removes a machine, and waits until it is gone.
async fn remove(machines: &Api<Machine>, name: &str) {
    let removed = machines.delete(name, &DeleteParams::default()).await;
    removed.unwrap();
    let gone = async {
        while machines.get_opt(name).await.unwrap().is_some() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(LIMIT, gone).await.unwrap();
}

/// The whole of it, on a server that has our definitions and asks our webhooks.
async fn holds(client: Client) {
    let params = PostParams::default();
    let stacks: Api<Vitistack> = Api::default_namespaced(client.clone());
    let quotas = json!({
        "machines": {"total": 10, "perProvider": 10},
        "storage": {"total": "15Gi", "perMachine": "8Gi"},
        "network": {"maxNetworks": 2},
    });
    stacks
        .create(&params, &stack("prod", &quotas))
        .await
        .unwrap();
    let machines: Api<Machine> = Api::default_namespaced(client.clone());
    until_held(&machines).await;

    // A hundred at once.
    let names: Vec<String> = (0..100).map(|number| format!("m{number}")).collect();
    let asked = names.iter().map(|name| {
        let (machines, params) = (&machines, &params);
        async move { outcome(machines.create(params, &machine(name, 1)).await) }
    });
    let outcomes = join_all(asked).await;
    let admitted = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
    let there = machines.list(&ListParams::default()).await.unwrap().items;
    assert_eq!((admitted, there.len()), (10, 10));
    let refused = outcomes
        .iter()
        .find_map(|outcome| outcome.as_ref().err())
        .unwrap();
    for words in [
        "default/prod",
        "there may be 10 machines",
        "spec.quotas.machines.total",
    ] {
        assert!(refused.contains(words), "{words} is not in {refused}");
    }

    // What goes makes room, even if it was never counted; a dry run takes none of it, and what
    // fails gives it back.
    remove(&machines, &there[0].name_any()).await;
    until_free(&machines).await;
    let brief = machines.create(&params, &machine("brief", 1)).await;
    assert_eq!(outcome(brief), Ok(()));
    remove(&machines, "brief").await;
    until_free(&machines).await;
    let dry = dry_run();
    for number in 0..3 {
        let name = format!("dry{number}");
        let dry_run = machines.create(&dry, &machine(&name, 1)).await;
        assert_eq!(outcome(dry_run), Ok(()));
    }
    let again = machines.create(&params, &there[1]).await;
    assert!(again.is_err(), "it is there already");
    let taken = machines.create(&params, &machine("last", 1)).await;
    assert_eq!(outcome(taken), Ok(()));
    let more = outcome(machines.create(&params, &machine("more", 1)).await);
    assert!(more.unwrap_err().contains("10 machines"));

    // Disks count when they grow.
    let grow = async |name: &str, gigabytes: u64| {
        let disks = json!({"spec": {"disks": [{"name": "root", "sizeGB": gigabytes}]}});
        let params = PatchParams::default();
        outcome(machines.patch(name, &params, &Patch::Merge(&disks)).await)
    };
    let per_machine = grow("last", 9).await.unwrap_err();
    assert!(
        per_machine.contains("spec.quotas.storage.perMachine"),
        "{per_machine}"
    );
    assert_eq!(grow("last", 6).await, Ok(()));
    let total = grow(&there[1].name_any(), 2).await.unwrap_err();
    assert!(total.contains("spec.quotas.storage.total"), "{total}");
    assert_eq!(grow("last", 5).await, Ok(()));
    assert_eq!(grow(&there[1].name_any(), 2).await, Ok(()));

    // Networks.
    let networks: Api<NetworkConfiguration> = Api::default_namespaced(client.clone());
    let asked = ["a", "b", "c", "d"].map(|name| {
        let (networks, params) = (&networks, &params);
        async move { outcome(networks.create(params, &network(name)).await) }
    });
    let outcomes = join_all(asked).await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 2);

    // Another namespace has no quota, and this one none any more when it is gone.
    let elsewhere = machines_in(&client, ELSEWHERE).await;
    let free = elsewhere.create(&params, &machine("free", 1000)).await;
    assert_eq!(outcome(free), Ok(()));
    each_provider_has_its_own(&client).await;
    let removed = stacks.delete("prod", &DeleteParams::default()).await;
    removed.unwrap();
    let free = async {
        while outcome(machines.create(&dry, &machine("free", 1)).await).is_err() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(LIMIT, free).await.unwrap();
}

/// The machines of a namespace that is made for them.
async fn machines_in(client: &Client, name: &str) -> Api<Machine> {
    let namespace = json!({"metadata": {"name": name}});
    let namespace: Namespace = serde_json::from_value(namespace).unwrap();
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let made = namespaces.create(&PostParams::default(), &namespace).await;
    made.unwrap();
    Api::namespaced(client.clone(), name)
}

/// What may be at each provider, asked for at once; one machine is there before there is a quota.
async fn each_provider_has_its_own(client: &Client) {
    let params = PostParams::default();
    let machines = &machines_in(client, SHARED).await;
    let first = machines.create(&params, &machine("first", 1)).await;
    assert_eq!(outcome(first), Ok(()));
    let stacks: Api<Vitistack> = Api::namespaced(client.clone(), SHARED);
    let quotas = json!({"machines": {"perProvider": 10}, "storage": {"perMachine": "8Gi"}});
    let made = stacks.create(&params, &stack("shares", &quotas)).await;
    made.unwrap();
    until_held(machines).await;
    let providers = ["nobody", "somebody"];
    let asked = (0..100).map(|number| {
        let provider = providers[number % 2];
        let asked = machine_at(provider, &format!("of-{provider}-{number}"), 1);
        let params = &params;
        async move { outcome(machines.create(params, &asked).await) }
    });
    let outcomes = join_all(asked).await;
    let there = machines.list(&ListParams::default()).await.unwrap().items;
    for provider in providers {
        let at = |machine: &&Machine| {
            let named = machine.spec.provider_ref.as_ref();
            named.and_then(|named| named.name.as_deref()) == Some(provider)
        };
        assert_eq!(there.iter().filter(at).count(), 10, "{provider}");
    }
    let admitted = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
    assert_eq!(admitted, 19);
    let refused = outcomes
        .iter()
        .find_map(|outcome| outcome.as_ref().err())
        .unwrap();
    for words in ["shared/shares", "spec.quotas.machines.perProvider"] {
        assert!(refused.contains(words), "{words} is not in {refused}");
    }
}

#[test]
fn the_embedded_server_holds_to_quotas() {
    let sandbox = Sandbox::new();
    let up = sandbox.up(&[]);
    let runtime = real::runtime();
    runtime.block_on(async {
        let client = real::client(&up.kubeconfig()).await.unwrap();
        holds(client).await;
    });
}

#[test]
fn a_real_server_holds_to_quotas_with_the_operator() {
    let sandbox = Sandbox::new();
    let Some(cluster) = Cluster::start(&sandbox) else {
        return;
    };
    let _operator = operator::start_whole(&sandbox, &cluster);
    let runtime = real::runtime();
    runtime.block_on(async {
        let client = real::client(&cluster.kubeconfig()).await.unwrap();
        holds(client.clone()).await;
        two_replicas(client).await;
    });
}

/// Two processes that serve the webhook share one ledger: between them they give each place once.
async fn two_replicas(client: Client) {
    let params = PostParams::default();
    let stacks: Api<Vitistack> = Api::namespaced(client.clone(), ELSEWHERE);
    let quotas = json!({"machines": {"total": 10}});
    stacks
        .create(&params, &stack("shared", &quotas))
        .await
        .unwrap();
    let gates: Vec<Gate> = (0..2)
        .map(|_| {
            let book = Book::durable(client.clone());
            Gate::new(client.clone(), Arc::new(SystemClock), book)
        })
        .collect();
    let mut following = Vec::new();
    for gate in &gates {
        let followed = gate.clone();
        following.push(tokio::spawn(async move { followed.run().await }));
        let mut namespaces = gate.namespaces();
        let known = namespaces.wait_for(|known| {
            known
                .as_ref()
                .is_some_and(|known| known.contains(ELSEWHERE))
        });
        tokio::time::timeout(LIMIT, known).await.unwrap().unwrap();
    }
    let asked = (0..100).map(|number| {
        let gate = &gates[number % 2];
        let name = format!("r{number}");
        async move {
            let request = json!({
                "operation": "CREATE", "namespace": ELSEWHERE, "name": name,
                "kind": {"kind": "Machine"}, "object": machine(&name, 1),
            });
            gate.admit(&request).await.is_ok()
        }
    });
    let admitted = join_all(asked)
        .await
        .into_iter()
        .filter(|admitted| *admitted);
    // One machine was there before.
    assert_eq!(admitted.count(), 9);
    following.iter().for_each(|task| task.abort());
}
