//! Bad input from the command line: one clear error that names the thing and the way out, the
//! documented exit code, and nothing half done.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failed assumption in a test is a failed test"
)]

mod support;

use std::{fs, net::TcpListener, path::Path};

use kube::{Api, api::ListParams};
use machinist_api::vitistack::{Machine, MachineProvider};
use support::{Finished, Sandbox, kube as real, manifests};

const USER: i32 = 2;
const CONFIGURATION: i32 = 3;
const REFUSED: i32 = 4;

/// It ended with this code, and said each of these on standard error.
#[track_caller]
fn assert_failed(finished: &Finished, code: i32, said: &[&str]) {
    assert_eq!(finished.code(), Some(code), "{finished:#?}");
    for text in said {
        assert!(
            finished.stderr.contains(text),
            "{text:?} is not in {}",
            finished.stderr
        );
    }
    let told = finished
        .stderr
        .lines()
        .any(|line| line.starts_with("machinist: "));
    assert!(told, "{}", finished.stderr);
    assert!(!finished.stderr.contains("panicked"), "{}", finished.stderr);
}

/// Neither a machine nor a provider is in the store of this data directory.
#[track_caller]
fn assert_nothing_applied(sandbox: &Sandbox) {
    let up = sandbox.up(&[]);
    real::runtime().block_on(async {
        let client = real::client(&up.kubeconfig()).await.unwrap();
        let machines: Api<Machine> = Api::all(client.clone());
        let providers: Api<MachineProvider> = Api::all(client);
        assert!(
            machines
                .list(&ListParams::default())
                .await
                .unwrap()
                .items
                .is_empty()
        );
        assert!(
            providers
                .list(&ListParams::default())
                .await
                .unwrap()
                .items
                .is_empty()
        );
    });
}

fn up_with(sandbox: &Sandbox, file: &Path) -> Finished {
    sandbox.run(
        "up",
        &["--listen", "127.0.0.1:0", "-f", file.to_str().unwrap()],
    )
}

#[test]
fn a_manifest_that_cannot_be_read_starts_nothing() {
    let sandbox = Sandbox::new();
    let absent = sandbox.path("absent.yaml");
    assert_failed(
        &up_with(&sandbox, &absent),
        USER,
        &["could not read", "absent.yaml", "No such file"],
    );
    let directory = sandbox.path("images");
    assert_failed(
        &up_with(&sandbox, &directory),
        USER,
        &["images", "holds no object"],
    );
    for (name, text, said) in [
        ("torn.yaml", "spec: [", &["torn.yaml", "is not YAML"][..]),
        ("binary.yaml", "\u{1}\u{2}", &["binary.yaml"]),
        (
            "empty.yaml",
            "# nothing\n",
            &["empty.yaml", "holds no object"],
        ),
        (
            "list.yaml",
            "- a\n- b\n",
            &["list.yaml, document 1", "apiVersion is missing"],
        ),
        (
            "nameless.yaml",
            "apiVersion: v1\nkind: Secret\n",
            &["nameless.yaml, document 1", "metadata.name is missing"],
        ),
    ] {
        let file = sandbox.write(name, text);
        assert_failed(&up_with(&sandbox, &file), USER, said);
    }
    assert!(!sandbox.data().exists(), "a data directory was made");
}

#[test]
fn a_manifest_that_is_refused_applies_nothing() {
    let machine = manifests::machine("web", "sim", "debian");
    for (from, to, code, said) in [
        (
            "sizeGB: 1,",
            "sizeGB: 1, sizeMB: 5,",
            REFUSED,
            &["spec.disks[0].sizeMB"][..],
        ),
        (
            "cores: 1",
            "cores: 300",
            REFUSED,
            &["spec.cpu.cores", "300", "256"],
        ),
        (
            "family: linux",
            "family: beos",
            REFUSED,
            &["spec.os.family", "beos", "\"linux\""],
        ),
        (
            "name: web\n",
            "name: Web_1\n",
            REFUSED,
            &["metadata.name", "Web_1"],
        ),
        (
            "namespace: default",
            "namespace: nowhere",
            REFUSED,
            &["nowhere", "not found"],
        ),
        (
            "kind: Machine\n",
            "kind: Maschine\n",
            USER,
            &["no kind Maschine in vitistack.io/v1alpha1"],
        ),
    ] {
        let sandbox = Sandbox::new();
        let text = format!(
            "{}---\n{}",
            manifests::provider("sim"),
            machine.replacen(from, to, 1)
        );
        let file = sandbox.write("mixed.yaml", &text);
        let finished = up_with(&sandbox, &file);
        assert_failed(&finished, code, said);
        assert!(
            finished.stderr.contains("mixed.yaml, document 2"),
            "{}",
            finished.stderr
        );
        assert_nothing_applied(&sandbox);
    }
}

#[test]
fn a_port_in_use_is_named() {
    let sandbox = Sandbox::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let finished = sandbox.run("up", &["--listen", &address]);
    assert_failed(&finished, CONFIGURATION, &[&address, "in use", "--listen"]);
    drop(taken);
    sandbox.up(&["--listen", &address]);
}

#[test]
fn a_data_directory_that_is_not_ours_is_left_alone() {
    for (version, said) in [
        ("7\n", &["format 7", "up to 1", "--data-dir"][..]),
        ("what?\n", &["what?", "damaged", "--data-dir"]),
    ] {
        let sandbox = Sandbox::new();
        drop(sandbox.up(&[]));
        let file = sandbox.data().join("version");
        fs::write(&file, version).unwrap();
        let store = |sandbox: &Sandbox| {
            let entries = fs::read_dir(sandbox.data().join("store")).unwrap();
            let mut all: Vec<_> = entries
                .map(|e| fs::read(e.unwrap().path()).unwrap())
                .collect();
            all.sort();
            all
        };
        let before = store(&sandbox);
        for verb in ["up", "down"] {
            assert_failed(&sandbox.run(verb, &[]), CONFIGURATION, said);
        }
        assert_eq!(fs::read_to_string(&file).unwrap(), version);
        assert!(store(&sandbox) == before, "the store was touched");
    }
}

#[test]
fn a_data_directory_that_cannot_be_made_is_named() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.data(), "a file, not a directory").unwrap();
    assert_failed(
        &sandbox.run("up", &[]),
        CONFIGURATION,
        &[sandbox.data().to_str().unwrap()],
    );
}

#[test]
fn a_store_that_is_damaged_is_named_and_left_alone() {
    let sandbox = Sandbox::new();
    drop(sandbox.up(&[]));
    let entries = fs::read_dir(sandbox.data().join("store")).unwrap();
    let files: Vec<_> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .collect();
    for file in &files {
        fs::write(file, "this is no store").unwrap();
    }
    assert_failed(
        &sandbox.run("up", &[]),
        CONFIGURATION,
        &["could not open the store in"],
    );
    for file in &files {
        assert_eq!(fs::read_to_string(file).unwrap(), "this is no store");
    }
}

#[test]
fn a_console_of_nobody_is_refused() {
    let sandbox = Sandbox::new();
    let finished = sandbox.run("console", &["web"]);
    assert_failed(
        &finished,
        CONFIGURATION,
        &["no control plane runs on", "machinist up"],
    );
    let _up = sandbox.up(&[]);
    let finished = sandbox.run("console", &["web", "--dump"]);
    assert_failed(
        &finished,
        USER,
        &["no machine \"web\" in namespace \"default\""],
    );
}

#[test]
fn an_operator_without_a_cluster_says_so() {
    let sandbox = Sandbox::new();
    let absent = sandbox.path("absent");
    let finished = sandbox.run("operator", &["--kubeconfig", absent.to_str().unwrap()]);
    assert_failed(&finished, CONFIGURATION, &["could not use", "absent"]);
    let [port] = real::free_ports();
    let text = format!(
        "{{apiVersion: v1, kind: Config, current-context: a,
         clusters: [{{name: a, cluster: {{server: 'http://127.0.0.1:{port}'}}}}],
         users: [{{name: a, user: {{}}}}], contexts: [{{name: a, context: {{cluster: a, user: a}}}}]}}"
    );
    let file = sandbox.write("kubeconfig", &text);
    let finished = sandbox.run("operator", &["--kubeconfig", file.to_str().unwrap()]);
    assert_failed(
        &finished,
        CONFIGURATION,
        &["could not reach the cluster", &port.to_string()],
    );
}
