//! `kubectl apply` of all CRDs and all documented manifests, to the embedded server and to a real one:
//! what is said and what is stored is equal. `make verify-api` prints it as a table.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failed assumption in a test is a failed test"
)]

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use support::{Kubectl, Sandbox, kube::Cluster, operator, peers, wait_for};

/// The files below a folder, in the order of their names.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// What came of applying a file: what kubectl said, and the object without what servers add.
fn applied(kubectl: &Kubectl, file: &Path) -> (String, Value) {
    let name = file.to_str().unwrap();
    let said = kubectl.run(
        "apply --server-side --force-conflicts -n default -f",
        &[name],
    );
    let text = if said.status.success() {
        said.stdout
    } else {
        said.stderr
    };
    let read = kubectl.run("get -n default -o json -f", &[name]);
    let mut object: Value = serde_json::from_str(&read.stdout).unwrap_or_default();
    let spec = object["spec"].take();
    (text.trim().to_owned(), spec)
}

/// The admission webhook: the same code in the process and behind the operator's socket.
fn refuses_what_only_a_parser_finds(embedded: &Kubectl, kube: &Kubectl) {
    for version in ["v1alpha1", "v1beta1"] {
        let machine = format!(
            "apiVersion: vitistack.io/{version}\nkind: Machine\nmetadata: {{name: broken}}\nspec:\n  \
             providerRef: {{name: p}}\n  cloudInit:\n    userData: \"#cloud-config\\npackages: [nginx\\n\"\n"
        );
        let said =
            [embedded, kube].map(|kubectl| kubectl.feed("create -n default", &machine).stderr);
        assert!(
            said[0].contains(
                "spec.cloudInit.userData: Invalid value: \"packages: [nginx\": is not YAML"
            ),
            "{said:?}"
        );
        assert_eq!(said[0], said[1]);
    }
}

/// What is accepted although it should not be done: both say so.
fn warn_of_secrets(embedded: &Kubectl, kube: &Kubectl) {
    let proxmox = "apiVersion: vitistack.io/v1alpha1\nkind: ProxmoxConfig\nmetadata: {name: clear}\nspec: \
                   {endpoint: pve.example.com, username: root@pam, token: hush}\n";
    let said = [embedded, kube].map(|kubectl| {
        let words = "create -n default --dry-run=server";
        kubectl.feed(words, proxmox).stderr
    });
    assert!(
        said[0].contains("Warning: spec.token is a secret in clear text"),
        "{said:?}"
    );
    assert!(!said[0].contains("hush"), "{said:?}");
    assert_eq!(said[0], said[1]);
}

fn wait_for_both_versions(kubectl: &Kubectl) {
    for plural in ["machines", "machineproviders"] {
        wait_for("both versions to be served", || {
            let listed = kubectl.run(&format!("get {plural}.v1beta1.vitistack.io -A"), &[]);
            if listed.status.success() {
                Ok(())
            } else {
                Err(listed.stderr)
            }
        });
    }
}

/// The definitions alone are of use: nothing that is preferred needs a webhook that is not there.
#[test]
fn a_cluster_with_the_definitions_alone_can_be_used() {
    let sandbox = Sandbox::new();
    let Some(cluster) = Cluster::start(&sandbox) else {
        return;
    };
    let Some(kubectl) = Kubectl::current(&sandbox, &cluster.kubeconfig()) else {
        return;
    };
    let tree = peers::tree();
    let definitions = tree.join("crds");
    let definitions = definitions.to_str().unwrap();
    kubectl.ok_with("apply --server-side -f", &[definitions]);
    kubectl.ok("wait crd --all --for=condition=Established --timeout=180s");
    let quickstart = tree.join("examples/quickstart.yaml");
    wait_for("the kinds to be discovered", || {
        let applied = kubectl.run("apply -f", &[quickstart.to_str().unwrap()]);
        if applied.status.success() {
            Ok(())
        } else {
            Err(applied.stderr)
        }
    });
    let listed = kubectl.ok("get machines.vitistack.io");
    assert!(listed.contains("quickstart"), "{listed}");
    let read = kubectl.get("machines.vitistack.io quickstart");
    assert_eq!(read["apiVersion"], "vitistack.io/v1alpha1");
    let operator = operator::start(&sandbox, &cluster);
    wait_for_both_versions(&kubectl);
    let read = kubectl.get("machines.v1beta1.vitistack.io quickstart");
    assert_eq!(read["apiVersion"], "vitistack.io/v1beta1");
    operator.kill();
}

#[test]
fn both_servers_take_everything_that_is_documented() {
    let (ours, theirs) = (Sandbox::new(), Sandbox::new());
    let Some(cluster) = Cluster::start(&theirs) else {
        return;
    };
    let up = ours.up(&["--api-only"]);
    let kubeconfig = ours.data().join("kubeconfig");
    let (Some(embedded), Some(kube)) = (
        Kubectl::current(&ours, &kubeconfig),
        Kubectl::current(&theirs, &cluster.kubeconfig()),
    ) else {
        return;
    };
    let tree = peers::tree();
    let definitions = files(&tree.join("crds"));
    let mut rows = Vec::new();
    let mut compare = |what: &Path, ours: (String, Value), theirs: (String, Value)| {
        let equal = ours == theirs;
        rows.push((what.to_owned(), ours.0.clone(), theirs.0.clone(), equal));
        (!equal).then(|| format!("{}\n  {ours:?}\n  {theirs:?}", what.display()))
    };
    let mut different = Vec::new();
    for file in &definitions {
        // What a server adds to a definition is its own affair.
        let without = |(said, _): (String, Value)| (said, Value::Null);
        different.extend(compare(
            file.strip_prefix(&tree).unwrap(),
            without(applied(&embedded, file)),
            without(applied(&kube, file)),
        ));
    }
    kube.ok("wait crd --all --for=condition=Established --timeout=180s");
    let operator = operator::start(&theirs, &cluster);
    for kubectl in [&embedded, &kube] {
        wait_for_both_versions(kubectl);
    }
    let manifests = tree.join("crates/api/tests/manifests");
    for file in files(&manifests) {
        different.extend(compare(
            file.strip_prefix(&manifests).unwrap(),
            applied(&embedded, &file),
            applied(&kube, &file),
        ));
        // Several manifests use one name, and each is to be seen by itself.
        for kubectl in [&embedded, &kube] {
            let words = "delete -n default --ignore-not-found --timeout=120s -f";
            kubectl.ok_with(words, &[file.to_str().unwrap()]);
        }
    }
    refuses_what_only_a_parser_finds(&embedded, &kube);
    warn_of_secrets(&embedded, &kube);
    println!(
        "{:<58} {:<62} {:<62} equal",
        "file", "embedded", "kube-apiserver"
    );
    for (file, ours, theirs, equal) in &rows {
        let equal = if *equal { "yes" } else { "NO" };
        println!(
            "{:<58} {ours:<62} {theirs:<62} {equal}",
            file.display().to_string()
        );
    }
    println!("{} files, {} differences", rows.len(), different.len());
    operator.kill();
    drop(up);
    assert!(different.is_empty(), "{}", different.join("\n"));
    assert!(rows.len() > 25, "only {} files were seen", rows.len());
    let refused = rows
        .iter()
        .filter(|(_, said, ..)| !said.ends_with("serverside-applied"));
    assert_eq!(
        refused.count(),
        0,
        "everything that is documented is accepted"
    );
}
