//! `machinist bundle`: what helps is in it, and no secret is, wherever it was planted.

use std::{collections::BTreeMap, fs::File, io::Read, os::unix::fs::PermissionsExt, path::Path};

use crate::{
    ask, scene,
    support::{Kubectl, Sandbox, manifests},
};

/// Every file of a bundle, without the directory that they lie in.
fn unpack(path: &Path) -> BTreeMap<String, String> {
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(File::open(path).unwrap()));
    let mut files = BTreeMap::new();
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let name = entry.path().unwrap().display().to_string();
        let mut text = String::new();
        entry.read_to_string(&mut text).unwrap();
        files.insert(name.split_once('/').unwrap().1.to_owned(), text);
    }
    files
}

const PLANTED: &str = r#"
apiVersion: v1
kind: Secret
metadata: {name: keys, namespace: default}
stringData: {key: planted-secret-data}
data: {other: cGxhbnRlZC1iYXNlNjQtZGF0YQ==}
---
apiVersion: vitistack.io/v1alpha1
kind: MachineProvider
metadata:
  name: leaky
  namespace: default
  annotations:
    example.org/copy: '{"spec":{"token":"planted-annotation-token"}}'
    example.org/password: planted-annotation-password
spec:
  type: sim
  region: moon
  authentication: {type: apikey, apiKey: {secretRef: {name: keys, key: key}}}
  config:
    endpoint: https://planted-user:planted-url-password@cloud.example.org/api
    customSettings: {pin: planted-custom-setting}
---
apiVersion: vitistack.io/v1alpha1
kind: ProxmoxConfig
metadata: {name: px, namespace: default}
spec: {endpoint: "https://px.example.org:8006", username: root, token: planted-proxmox-token}
"#;

#[test]
fn a_bundle_holds_what_helps_and_no_secret() {
    let sandbox = Sandbox::new();
    let scene = scene(&sandbox, &[]);
    let Some(kubectl) = Kubectl::current(&sandbox, &scene.up.kubeconfig()) else {
        return;
    };
    let machine = manifests::machine("web", "sim", "any").replace("region: local", "region: moon");
    let machine = format!(
        "{machine}  tags: {{db-password: planted-tag-password}}
  cloudInit:
    userDataBase64: cGxhbnRlZC11c2VyLWRhdGEtYjY0eHh4
    metaData: 'secret: planted-meta-data'
    networkData: 'key: planted-network-data'
"
    )
    .replace(
        "region: moon}",
        "region: moon, config: {anything: planted-machine-setting}}",
    );
    let plain = manifests::machine("plain", "sim", "any");
    let plain = format!("{plain}  userData: |\n    #!/bin/sh\n    export PIN=planted-user-data\n");
    let event = "apiVersion: v1
kind: Event
metadata: {name: told, namespace: default}
involvedObject: {apiVersion: vitistack.io/v1beta1, kind: Machine, name: web, namespace: default}
reason: Login
message: could not log in with planted-secret-data and planted-base64-data
type: Warning
";
    kubectl.feed_ok("apply", &[PLANTED, &machine, &plain, event].join("---\n"));
    scene.expect(
        "MachineProvider",
        "leaky",
        ("Ready", "False"),
        &["planted-custom-setting"],
    );
    scene.expect("Machine", "plain", ("Ready", "True"), &[]);
    scene.expect("Machine", "web", ("Ready", "False"), &[]);

    let path = sandbox.path("bundle.tar.gz");
    let answer = ask(&sandbox, &format!("bundle {}", path.display()));
    assert_eq!(answer.code(), Some(0), "{answer:#?}");
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let files = unpack(&path);
    for name in [
        "README.txt",
        "objects/machines.vitistack.io.yaml",
        "objects/machineproviders.vitistack.io.yaml",
        "objects/proxmoxconfigs.vitistack.io.yaml",
        "objects/default/secrets.yaml",
        "events.yaml",
        "server/version.yaml",
        "server/metrics.txt",
        "why/machines.vitistack.io_default_web.txt",
        "why/machineproviders.vitistack.io_default_leaky.txt",
    ] {
        assert!(files.contains_key(name), "{name} in {:?}", files.keys());
    }
    for (name, text) in &files {
        assert!(!text.contains("planted"), "{name}: {text}");
        assert!(!text.contains("cGxhbnRlZ"), "{name}: {text}");
    }
    // What remains is still of use.
    let machines = &files["objects/machines.vitistack.io.yaml"];
    for kept in ["name: plain", "instanceType: small", "region: moon"] {
        assert!(machines.contains(kept), "{kept} in {machines}");
    }
    assert!(files["objects/default/secrets.yaml"].contains("name: keys"));
    assert!(files["events.yaml"].contains("could not log in with (removed)"));
}
