//! `machinist operator` beside a real cluster, for the webhooks that it serves.

use super::{
    Sandbox, Up,
    kube::{Cluster, free_ports},
    wait_for,
};

/// Starts one without an engine, so that nobody acts on what is applied, and waits until the
/// webhooks are configured.
pub fn start(sandbox: &Sandbox, cluster: &Cluster) -> Up {
    let [port] = free_ports();
    let mut command = sandbox.machinist("operator");
    command.arg("--kubeconfig").arg(cluster.kubeconfig());
    command.args(["--listen", &format!("127.0.0.1:{port}")]);
    command.args(["--webhook-listen", "127.0.0.1:0", "--webhooks-only"]);
    let mut operator = Up::spawn(sandbox, &mut command);
    wait_for("the operator to start", || {
        assert!(operator.lives(), "it ended: {}", operator.stderr());
        let log = operator.stderr();
        if log.contains("operator started") {
            Ok(())
        } else {
            Err(log)
        }
    });
    operator
}
