//! The quickstart from the first command to the last, with a real guest: `up`, what it shows,
//! Ctrl-C, adoption, `down`.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failed assumption in a test is a failed test"
)]

mod support;

use std::path::Path;

use futures::{StreamExt, TryStreamExt};
use kube::{
    Api,
    api::{WatchEvent, WatchParams},
};
use machinist_api::vitistack::Machine;
use support::{
    Kubectl, Sandbox, Up, control_plane::phase, kube as real, manifests, peers, wait::wait_until,
    wait_for,
};

const MARKER: &str = "machinist-quickstart: up";

fn quickstart() -> String {
    let path = peers::tree().join("examples/quickstart.yaml");
    path.to_str().unwrap().to_owned()
}

/// The phases that a watch from the beginning of time shows, without repetitions.
fn phases_since_birth(kubeconfig: &Path) -> Vec<String> {
    real::runtime().block_on(async {
        let client = real::client(kubeconfig).await.unwrap();
        let machines: Api<Machine> = Api::namespaced(client, "default");
        let from_birth = machines.watch(&WatchParams::default(), "1").await.unwrap();
        let phases = from_birth.try_filter_map(|event| async {
            Ok(match event {
                WatchEvent::Added(machine) | WatchEvent::Modified(machine) => Some(phase(&machine)),
                other => panic!("not an addition or a change: {other:?}"),
            })
        });
        let mut seen: Vec<String> = Vec::new();
        let mut phases = phases.boxed();
        while seen.last().is_none_or(|phase| phase != "Running") {
            seen.push(phases.try_next().await.unwrap().unwrap());
        }
        seen.retain(|phase| !phase.is_empty());
        seen.dedup();
        seen
    })
}

#[track_caller]
fn assert_ready(kubectl: &Kubectl) {
    let machine = kubectl.get("machine quickstart");
    let status = &machine["status"];
    let address = status["ipAddresses"][0].as_str().unwrap();
    address.parse::<std::net::IpAddr>().unwrap();
    for expected in ["Ready", "InfrastructureReady", "NetworkReady"] {
        let conditions = status["conditions"].as_array().unwrap();
        let condition = conditions.iter().find(|c| c["type"] == expected).unwrap();
        assert_eq!(condition["status"], "True", "{condition}");
        assert_eq!(
            condition["observedGeneration"],
            machine["metadata"]["generation"]
        );
    }
    let row = kubectl.ok("get machines --no-headers");
    let columns: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(
        columns[..5],
        ["quickstart", "Running", "True", address, "local"]
    );
}

fn printed_next(up: &Up, sandbox: &Sandbox) {
    wait_until("what to type next", || up.stdout().contains("Ctrl-C"));
    let said = up.stdout();
    let data = sandbox.data();
    let data = data.display();
    for command in [
        format!("kubectl --kubeconfig {data}/kubeconfig get machines\n"),
        format!("machinist console quickstart --data-dir {data}\n"),
        format!("kubectl --kubeconfig {data}/kubeconfig delete machine quickstart\n"),
    ] {
        assert!(said.contains(&command), "{command:?} is not in {said}");
    }
    let place = |phase: &str| {
        said.find(phase)
            .unwrap_or_else(|| panic!("no {phase} in {said}"))
    };
    assert!(place("Pending") < place("Creating") && place("Creating") < place("Running"));
}

fn refused_beside(first: &Up, sandbox: &Sandbox, kubectl: &Kubectl) {
    let second = sandbox.run("up", &["--listen", "127.0.0.1:0"]);
    assert_eq!(second.code(), Some(3), "{second:#?}");
    let url = first.url().unwrap();
    for named in [&format!("pid {}", first.pid()), &url, "--data-dir"] {
        assert!(
            second.stderr.contains(named),
            "{named:?} is not in {}",
            second.stderr
        );
    }
    assert!(kubectl.ok("get machines").contains("quickstart"));
}

#[test]
fn from_up_to_down() {
    let Some(image) = peers::peer("MACHINIST_GUEST_IMAGE") else {
        return;
    };
    let Some(_) = peers::program("qemu-system-x86_64") else {
        return;
    };
    let _guests = peers::boot_guests();
    let sandbox = Sandbox::with_image(&image);
    let up = sandbox.up_at_terminal(&["-f", &quickstart()]);
    let Some(kubectl) = Kubectl::current(&sandbox, &up.kubeconfig()) else {
        return;
    };

    assert_eq!(
        phases_since_birth(&up.kubeconfig()),
        ["Pending", "Creating", "Running"]
    );
    printed_next(&up, &sandbox);
    assert_ready(&kubectl);
    wait_for("the guest to run its user data", || {
        let console = sandbox.run("console", &["quickstart", "--dump"]);
        assert_eq!(console.code(), Some(0), "{console:#?}");
        console
            .stdout
            .contains(MARKER)
            .then_some(())
            .ok_or(console.stdout)
    });
    let guest = sandbox.qemus();
    assert_eq!(guest.len(), 1, "{guest:?}");
    let uid = kubectl.get("machine quickstart")["metadata"]["uid"].clone();
    assert_eq!(guest[0].uuid, uid);
    refused_beside(&up, &sandbox, &kubectl);

    // Ctrl-C ends the control plane alone; the next one finds the guest and leaves it running.
    assert!(up.interrupt().success());
    assert_eq!(sandbox.qemus(), guest);
    let again = sandbox.up_at_terminal(&["-f", &quickstart()]);
    printed_adopted(&again);
    assert_ready(&kubectl);
    assert_eq!(sandbox.qemus(), guest);
    assert_eq!(kubectl.get("machine quickstart")["metadata"]["uid"], uid);
    assert!(again.interrupt().success());

    // Nobody is up: `down` does it alone.
    let down = sandbox.run("down", &[]);
    assert_eq!(down.code(), Some(0), "{down:#?}");
    assert!(down.stdout.contains("1 machine removed"), "{down:#?}");
    assert_eq!(sandbox.qemus(), []);
    assert!(
        sandbox.machine_dirs().is_empty(),
        "{:?}",
        sandbox.machine_dirs()
    );
}

/// An adopted machine comes up without being created again.
fn printed_adopted(up: &Up) {
    wait_until("the machine to be shown", || up.stdout().contains("Next:"));
    let said = up.stdout();
    assert!(
        said.contains("Running") && !said.contains("Creating"),
        "{said}"
    );
}

#[test]
fn down_ends_the_control_plane_that_runs() {
    let Some(_) = peers::program("qemu-system-x86_64") else {
        return;
    };
    let _guests = peers::boot_guests();
    let sandbox = Sandbox::new();
    let disk = sandbox.empty_disk();
    let file = sandbox.write(
        "manifest.yaml",
        &[
            manifests::provider("qemu"),
            manifests::machine("one", "qemu", &disk),
            manifests::machine("two", "qemu", &disk),
        ]
        .join("---\n"),
    );
    let mut up = sandbox.up(&["-f", file.to_str().unwrap()]);
    wait_until("both machines", || up.stdout().contains("Next:"));
    assert_eq!(sandbox.qemus().len(), 2);
    let down = sandbox.run("down", &[]);
    assert_eq!(down.code(), Some(0), "{down:#?}");
    for line in ["machine/one", "machine/two", "2 machines removed"] {
        assert!(down.stdout.contains(line), "{down:#?}");
    }
    assert!(up.ended().success());
    assert_eq!(sandbox.qemus(), []);
    assert!(
        sandbox.machine_dirs().is_empty(),
        "{:?}",
        sandbox.machine_dirs()
    );
    // Twice is as good as once, and a directory that never was is nothing to complain about.
    assert_eq!(sandbox.run("down", &[]).code(), Some(0));
    let never = Sandbox::new().run("down", &[]);
    assert_eq!(never.code(), Some(0));
    assert!(never.stdout.contains("There is nothing in"), "{never:#?}");
}
