//! Real kubectl, the current one and an older one, against the embedded API server.
//!
//! The simulated provider carries the machines out: what is proved here is the API, not the guest.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failed assumption in a test is a failed test"
)]

#[path = "../support/mod.rs"]
mod support;

mod changing;
mod reading;

use support::{
    Kubectl, Sandbox, Up,
    manifests::{machine, provider},
};

/// Each test runs once for each.
const KUBECTLS: [&str; 2] = ["MACHINIST_KUBECTL", "MACHINIST_KUBECTL_OLD"];

/// Runs a test with each kubectl, each on a fresh control plane that has a provider.
fn with_each(test: impl Fn(&Kubectl, &Sandbox)) {
    for variable in KUBECTLS {
        let sandbox = Sandbox::new();
        let up: Up = sandbox.up(&[]);
        let Some(kubectl) = Kubectl::named(variable, &sandbox, &up.kubeconfig()) else {
            return;
        };
        kubectl.feed_ok("apply", &provider("sim"));
        kubectl.ok("wait machineprovider/local --for=condition=Ready --timeout=180s");
        test(&kubectl, &sandbox);
    }
}

fn web() -> String {
    machine("web", "sim", "debian-12")
}

fn bigger(text: &str) -> String {
    text.replace("sizeGB: 1,", "sizeGB: 2,")
}

/// Every text must be in what was printed.
#[track_caller]
fn assert_has(printed: &str, texts: &[&str]) {
    for text in texts {
        assert!(printed.contains(text), "{text:?} is not in:\n{printed}");
    }
}

#[test]
fn client_side_apply() {
    with_each(|kubectl, _| {
        assert_has(
            &kubectl.feed_ok("apply", &web()),
            &["machine.vitistack.io/web created"],
        );
        assert_has(
            &kubectl.feed_ok("apply", &web()),
            &["machine.vitistack.io/web unchanged"],
        );
        assert_has(
            &kubectl.feed_ok("apply", &bigger(&web())),
            &["machine.vitistack.io/web configured"],
        );
        assert_eq!(
            kubectl.get("machines.v1alpha1.vitistack.io web")["spec"]["disks"][0]["sizeGB"],
            2
        );
        // What leaves the manifest leaves the object.
        let without = bigger(&web()).replace("  labels: {tier: test}\n", "");
        kubectl.feed_ok("apply", &without);
        assert!(kubectl.get("machine web")["metadata"]["labels"].is_null());
        assert_has(
            &kubectl.feed_ok("apply", &provider("sim")),
            &["machineprovider.vitistack.io/local unchanged"],
        );
    });
}

#[test]
fn server_side_apply() {
    with_each(|kubectl, _| {
        let as_ = |manager: &str| format!("apply --server-side --field-manager={manager}");
        for _ in 0..2 {
            assert_has(
                &kubectl.feed_ok(&as_("one"), &web()),
                &["machine.vitistack.io/web serverside-applied"],
            );
        }
        let generation = kubectl.get("machine web")["metadata"]["generation"].clone();
        kubectl.feed_ok(&as_("one"), &web());
        assert_eq!(
            kubectl.get("machine web")["metadata"]["generation"],
            generation
        );
        let conflict = kubectl.feed(&as_("two"), &bigger(&web()));
        assert!(!conflict.status.success());
        assert_has(
            &conflict.stderr,
            &["conflict", "\"one\"", ".spec.disks[name=\"root\"].sizeGB"],
        );
        assert_eq!(
            kubectl.get("machines.v1alpha1.vitistack.io web")["spec"]["disks"][0]["sizeGB"],
            1
        );
        kubectl.feed_ok(
            &format!("{} --force-conflicts", as_("two")),
            &bigger(&web()),
        );
        assert_eq!(
            kubectl.get("machines.v1alpha1.vitistack.io web")["spec"]["disks"][0]["sizeGB"],
            2
        );
        let owners = kubectl.ok("get machine web -o yaml --show-managed-fields");
        assert_has(&owners, &["manager: one", "manager: two", "f:sizeGB: {}"]);
        let other = provider("sim").replace("region: local", "region: north");
        let conflict = kubectl.feed("apply --server-side --field-manager=two", &other);
        assert_has(&conflict.stderr, &["conflict", ".spec.region"]);
    });
}

#[test]
fn trying_without_effect() {
    with_each(|kubectl, _| {
        for words in [
            "apply --dry-run=server",
            "apply --server-side --dry-run=server",
            "create --dry-run=server",
        ] {
            assert_has(
                &kubectl.feed_ok(words, &web()),
                &["machine.vitistack.io/web", "(server dry run)"],
            );
            assert_eq!(kubectl.ok("get machines"), "");
        }
        kubectl.feed_ok("apply", &web());
        assert_eq!(kubectl.feed("diff", &web()).code(), Some(0));
        let diff = kubectl.feed("diff", &bigger(&web()));
        assert_eq!(diff.code(), Some(1), "{diff:#?}");
        assert_has(&diff.stdout, &["-    sizeGB: 1", "+    sizeGB: 2"]);
        assert_eq!(
            kubectl.get("machines.v1alpha1.vitistack.io web")["spec"]["disks"][0]["sizeGB"],
            1
        );
    });
}

#[test]
fn what_is_wrong_is_named() {
    with_each(|kubectl, _| {
        let wrong = |from: &str, to: &str| web().replace(from, to);
        for (manifest, said) in [
            (
                wrong("sizeGB: 1,", "sizeGB: 1, sizeMB: 5,"),
                &["unknown field", "spec.disks[0].sizeMB"][..],
            ),
            (
                wrong("cores: 1", "cores: 300"),
                &["spec.cpu.cores", "300", "256"],
            ),
            (
                wrong("sizeGB: 1,", "sizeGB: 0,"),
                &["spec.disks[0].sizeGB", "0", "greater than or equal to 1"],
            ),
            (
                wrong("family: linux", "family: beos"),
                &["spec.os.family", "\"beos\"", "\"linux\""],
            ),
            (
                wrong("  instanceType: small\n", ""),
                &["spec.instanceType is required"],
            ),
            (provider("clouds"), &["spec.type", "\"clouds\"", "\"qemu\""]),
            (
                provider("sim").replace("region:", "area: x, region:"),
                &["unknown field", "spec.area"],
            ),
        ] {
            for words in [
                "apply",
                "apply --server-side --field-manager=other --force-conflicts",
            ] {
                let refused = kubectl.feed(words, &manifest);
                assert!(
                    !refused.status.success(),
                    "{words}: {refused:#?}\n{manifest}"
                );
                // An apply on the server's side speaks of unknown fields in words of its own.
                let said: Vec<&str> = said
                    .iter()
                    .map(|word| match *word {
                        "unknown field" if words.contains("--server-side") => {
                            "field not declared in schema"
                        }
                        word => word,
                    })
                    .collect();
                assert_has(&refused.stderr, &said);
            }
        }
        assert_eq!(kubectl.ok("get machines"), "");
        assert_eq!(kubectl.get("mp local")["spec"]["type"], "sim");
    });
}
