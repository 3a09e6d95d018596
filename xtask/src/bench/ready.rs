//! Waiting for an API server: cheaply until it is ready, then with kubectl.

use std::{
    path::Path,
    process::Stdio,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};
use tokio::{process::Command, time::sleep};

use super::process::Process;

/// How often a server is asked.
const LOOK: Duration = Duration::from_millis(5);
/// A busy machine may take long; a server that hangs takes longer.
pub(super) const PATIENCE: Duration = Duration::from_secs(180);

/// Waits until the server behind a kubeconfig says that it is ready.
pub(super) async fn until_ready(kubeconfig: &Path, server: &mut Process) -> Result<Client> {
    let began = Instant::now();
    // Kept once made: what is polled is the server, not the reading of a file.
    let mut client = None;
    loop {
        server.check()?;
        if client.is_none() {
            client = connect(kubeconfig).await;
        }
        if let Some(client) = &client
            && is_ready(client).await
        {
            return Ok(client.clone());
        }
        if began.elapsed() > PATIENCE {
            bail!("the server was not ready within {PATIENCE:?}");
        }
        sleep(LOOK).await;
    }
}

/// Both servers write the certificates that a client needs while they start: `None` until then.
async fn connect(kubeconfig: &Path) -> Option<Client> {
    let kubeconfig = Kubeconfig::read_from(kubeconfig).ok()?;
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await;
    Client::try_from(config.ok()?).ok()
}

async fn is_ready(client: &Client) -> bool {
    let request = http::Request::get("/readyz").body(Vec::new());
    match request {
        Ok(request) => client.request_text(request).await.is_ok(),
        Err(_) => false,
    }
}

/// Runs `kubectl get KIND` until it succeeds, as a user without any cache.
pub(super) async fn until_kubectl_gets(
    kubectl: &Path,
    kubeconfig: &Path,
    cache: &Path,
    kind: &str,
) -> Result<()> {
    let began = Instant::now();
    loop {
        let output = Command::new(kubectl)
            .arg("--kubeconfig")
            .arg(kubeconfig)
            .arg("--cache-dir")
            .arg(cache)
            .args(["get", kind])
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output()
            .await
            .context("cannot run kubectl")?;
        if output.status.success() {
            return Ok(());
        }
        if began.elapsed() > PATIENCE {
            let words = String::from_utf8_lossy(&output.stderr);
            bail!("kubectl get {kind} did not succeed within {PATIENCE:?}: {words}");
        }
        sleep(LOOK).await;
    }
}
