//! The same engine on a real Kubernetes: kube-apiserver and etcd are the oracle.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failed assumption in a test is a failed test"
)]

mod support;

use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
    path::PathBuf,
};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api, Client, ResourceExt,
    api::{
        ApiResource, DeleteParams, DynamicObject, GroupVersionKind, Patch, PatchParams, PostParams,
    },
    runtime::wait::{Condition, await_condition, conditions::is_crd_established},
};
use serde_json::{Value, json};
use support::{
    Kubectl, Sandbox, Up,
    kube::{self as real, Cluster},
    peers, process,
    wait::wait_until,
    wait_for,
};

fn get(port: u16, path: &str) -> Option<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n"
    )
    .ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    answer.starts_with("HTTP/1.1 200").then_some(answer)
}

/// An operator that is ready, and where it says so.
fn start_operator(sandbox: &Sandbox, cluster: &Cluster) -> (Up, u16) {
    let [port] = real::free_ports();
    let mut command = sandbox.machinist("operator");
    command.arg("--kubeconfig").arg(cluster.kubeconfig());
    command.args(["--install-crds", "--listen", &format!("127.0.0.1:{port}")]);
    let mut operator = Up::spawn(sandbox, &mut command);
    wait_for("the operator to be ready", || {
        assert!(operator.lives(), "it ended: {}", operator.stderr());
        get(port, "/readyz").ok_or_else(|| operator.stderr())
    });
    (operator, port)
}

#[test]
fn the_quickstart_on_a_real_cluster() {
    let Some(image) = peers::peer("MACHINIST_GUEST_IMAGE") else {
        return;
    };
    let _guests = peers::boot_guests();
    let sandbox = Sandbox::with_image(&image);
    let Some(cluster) = Cluster::start(&sandbox) else {
        return;
    };
    let Some(kubectl) = Kubectl::current(&sandbox, &cluster.kubeconfig()) else {
        return;
    };
    let (operator, port) = start_operator(&sandbox, &cluster);
    for crd in ["machines", "machineproviders"] {
        kubectl.ok(&format!(
            "wait crd/{crd}.vitistack.io --for=condition=Established --timeout=180s"
        ));
    }
    let quickstart = peers::tree().join("examples/quickstart.yaml");
    kubectl.ok(&format!("apply -f {}", quickstart.display()));
    kubectl.ok("wait machines.vitistack.io/quickstart --for=condition=Ready --timeout=180s");
    let table = kubectl.ok("get machines.vitistack.io");
    let mut rows = table
        .lines()
        .map(|row| row.split_whitespace().collect::<Vec<_>>());
    let columns = ["NAME", "PHASE", "READY", "IP", "PROVIDER", "AGE"];
    assert_eq!(rows.next().unwrap(), columns);
    let row = rows.next().unwrap();
    assert_eq!(row[..3], ["quickstart", "Running", "True"], "{table}");
    let machine = kubectl.get("machines.vitistack.io quickstart");
    let guest = sandbox.qemus();
    assert_eq!(guest.len(), 1, "{guest:?}");
    assert_eq!(guest[0].uuid, machine["metadata"]["uid"]);
    let log = machine["status"]["providerStatus"]["consoleLog"].clone();
    let log = PathBuf::from(log.as_str().unwrap());
    wait_until("the guest to run its user data", || {
        let console = fs::read(&log).unwrap_or_default();
        String::from_utf8_lossy(&console).contains("machinist-quickstart: up")
    });
    let metrics = get(port, "/metrics").unwrap();
    assert!(
        metrics.contains("call=\"create\",result=\"ok\""),
        "{metrics}"
    );

    // An operator that is killed leaves the guest; the next one adopts it and can remove it.
    operator.kill();
    assert_eq!(sandbox.qemus(), guest);
    let (operator, _) = start_operator(&sandbox, &cluster);
    kubectl.ok("delete machines.vitistack.io quickstart --wait=false");
    wait_for("the machine to go", || {
        match kubectl.ok("get machines.vitistack.io -o yaml") {
            left if left.contains("quickstart") => Err((left, operator.stderr())),
            _ => Ok(()),
        }
    });
    assert_eq!(sandbox.qemus(), []);
    assert!(
        sandbox.machine_dirs().is_empty(),
        "{:?}",
        sandbox.machine_dirs()
    );
    kubectl.ok("delete machineprovider local --timeout=180s");
}

/// Installs what `machinist crds` prints.
async fn install_crds(client: &Client, crds: &[CustomResourceDefinition]) {
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    for crd in crds {
        api.create(&PostParams::default(), crd).await.unwrap();
    }
    for crd in crds {
        await_condition(api.clone(), &crd.name_any(), is_crd_established())
            .await
            .unwrap();
    }
}

/// One manifest, and what every server must say of it.
struct Case {
    name: String,
    /// The object as it was before, when the case is about a change.
    was: Option<Value>,
    manifest: Value,
    /// What a refusal says; none means acceptance.
    refusal: Option<String>,
}

/// Every YAML file below a directory of the API's tests.
fn files(directory: &str) -> Vec<(String, String)> {
    let root = peers::tree().join("crates/api/tests").join(directory);
    let mut directories = vec![root.clone()];
    let mut files = Vec::new();
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
            } else if path
                .extension()
                .is_some_and(|extension| extension == "yaml")
            {
                let name = path.strip_prefix(&root).unwrap().display().to_string();
                files.push((name, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    files.sort();
    files
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (file, text) in files("manifests") {
        let documents: Vec<Value> = serde_saphyr::from_multiple(&text).unwrap();
        cases.extend(
            documents
                .into_iter()
                .enumerate()
                .map(|(index, manifest)| Case {
                    name: format!("{file} #{}", index + 1),
                    was: None,
                    manifest,
                    refusal: None,
                }),
        );
    }
    for (file, text) in files("cases") {
        let list: Vec<Value> = serde_saphyr::from_str(&text).unwrap();
        cases.extend(list.into_iter().map(|case| Case {
            name: format!("{file}: {}", case["name"].as_str().unwrap()),
            was: case.get("was").cloned(),
            manifest: case["manifest"].clone(),
            refusal: case["expect"]["reject"].as_str().map(str::to_owned),
        }));
    }
    cases
}

/// Where the objects of a manifest's kind are, as its definition says.
fn api_of(
    client: &Client,
    crds: &[CustomResourceDefinition],
    manifest: &Value,
) -> Api<DynamicObject> {
    let (group, version) = manifest["apiVersion"]
        .as_str()
        .unwrap()
        .split_once('/')
        .unwrap();
    let kind = manifest["kind"].as_str().unwrap();
    let gvk = GroupVersionKind::gvk(group, version, kind);
    let crd = crds
        .iter()
        .find(|crd| crd.spec.group == group && crd.spec.names.kind == kind)
        .unwrap_or_else(|| panic!("no definition of {kind} in {group}"));
    let resource = ApiResource::from_gvk_with_plural(&gvk, &crd.spec.names.plural);
    match crd.spec.scope.as_str() {
        "Cluster" => Api::all_with(client.clone(), &resource),
        _ => Api::namespaced_with(client.clone(), "default", &resource),
    }
}

/// What a server says to a creation or a change without effect: nothing, or its refusal.
async fn verdict(
    client: &Client,
    crds: &[CustomResourceDefinition],
    case: &Case,
) -> Option<String> {
    let api = api_of(client, crds, &case.manifest);
    let namespaced = api.resource_url().contains("/namespaces/");
    let object = |manifest: &Value| {
        let mut object: DynamicObject = serde_json::from_value(manifest.clone()).unwrap();
        object.metadata.namespace = namespaced.then(|| "default".into());
        object
    };
    let mut after = object(&case.manifest);
    let name = after.name_any();
    let dry_run = PostParams {
        dry_run: true,
        field_manager: None,
    };
    let status = Patch::Merge(json!({"status": case.manifest["status"]}));
    let params = PatchParams::default();
    let trial = params.clone().dry_run();
    let said = match &case.was {
        None => {
            let said = refusal(api.create(&dry_run, &after).await);
            if said.is_some() || case.manifest["status"].is_null() {
                return said;
            }
            // A creation leaves the status out: it is judged where it is written.
            api.create(&PostParams::default(), &after).await.unwrap();
            refusal(api.patch_status(&name, &trial, &status).await)
        }
        Some(was) => {
            let mut before = api
                .create(&PostParams::default(), &object(was))
                .await
                .unwrap();
            if !was["status"].is_null() {
                let status = Patch::Merge(json!({"status": was["status"]}));
                before = api.patch_status(&name, &params, &status).await.unwrap();
            }
            after.metadata.resource_version = before.metadata.resource_version;
            match refusal(api.replace(&name, &dry_run, &after).await) {
                None if !case.manifest["status"].is_null() => {
                    refusal(api.patch_status(&name, &trial, &status).await)
                }
                said => said,
            }
        }
    };
    api.delete(&name, &DeleteParams::default()).await.unwrap();
    await_condition(
        api,
        &name,
        Condition::not(|found: Option<&_>| found.is_some()),
    )
    .await
    .unwrap();
    said
}

fn refusal(outcome: Result<DynamicObject, ::kube::Error>) -> Option<String> {
    match outcome {
        Ok(_) => None,
        Err(::kube::Error::Api(status)) if (400..500).contains(&status.code) => {
            Some(status.message)
        }
        Err(error) => panic!("not a verdict: {error}"),
    }
}

fn agrees(expected: Option<&str>, said: Option<&str>) -> bool {
    match (expected, said) {
        (None, None) => true,
        (Some(expected), Some(said)) => said.contains(expected),
        _ => false,
    }
}

#[test]
fn both_servers_give_the_same_verdict() {
    let _guests = peers::boot_guests();
    let sandbox = Sandbox::new();
    let Some(cluster) = Cluster::start(&sandbox) else {
        return;
    };
    let up = sandbox.up(&[]);
    let printed =
        process::run(std::process::Command::new(env!("CARGO_BIN_EXE_machinist")).arg("crds"));
    let crds: Vec<CustomResourceDefinition> = serde_saphyr::from_multiple(&printed.stdout).unwrap();
    let cases = cases();
    assert!(cases.len() > 50, "{} cases", cases.len());
    let differences: Vec<String> = real::runtime().block_on(async {
        let real = real::client(&cluster.kubeconfig()).await.unwrap();
        let embedded = real::client(&up.kubeconfig()).await.unwrap();
        install_crds(&real, &crds).await;
        let mut differences = Vec::new();
        for case in &cases {
            let real = verdict(&real, &crds, case).await;
            let embedded = verdict(&embedded, &crds, case).await;
            let said = (real, embedded);
            let Case { name, refusal, .. } = case;
            let good = agrees(refusal.as_deref(), said.0.as_deref())
                && agrees(refusal.as_deref(), said.1.as_deref());
            if !good {
                differences.push(format!(
                    "{name}\n  expected  {refusal:?}\n  real      {:?}\n  embedded  {:?}",
                    said.0, said.1
                ));
            }
        }
        differences
    });
    assert!(
        differences.is_empty(),
        "{} of {} cases:\n{}",
        differences.len(),
        cases.len(),
        differences.join("\n")
    );
}
