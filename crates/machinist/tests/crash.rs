//! A control plane that is killed at any moment loses nothing that it acknowledged, and makes
//! one guest for one machine.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failed assumption in a test is a failed test"
)]

mod support;

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Client, ResourceExt,
    api::{ListParams, Patch, PatchParams, PostParams},
};
use machinist_api::vitistack::{Machine, MachineProvider};
use support::{
    Sandbox, Up, control_plane::phase, kube as real, manifests, peers, wait::pause, wait_for,
};
use tokio::runtime::Runtime;

/// When the control plane is killed, in milliseconds after a machine was accepted: dense where
/// binding, disks and the start of QEMU happen, sparse after it.
const MOMENTS: [u64; 16] = [
    0, 3, 8, 15, 25, 40, 60, 80, 100, 130, 160, 200, 250, 320, 400, 500,
];

/// What was acknowledged, by name.
type Acknowledged = Arc<Mutex<BTreeMap<String, String>>>;

fn client(runtime: &Runtime, kubeconfig: &Path) -> Client {
    runtime.block_on(real::client(kubeconfig)).unwrap()
}

/// Writes small objects one after another until the server is gone; each acknowledged one is noted.
async fn write_until_it_dies(client: Client, next: Arc<AtomicU32>, acknowledged: Acknowledged) {
    let maps: Api<ConfigMap> = Api::namespaced(client, "default");
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        let name = format!("note-{number}");
        let map = ConfigMap {
            metadata: kube::core::ObjectMeta {
                name: Some(name.clone()),
                ..Default::default()
            },
            data: Some([("number".to_owned(), number.to_string())].into()),
            ..Default::default()
        };
        match maps.create(&PostParams::default(), &map).await {
            Ok(_) => acknowledged
                .lock()
                .unwrap()
                .insert(name, number.to_string()),
            Err(_) => return,
        };
    }
}

async fn apply(client: &Client, yaml: &str) {
    let params = PatchParams::apply("crash").force();
    let object: serde_json::Value = serde_saphyr::from_str(yaml).unwrap();
    let name = object["metadata"]["name"].as_str().unwrap();
    let patch = Patch::Apply(&object);
    if object["kind"] == "Machine" {
        let api: Api<Machine> = Api::namespaced(client.clone(), "default");
        api.patch(name, &params, &patch).await.map(drop).unwrap();
    } else {
        let api: Api<MachineProvider> = Api::namespaced(client.clone(), "default");
        api.patch(name, &params, &patch).await.map(drop).unwrap();
    }
}

async fn machines(client: &Client) -> Vec<Machine> {
    let api: Api<Machine> = Api::namespaced(client.clone(), "default");
    api.list(&ListParams::default()).await.unwrap().items
}

/// Everything that was acknowledged is there as it was written.
#[track_caller]
fn assert_kept(runtime: &Runtime, client: &Client, acknowledged: &Acknowledged) {
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), "default");
    let list = runtime.block_on(maps.list(&ListParams::default())).unwrap();
    let found: BTreeMap<String, String> = list
        .items
        .into_iter()
        .filter_map(|mut map| {
            let number = map.data.as_mut()?.remove("number")?;
            Some((map.name_any(), number))
        })
        .collect();
    for (name, number) in acknowledged.lock().unwrap().iter() {
        assert_eq!(
            found.get(name),
            Some(number),
            "{name} was acknowledged and is lost"
        );
    }
}

/// One QEMU for each machine, each carrying its machine's UID.
fn one_for_one(sandbox: &Sandbox, machines: &[Machine]) -> Result<(), String> {
    let mut wanted: Vec<String> = machines.iter().filter_map(ResourceExt::uid).collect();
    let mut running: Vec<String> = sandbox.qemus().into_iter().map(|qemu| qemu.uuid).collect();
    wanted.sort();
    running.sort();
    match wanted == running {
        true => Ok(()),
        false => Err(format!("wanted {wanted:?}, running {running:?}")),
    }
}

/// One round: a machine is accepted while others write, and the control plane is killed.
fn round(
    up: Up,
    runtime: &Runtime,
    moment: u64,
    next: &Arc<AtomicU32>,
    kept: &Acknowledged,
    yaml: &str,
) {
    let client = client(runtime, &up.kubeconfig());
    let writers: Vec<_> = (0..2)
        .map(|_| {
            runtime.spawn(write_until_it_dies(
                client.clone(),
                next.clone(),
                kept.clone(),
            ))
        })
        .collect();
    runtime.block_on(apply(&client, yaml));
    pause(Duration::from_millis(moment));
    up.kill();
    for writer in writers {
        runtime.block_on(writer).unwrap();
    }
}

#[test]
fn killed_at_any_moment_nothing_is_lost_or_doubled() {
    let Some(_) = peers::program("qemu-system-x86_64") else {
        return;
    };
    let _guests = peers::boot_guests();
    let sandbox = Sandbox::new();
    let disk = sandbox.empty_disk();
    let runtime = real::runtime();
    let kept = Acknowledged::default();
    let next = Arc::new(AtomicU32::default());
    let mut expected: Vec<String> = Vec::new();
    for (index, moment) in MOMENTS.into_iter().enumerate() {
        let up = sandbox.up(&[]);
        if index == 0 {
            let client = client(&runtime, &up.kubeconfig());
            runtime.block_on(apply(&client, &manifests::provider("qemu")));
        }
        let name = format!("m{index}");
        let yaml = manifests::machine(&name, "qemu", &disk).replace("67108864", "33554432");
        expected.push(name);
        round(up, &runtime, moment, &next, &kept, &yaml);
        // Never more than one for a machine, not even before the next control plane is up.
        let mut uuids: Vec<String> = sandbox.qemus().into_iter().map(|q| q.uuid).collect();
        let all = uuids.len();
        uuids.sort();
        uuids.dedup();
        assert_eq!(
            uuids.len(),
            all,
            "two guests of one machine, killed after {moment} ms"
        );
    }
    let up = sandbox.up(&[]);
    let client = client(&runtime, &up.kubeconfig());
    assert_kept(&runtime, &client, &kept);
    assert!(
        kept.lock().unwrap().len() > MOMENTS.len(),
        "too few writes to prove anything"
    );
    let found = wait_for("every machine to run", || {
        let found = runtime.block_on(machines(&client));
        let phases: Vec<String> = found.iter().map(phase).collect();
        match phases.iter().all(|phase| phase == "Running") {
            true => Ok(found),
            false => Err(phases),
        }
    });
    let mut names: Vec<String> = found.iter().map(ResourceExt::name_any).collect();
    names.sort();
    expected.sort();
    assert_eq!(names, expected);
    one_for_one(&sandbox, &found).unwrap();
    assert_eq!(sandbox.machine_dirs().len(), expected.len());
    drop(up);

    // The same for removal: killed while machines go, the next one finishes it.
    removed_across_a_crash(&sandbox, &runtime);
    assert_eq!(sandbox.qemus(), []);
    assert!(
        sandbox.machine_dirs().is_empty(),
        "{:?}",
        sandbox.machine_dirs()
    );
}

fn removed_across_a_crash(sandbox: &Sandbox, runtime: &Runtime) {
    let up = sandbox.up(&[]);
    let first = client(runtime, &up.kubeconfig());
    let api: Api<Machine> = Api::namespaced(first, "default");
    runtime
        .block_on(api.delete_collection(&Default::default(), &ListParams::default()))
        .unwrap();
    up.kill();
    let up = sandbox.up(&[]);
    let again = client(runtime, &up.kubeconfig());
    wait_for("every machine to go", || {
        match runtime.block_on(machines(&again)).len() {
            0 => Ok(()),
            left => Err(left),
        }
    });
}
