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

use support::{
    Kubectl, Sandbox, Up,
    kube::{self as real, Cluster},
    peers,
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
