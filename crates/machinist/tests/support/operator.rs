//! `machinist operator` beside a real cluster.

use std::process::Command;

use super::{
    Sandbox, Up,
    kube::{Cluster, free_ports},
    wait_for,
};

/// Starts one without an engine, so that nobody acts on what is applied, and waits until the
/// webhooks are configured.
#[track_caller]
pub fn start(sandbox: &Sandbox, cluster: &Cluster) -> Up {
    start_with(sandbox, cluster, "--webhooks-only")
}

/// Starts a whole one, which brings our definitions, and waits until the webhooks are configured.
#[track_caller]
pub fn start_whole(sandbox: &Sandbox, cluster: &Cluster) -> Up {
    start_with(sandbox, cluster, "--install-crds")
}

#[track_caller]
fn start_with(sandbox: &Sandbox, cluster: &Cluster, flag: &str) -> Up {
    start_as(sandbox, cluster, &[flag], |_| {})
}

/// Starts one with these flags and what else it is to be told, and waits until the webhooks are
/// configured.
#[track_caller]
pub fn start_as(
    sandbox: &Sandbox,
    cluster: &Cluster,
    flags: &[&str],
    tell: impl FnOnce(&mut Command),
) -> Up {
    let [port] = free_ports();
    let mut command = sandbox.machinist("operator");
    command.arg("--kubeconfig").arg(cluster.kubeconfig());
    command.args(flags);
    command.args(["--listen", &format!("127.0.0.1:{port}")]);
    command.args(["--webhook-listen", "127.0.0.1:0"]);
    tell(&mut command);
    let mut operator = Up::spawn(sandbox, &mut command);
    wait_for("the operator to start", || {
        assert!(operator.lives(), "it ended: {}", operator.stderr());
        let log = operator.stderr();
        match log.contains("operator started") {
            true => Ok(()),
            false => Err(log),
        }
    });
    operator
}
