//! Replicas of the operator behind one address, as a Service of Kubernetes has it.

use std::{
    io,
    net::{Shutdown, TcpListener, TcpStream},
    os::unix::process::CommandExt,
    path::Path,
    sync::{Arc, Mutex},
    thread,
};

use super::{Sandbox, Up, kube::free_ports, wait_for};

/// One address before the webhooks of all replicas that live.
pub struct Service {
    port: u16,
    backends: Arc<Mutex<Vec<u16>>>,
}

impl Service {
    /// Opens it; it is there until the test ends.
    pub fn open() -> Service {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let backends: Arc<Mutex<Vec<u16>>> = Arc::default();
        let known = backends.clone();
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let ports = known.lock().unwrap().clone();
                let reach = |port: &u16| TcpStream::connect(("127.0.0.1", *port)).ok();
                if let Some(backend) = ports.iter().rev().find_map(reach) {
                    let back = (backend.try_clone(), client.try_clone());
                    thread::spawn(move || forward(client, backend));
                    if let (Ok(backend), Ok(client)) = back {
                        thread::spawn(move || forward(backend, client));
                    }
                }
            }
        });
        Service { port, backends }
    }

    /// Starts a replica under this kubeconfig, and waits until it answers for its health.
    #[track_caller]
    pub fn replica(&self, sandbox: &Sandbox, kubeconfig: &Path, more: &[&str]) -> Up {
        let [health, webhooks] = free_ports();
        let mut command = sandbox.machinist("operator");
        command.arg("--kubeconfig").arg(kubeconfig);
        command.args(["--install-crds", "--leader-elect", "--lease-duration", "5"]);
        command.args(["--webhook-secret", "machinist-webhook"]);
        command.args(["--webhook-listen", &format!("127.0.0.1:{webhooks}")]);
        command.args(["--webhook-url", &format!("https://127.0.0.1:{}", self.port)]);
        command.args(["--listen", &format!("127.0.0.1:{health}")]);
        command.args(more);
        self.backends.lock().unwrap().push(webhooks);
        let mut up = Up::spawn(sandbox, command.process_group(0));
        wait_for("a replica to be there", || {
            assert!(up.lives(), "it ended: {}", up.stderr());
            let answers = TcpStream::connect(("127.0.0.1", health));
            answers.map_err(|_| up.stderr())
        });
        up
    }
}

/// Passes on what one says until it says no more.
fn forward(mut from: TcpStream, mut to: TcpStream) {
    let _ = io::copy(&mut from, &mut to);
    let _ = to.shutdown(Shutdown::Write);
}
