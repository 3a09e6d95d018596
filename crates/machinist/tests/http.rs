//! What is served besides the API, and to whom.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failed assumption in a test is a failed test"
)]

mod support;

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use kube::{Client, config::Kubeconfig};
use support::{Sandbox, kube as real, manifests, wait_for};

/// A client that trusts the server but has nothing to show.
async fn nobody(kubeconfig: &Path) -> Client {
    let mut kubeconfig = Kubeconfig::read_from(kubeconfig).unwrap();
    for user in &mut kubeconfig.auth_infos {
        user.auth_info = Some(Default::default());
    }
    real::client_of(kubeconfig).await.unwrap()
}

async fn get(client: &Client, path: &str) -> Result<String, kube::Error> {
    let request = http::Request::get(path).body(Vec::new()).unwrap();
    client.request_text(request).await
}

#[test]
fn health_version_and_metrics() {
    let sandbox = Sandbox::new();
    let file = sandbox.write("provider.yaml", &manifests::provider("sim"));
    let up = sandbox.up(&["-f", file.to_str().unwrap()]);
    let runtime = real::runtime();
    let client = runtime.block_on(real::client(&up.kubeconfig())).unwrap();
    for (path, said) in [
        ("/readyz", "ok"),
        ("/livez", "ok"),
        ("/healthz", "ok"),
        ("/version", "\"gitVersion\""),
        ("/metrics", "apiserver_request_total{"),
        ("/metrics", "controller_runtime_reconcile_total{"),
        (
            "/metrics",
            "machinist_provider_call_duration_seconds_count{",
        ),
        ("/apis/vitistack.io/v1alpha1", "MachineProvider"),
    ] {
        // The engine's figures are there once it has done something.
        wait_for(said, || {
            let answer = runtime.block_on(get(&client, path)).unwrap();
            answer.contains(said).then_some(()).ok_or(answer)
        });
    }
    let metrics = runtime.block_on(get(&client, "/metrics")).unwrap();
    assert_eq!(metrics.matches("# EOF").count(), 1, "{metrics}");
    assert!(metrics.ends_with("# EOF\n"), "{metrics}");
}

#[test]
fn nobody_gets_in_without_a_certificate_or_a_token() {
    let sandbox = Sandbox::new();
    let up = sandbox.up(&[]);
    let runtime = real::runtime();
    let client = runtime.block_on(nobody(&up.kubeconfig()));
    for path in [
        "/api/v1/namespaces",
        "/apis/vitistack.io/v1alpha1/machines",
        "/metrics",
    ] {
        let refused = runtime.block_on(get(&client, path)).unwrap_err();
        let refused = format!("{refused:?}");
        assert!(refused.contains("code: 401"), "{path}: {refused}");
    }
    let admin = runtime.block_on(real::client(&up.kubeconfig())).unwrap();
    runtime.block_on(get(&admin, "/api/v1/namespaces")).unwrap();
}

#[test]
fn a_certificate_of_another_authority_is_refused() {
    let (here, there) = (Sandbox::new(), Sandbox::new());
    let (up, other) = (here.up(&[]), there.up(&[]));
    real::runtime().block_on(async {
        let mut mixed = Kubeconfig::read_from(up.kubeconfig()).unwrap();
        mixed.auth_infos = Kubeconfig::read_from(other.kubeconfig())
            .unwrap()
            .auth_infos;
        let client = real::client_of(mixed).await.unwrap();
        let refused = get(&client, "/api/v1/namespaces").await.unwrap_err();
        let refused = format!("{refused:?}");
        assert!(refused.contains("code: 401"), "{refused}");
    });
}

#[test]
fn secrets_on_disk_are_the_owners_alone() {
    let sandbox = Sandbox::new();
    let extra = sandbox.path("extra-kubeconfig");
    let up = sandbox.up(&["--write-kubeconfig", extra.to_str().unwrap()]);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&sandbox.data()), 0o700);
    for path in [&up.kubeconfig(), &extra] {
        assert_eq!(mode(path), 0o600, "{}", path.display());
    }
    assert_eq!(
        fs::read(&extra).unwrap(),
        fs::read(up.kubeconfig()).unwrap()
    );
    let keys = fs::read_dir(sandbox.data().join("pki")).unwrap();
    let keys: Vec<_> = keys.map(|entry| entry.unwrap().path()).collect();
    assert!(!keys.is_empty());
    let is_private = |path: &Path| fs::read_to_string(path).unwrap().contains("PRIVATE KEY");
    let private: Vec<_> = keys.iter().filter(|path| is_private(path)).collect();
    assert!(!private.is_empty(), "no private key in {keys:?}");
    for path in private {
        assert_eq!(mode(path), 0o600, "{}", path.display());
    }
    // The authority is made once: a kubeconfig in somebody's hands stays good.
    let before = fs::read_to_string(up.kubeconfig()).unwrap();
    drop(up);
    let up = sandbox.up(&[]);
    let certificate = |text: &str| {
        let line = text
            .lines()
            .find(|line| line.contains("certificate-authority-data"));
        line.unwrap().trim().to_owned()
    };
    let after = fs::read_to_string(up.kubeconfig()).unwrap();
    assert_eq!(certificate(&before), certificate(&after));
}
