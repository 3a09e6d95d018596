//! A real Kubernetes API for a test: etcd and kube-apiserver, in a directory of the test.

use std::{
    fs::{self, File},
    net::TcpListener,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};

use super::{Sandbox, peers, wait::wait_for};

const TOKEN: &str = "a-token-of-a-test";
const CONTROLLERS: &str = "namespace-controller,garbage-collector-controller,serviceaccount-controller,root-ca-certificate-publisher-controller,clusterrole-aggregation-controller";

/// A real Kubernetes API; it ends when this is dropped.
pub struct Cluster {
    /// In the order of their start.
    servers: Vec<Child>,
    directory: PathBuf,
    port: u16,
    etcd_port: u16,
}

impl Cluster {
    /// Starts one and waits until it is ready; `None` when the binaries are not here.
    pub fn start(sandbox: &Sandbox) -> Option<Cluster> {
        let assets = peers::peer("KUBEBUILDER_ASSETS")?;
        let mut cluster = Cluster {
            servers: Vec::new(),
            directory: sandbox.path("cluster"),
            port: 0,
            etcd_port: 0,
        };
        fs::create_dir(&cluster.directory).unwrap();
        cluster.etcd_port = cluster.start_etcd(&assets);
        cluster.port = cluster.start_apiserver(&assets, cluster.etcd_port);
        cluster.write_kubeconfig(cluster.port);
        cluster.await_ready();
        Some(cluster)
    }

    /// The same with the controllers that need no nodes: namespaces end, garbage is collected.
    pub fn with_controllers(sandbox: &Sandbox) -> Option<Cluster> {
        let mut cluster = Cluster::start(sandbox)?;
        let assets = peers::peer("KUBEBUILDER_ASSETS")?;
        let mut command = Command::new(assets.join("kube-controller-manager"));
        command.arg("--kubeconfig").arg(cluster.kubeconfig());
        command.args(["--controllers", CONTROLLERS]);
        command.args(["--leader-elect=false", "--secure-port", "0"]);
        command
            .arg("--service-account-private-key-file")
            .arg(cluster.directory.join("service-account.key"));
        command
            .arg("--root-ca-file")
            .arg(cluster.directory.join("certificates/apiserver.crt"));
        cluster.spawn("kube-controller-manager", command);
        Some(cluster)
    }

    /// Where it serves.
    pub fn url(&self) -> String {
        format!("https://127.0.0.1:{}", self.port)
    }

    /// Where its etcd listens.
    pub fn etcd_url(&self) -> String {
        format!("http://127.0.0.1:{}", self.etcd_port)
    }

    /// The bearer token of its administrator.
    pub fn token(&self) -> &'static str {
        TOKEN
    }

    /// A kubeconfig for its administrator.
    pub fn kubeconfig(&self) -> PathBuf {
        self.directory.join("kubeconfig")
    }

    fn start_etcd(&mut self, assets: &Path) -> u16 {
        let [client, peer] = free_ports();
        let url = |port: u16| format!("http://127.0.0.1:{port}");
        let mut command = Command::new(assets.join("etcd"));
        command.arg("--data-dir").arg(self.directory.join("etcd"));
        command.args(["--unsafe-no-fsync", "--log-level", "warn"]);
        command.args(["--listen-client-urls", &url(client)]);
        command.args(["--advertise-client-urls", &url(client)]);
        command.args(["--listen-peer-urls", &url(peer)]);
        command.args(["--initial-advertise-peer-urls", &url(peer)]);
        command.args(["--initial-cluster", &format!("default={}", url(peer))]);
        self.spawn("etcd", command);
        client
    }

    fn start_apiserver(&mut self, assets: &Path, etcd: u16) -> u16 {
        let [port] = free_ports();
        let tokens = self.write(
            "tokens.csv",
            &format!("{TOKEN},admin,admin,\"system:masters\"\n"),
        );
        let key = rcgen::KeyPair::generate().unwrap();
        let private = self.write("service-account.key", &key.serialize_pem());
        let public = self.write("service-account.pub", &key.public_key_pem());
        let mut command = Command::new(assets.join("kube-apiserver"));
        command.args(["--etcd-servers", &format!("http://127.0.0.1:{etcd}")]);
        command.args([
            "--bind-address",
            "127.0.0.1",
            "--advertise-address",
            "127.0.0.1",
        ]);
        command.args(["--endpoint-reconciler-type", "none"]);
        command.args(["--secure-port", &port.to_string()]);
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
        port
    }

    fn write(&self, name: &str, content: &str) -> PathBuf {
        let path = self.directory.join(name);
        fs::write(&path, content).unwrap();
        path
    }

    fn log(&self, name: &str) -> PathBuf {
        self.directory.join(format!("{name}.log"))
    }

    /// In a process group of its own: a Ctrl-C at the terminal must not end etcd before its client.
    fn spawn(&mut self, name: &str, mut command: Command) {
        let log = File::create(self.log(name)).unwrap();
        command
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap());
        self.servers
            .push(command.stderr(log).process_group(0).spawn().unwrap());
    }

    fn write_kubeconfig(&self, port: u16) {
        let authority = self.directory.join("certificates/apiserver.crt");
        let authority = authority.display();
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

    fn await_ready(&mut self) {
        let runtime = runtime();
        wait_for("kube-apiserver to be ready", || {
            for server in &mut self.servers {
                if let Some(status) = server.try_wait().unwrap() {
                    let log = fs::read_to_string(self.directory.join("kube-apiserver.log"));
                    panic!("a server of the cluster ended with {status}: {log:?}");
                }
            }
            let kubeconfig = self.directory.join("kubeconfig");
            runtime.block_on(async {
                let client = client(&kubeconfig).await.map_err(|e| e.to_string())?;
                let request = http::Request::get("/readyz").body(Vec::new()).unwrap();
                let answer = client.request_text(request).await;
                answer.map_err(|e| e.to_string())
            })
        });
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // The last first: kube-apiserver without its etcd would wait in vain.
        for server in self.servers.iter_mut().rev() {
            let _ = server.kill();
            let _ = server.wait();
        }
    }
}

/// A client by a kubeconfig in a file.
///
/// # Errors
/// When the kubeconfig cannot be used.
pub async fn client(kubeconfig: &Path) -> Result<Client, Box<dyn std::error::Error>> {
    client_of(Kubeconfig::read_from(kubeconfig)?).await
}

/// A client by a kubeconfig.
///
/// # Errors
/// When the kubeconfig cannot be used.
pub async fn client_of(kubeconfig: Kubeconfig) -> Result<Client, Box<dyn std::error::Error>> {
    // The first to install wins; whichever it is serves.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    Ok(Client::try_from(config)?)
}

/// What a synchronous test waits on asynchronous calls with.
pub fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
}

/// Ports that nobody uses; all are held while they are chosen, so that no two are the same.
pub fn free_ports<const COUNT: usize>() -> [u16; COUNT] {
    let listeners = [(); COUNT].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    listeners.map(|listener| listener.local_addr().unwrap().port())
}
