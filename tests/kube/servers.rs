//! etcd, kube-apiserver and kube-controller-manager as processes of a test, in a directory of it.
//!
//! Included by the tests of several crates (`#[path]`), each of which waits for readiness in its
//! own way. The processes end when this is dropped, and also when the test is killed before that:
//! the kernel ends them with their parent.

use std::fs::{self, File};
use std::net::TcpListener;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

mod tied;

/// The bearer token of the administrator.
pub const TOKEN: &str = "a-token-of-a-test";
const CONTROLLERS: &str = "namespace-controller,garbage-collector-controller,serviceaccount-controller,root-ca-certificate-publisher-controller,clusterrole-aggregation-controller";

/// The servers of a cluster.
pub struct Servers {
    /// In the order of their start.
    running: Vec<Child>,
    directory: PathBuf,
    assets: PathBuf,
    /// Where the API is served.
    pub port: u16,
    /// Where etcd listens for clients.
    pub etcd_port: u16,
}

impl Servers {
    /// Starts etcd and kube-apiserver; they are not ready yet. The directory must exist.
    pub fn start(assets: &Path, directory: &Path) -> Self {
        let [port, etcd_port, peer_port] = free_ports();
        let mut servers = Self {
            running: Vec::new(),
            directory: directory.to_owned(),
            assets: assets.to_owned(),
            port,
            etcd_port,
        };
        servers.start_etcd(peer_port);
        servers.start_apiserver();
        servers.write_kubeconfig();
        servers
    }

    /// Starts the controllers that need no nodes: namespaces end, garbage is collected.
    pub fn start_controllers(&mut self) {
        let mut command = self.program("kube-controller-manager");
        command.arg("--kubeconfig").arg(self.kubeconfig());
        command.args(["--controllers", CONTROLLERS]);
        command.args(["--leader-elect=false", "--secure-port", "0"]);
        command
            .arg("--service-account-private-key-file")
            .arg(self.directory.join("service-account.key"));
        command
            .arg("--root-ca-file")
            .arg(self.directory.join("certificates/apiserver.crt"));
        self.spawn("kube-controller-manager", command);
    }

    /// A kubeconfig for the administrator; its authority is there once the API is.
    pub fn kubeconfig(&self) -> PathBuf {
        self.directory.join("kubeconfig")
    }

    /// What a server that ended said, if one did.
    pub fn ended(&mut self) -> Option<String> {
        let ended = |server: &mut Child| server.try_wait().unwrap();
        let status = self.running.iter_mut().find_map(ended)?;
        let log = fs::read_to_string(self.directory.join("kube-apiserver.log"));
        let log = log.unwrap_or_default();
        Some(format!(
            "a server of the cluster ended with {status}: {log}"
        ))
    }

    fn start_etcd(&mut self, peer: u16) {
        let url = |port: u16| format!("http://127.0.0.1:{port}");
        let client = self.etcd_port;
        let mut command = self.program("etcd");
        command.arg("--data-dir").arg(self.directory.join("etcd"));
        command.args(["--unsafe-no-fsync", "--log-level", "warn"]);
        command.args(["--listen-client-urls", &url(client)]);
        command.args(["--advertise-client-urls", &url(client)]);
        command.args(["--listen-peer-urls", &url(peer)]);
        command.args(["--initial-advertise-peer-urls", &url(peer)]);
        command.args(["--initial-cluster", &format!("default={}", url(peer))]);
        self.spawn("etcd", command);
    }

    fn start_apiserver(&mut self) {
        let tokens = format!("{TOKEN},admin,admin,\"system:masters\"\n");
        let tokens = self.write("tokens.csv", &tokens);
        let key = rcgen::KeyPair::generate().unwrap();
        let private = self.write("service-account.key", &key.serialize_pem());
        let public = self.write("service-account.pub", &key.public_key_pem());
        let mut command = self.program("kube-apiserver");
        let etcd = format!("http://127.0.0.1:{}", self.etcd_port);
        command.args(["--etcd-servers", &etcd]);
        command.args(["--bind-address", "127.0.0.1"]);
        command.args(["--advertise-address", "127.0.0.1"]);
        command.args(["--endpoint-reconciler-type", "none"]);
        command.args(["--secure-port", &self.port.to_string()]);
        command
            .arg("--cert-dir")
            .arg(self.directory.join("certificates"));
        command.arg("--token-auth-file").arg(tokens);
        command.args(["--authorization-mode", "RBAC"]);
        command.args(["--service-account-issuer", "https://kubernetes.default.svc"]);
        command.arg("--service-account-key-file").arg(public);
        command
            .arg("--service-account-signing-key-file")
            .arg(private);
        command.args(["--service-cluster-ip-range", "10.96.0.0/24"]);
        command.args(["--disable-admission-plugins", "ServiceAccount"]);
        self.spawn("kube-apiserver", command);
    }

    fn write_kubeconfig(&self) {
        let authority = self.directory.join("certificates/apiserver.crt");
        let (authority, port) = (authority.display(), self.port);
        let text = format!(
            "apiVersion: v1
kind: Config
clusters: [{{name: kube, cluster: {{server: 'https://127.0.0.1:{port}', certificate-authority: '{authority}'}}}}]
users: [{{name: admin, user: {{token: {TOKEN}}}}}]
contexts: [{{name: kube, context: {{cluster: kube, user: admin}}}}]
current-context: kube
"
        );
        self.write("kubeconfig", &text);
    }

    fn write(&self, name: &str, content: &str) -> PathBuf {
        let path = self.directory.join(name);
        fs::write(&path, content).unwrap();
        path
    }

    fn program(&self, name: &str) -> Command {
        tied::program(&self.assets.join(name))
    }

    /// In a process group of its own: a Ctrl-C at the terminal must not end etcd before its client.
    fn spawn(&mut self, name: &str, mut command: Command) {
        let log = self.directory.join(format!("{name}.log"));
        let log = File::create(log).unwrap();
        command
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .process_group(0);
        self.running.push(tied::spawn(command).unwrap());
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        // The last first: kube-apiserver without its etcd would wait in vain.
        for server in self.running.iter_mut().rev() {
            let _ = server.kill();
            let _ = server.wait();
        }
    }
}

/// Ports that nobody uses; all are held while they are chosen, so that no two are the same.
pub fn free_ports<const COUNT: usize>() -> [u16; COUNT] {
    let listeners = [(); COUNT].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    listeners.map(|listener| listener.local_addr().unwrap().port())
}
