//! Backup and restore: of a control plane that runs, of one that does not, and of bad files.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failed assumption in a test is a failed test"
)]

mod support;

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Client, ResourceExt,
    api::{DeleteParams, ListParams, PostParams, WatchEvent, WatchParams},
};
use serde_json::json;
use support::{Sandbox, kube as real, wait::pause};
use tokio::runtime::Runtime;

fn client(runtime: &Runtime, kubeconfig: &Path) -> Client {
    runtime.block_on(real::client(kubeconfig)).unwrap()
}

async fn write(client: &Client, name: &str) -> ConfigMap {
    let map = json!({"metadata": {"name": name}, "data": {"text": name}});
    let map: ConfigMap = serde_json::from_value(map).unwrap();
    let api: Api<ConfigMap> = Api::namespaced(client.clone(), "default");
    api.create(&PostParams::default(), &map).await.unwrap()
}

/// The notes by name, with their versions.
fn notes(runtime: &Runtime, client: &Client) -> BTreeMap<String, String> {
    let api: Api<ConfigMap> = Api::namespaced(client.clone(), "default");
    let list = runtime.block_on(api.list(&ListParams::default())).unwrap();
    let notes = list
        .items
        .iter()
        .filter(|map| map.name_any().starts_with("note-"));
    notes
        .map(|map| (map.name_any(), map.resource_version().unwrap()))
        .collect()
}

#[track_caller]
fn backup(sandbox: &Sandbox, file: &Path) {
    let done = sandbox.run("backup", &[file.to_str().unwrap()]);
    assert_eq!(done.code(), Some(0), "{done:#?}");
}

#[test]
fn what_a_running_control_plane_knows_is_there_again_elsewhere() {
    let (old, new) = (Sandbox::new(), Sandbox::new());
    let runtime = real::runtime();
    let up = old.up(&["--api-only"]);
    let before = client(&runtime, &up.kubeconfig());
    for n in 0..20 {
        runtime.block_on(write(&before, &format!("note-{n}")));
    }
    let api: Api<ConfigMap> = Api::namespaced(before.clone(), "default");
    runtime
        .block_on(api.delete("note-7", &DeleteParams::default()))
        .unwrap();
    // Others go on writing, before, during and after.
    let stop = Arc::new(AtomicBool::new(false));
    let writer = runtime.spawn({
        let (client, stop) = (before.clone(), stop.clone());
        async move {
            for n in 0.. {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                write(&client, &format!("note-later-{n:05}")).await;
            }
        }
    });
    let file = old.path("backup");
    backup(&old, &file);
    stop.store(true, Ordering::Relaxed);
    runtime.block_on(writer).unwrap();
    let newest = runtime
        .block_on(write(&before, "note-last"))
        .resource_version()
        .unwrap();
    let seen = notes(&runtime, &before);
    let kubeconfig = fs::read_to_string(up.kubeconfig()).unwrap();
    up.kill();

    let done = new.run("restore", &[file.to_str().unwrap()]);
    assert_eq!(done.code(), Some(0), "{done:#?}");
    let up = new.up(&["--api-only"]);
    let after = client(&runtime, &up.kubeconfig());
    let restored = notes(&runtime, &after);
    // Each note is as it was, and what came after is cut at one point of the history.
    let cut = restored
        .values()
        .map(|version| version.parse::<u64>().unwrap())
        .max()
        .unwrap();
    let expected: BTreeMap<String, String> = seen
        .iter()
        .filter(|(_, version)| version.parse::<u64>().unwrap() <= cut)
        .map(|(name, version)| (name.clone(), version.clone()))
        .collect();
    assert_eq!(restored, expected);
    assert!(!restored.contains_key("note-last") && !restored.contains_key("note-7"));
    assert!(restored.len() >= 19, "{restored:?}");
    // Who watched the old one is told to list again, wherever it stood.
    let api: Api<ConfigMap> = Api::namespaced(after, "default");
    for version in [cut.to_string(), newest] {
        let event = runtime.block_on(async {
            let stream = api.watch(&WatchParams::default(), &version).await.unwrap();
            std::pin::pin!(stream).next().await.unwrap().unwrap()
        });
        assert!(matches!(event, WatchEvent::Error(status) if status.code == 410));
    }
    // The clients of the old one are let in: authority and keys are the same.
    let url = |text: &str| {
        let line = text.split("https://").nth(1).unwrap();
        line.split(['"', '\n']).next().unwrap().to_owned()
    };
    let new_url = url(&fs::read_to_string(up.kubeconfig()).unwrap());
    let old_keys = new.write("old-keys", &kubeconfig.replace(&url(&kubeconfig), &new_url));
    assert_eq!(notes(&runtime, &client(&runtime, &old_keys)), restored);
}

#[test]
fn a_control_plane_that_does_not_run_is_backed_up_and_replaced_only_by_force() {
    let sandbox = Sandbox::new();
    let runtime = real::runtime();
    let up = sandbox.up(&["--api-only"]);
    let before = client(&runtime, &up.kubeconfig());
    runtime.block_on(write(&before, "note-kept"));
    // Killed, so that what is only in the journal counts too.
    up.kill();
    let file = sandbox.path("backup");
    backup(&sandbox, &file);
    let up = sandbox.up(&["--api-only"]);
    runtime.block_on(write(&client(&runtime, &up.kubeconfig()), "note-after"));
    let running = sandbox.run("restore", &[file.to_str().unwrap(), "--force"]);
    assert_eq!(running.code(), Some(3), "{running:#?}");
    up.kill();

    let refused = sandbox.run("restore", &[file.to_str().unwrap()]);
    assert_eq!(refused.code(), Some(2), "{refused:#?}");
    assert!(refused.stderr.contains("--force"), "{refused:#?}");
    let done = sandbox.run("restore", &[file.to_str().unwrap(), "--force"]);
    assert_eq!(done.code(), Some(0), "{done:#?}");
    assert!(done.stdout.contains("store.before-restore-1"), "{done:#?}");
    assert!(
        sandbox
            .data()
            .join("store.before-restore-1/store.redb")
            .exists()
    );
    let up = sandbox.up(&["--api-only"]);
    let restored = notes(&runtime, &client(&runtime, &up.kubeconfig()));
    assert_eq!(restored.into_keys().collect::<Vec<_>>(), ["note-kept"]);
}

#[test]
fn a_bad_file_changes_nothing() {
    let sandbox = Sandbox::new();
    drop(sandbox.up(&["--api-only"]));
    let file = sandbox.path("backup");
    backup(&sandbox, &file);
    let sound = fs::read(&file).unwrap();
    let mut flipped = sound.clone();
    flipped[sound.len() / 2] ^= 1;
    let newer = String::from_utf8_lossy(&sound[..40]).replacen(" 1\n", " 9\n", 1);
    let empty = Sandbox::new();
    for (bad, said) in [
        (&flipped[..], "damaged"),
        (&sound[..sound.len() - 1], "damaged or cut short"),
        (newer.as_bytes(), "use a newer machinist"),
        (b"", "no backup"),
    ] {
        fs::write(&file, bad).unwrap();
        for target in [&sandbox, &empty] {
            let refused = target.run("restore", &[file.to_str().unwrap(), "--force"]);
            assert_eq!(refused.code(), Some(2), "{refused:#?}");
            assert!(refused.stderr.contains(said), "{refused:#?}");
            assert!(
                refused.stderr.contains("Nothing was changed"),
                "{refused:#?}"
            );
        }
    }
    assert!(!sandbox.data().join("store.before-restore-1").exists());
    assert!(!empty.data().join("store").exists());
    let missing = empty.run("backup", &[empty.path("file").to_str().unwrap()]);
    assert_eq!(missing.code(), Some(2), "{missing:#?}");
}

#[test]
fn a_kill_during_a_restore_leaves_the_old_or_the_new() {
    let source = Sandbox::new();
    let runtime = real::runtime();
    let up = source.up(&["--api-only"]);
    runtime.block_on(write(&client(&runtime, &up.kubeconfig()), "note-new"));
    let file = source.path("backup");
    backup(&source, &file);
    up.kill();

    let sandbox = Sandbox::new();
    let up = sandbox.up(&["--api-only"]);
    runtime.block_on(write(&client(&runtime, &up.kubeconfig()), "note-old"));
    up.kill();
    let arguments = [file.to_str().unwrap(), "--force"];
    let mut both = [0, 0];
    for moment in [0, 10, 20, 30, 40, 60, 90, 130, 180, 400] {
        let mut command = sandbox.machinist("restore");
        let mut child = command.args(arguments).spawn().unwrap();
        pause(Duration::from_millis(moment));
        child.kill().unwrap();
        child.wait().unwrap();
        let up = sandbox.up(&["--api-only"]);
        let found = notes(&runtime, &client(&runtime, &up.kubeconfig()));
        let found: Vec<String> = found.into_keys().collect();
        match found.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["note-old"] => both[0] += 1,
            ["note-new"] => both[1] += 1,
            ref other => panic!("after {moment} ms there is {other:?}"),
        }
        up.kill();
        assert!(!sandbox.data().join("restore.ready").exists());
    }
    assert!(both[0] > 0, "no kill came before the decision");
}
