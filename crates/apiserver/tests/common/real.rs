//! A real Kubernetes API for a test: etcd and kube-apiserver, in a directory of the test.

use std::fs::{self, File};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use kube::config::{KubeConfigOptions, Kubeconfig};
use tempfile::TempDir;
use tokio::process::{Child, Command};

const TOKEN: &str = "a-token-of-a-test";
/// Longer than a start takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(180);

/// A real API server with its store; both end with it.
pub struct Real {
    // The first is dropped, and so killed, first.
    _apiserver: Child,
    _etcd: Child,
    _home: TempDir,
    pub client: kube::Client,
}

impl Real {
    /// Starts one and waits until it is ready; without its programs the test says so and passes,
    /// unless `MACHINIST_REQUIRE_PEERS=1` demands them.
    pub async fn start() -> Option<Self> {
        let assets = std::env::var_os("KUBEBUILDER_ASSETS").map(PathBuf::from);
        let Some(assets) = assets.filter(|a| a.join("kube-apiserver").exists()) else {
            assert!(
                std::env::var("MACHINIST_REQUIRE_PEERS").is_err(),
                "kube-apiserver is required and was not found: set KUBEBUILDER_ASSETS"
            );
            println!("skipped: no kube-apiserver; set KUBEBUILDER_ASSETS");
            return None;
        };
        let home = TempDir::new().unwrap();
        let [etcd_port, peer_port, port] = free_ports();
        let etcd = spawn_etcd(&assets, home.path(), etcd_port, peer_port);
        let apiserver = spawn_apiserver(&assets, home.path(), etcd_port, port);
        let client = await_ready(home.path(), port).await;
        Some(Self {
            _apiserver: apiserver,
            _etcd: etcd,
            _home: home,
            client,
        })
    }
}

fn spawn(home: &Path, name: &str, mut command: Command) -> Child {
    let log = File::create(home.join(format!("{name}.log"))).unwrap();
    command
        .stdin(Stdio::null())
        .stdout(log.try_clone().unwrap())
        .stderr(log)
        .kill_on_drop(true)
        .spawn()
        .unwrap()
}

fn spawn_etcd(assets: &Path, home: &Path, client: u16, peer: u16) -> Child {
    let url = |port: u16| format!("http://127.0.0.1:{port}");
    let mut command = Command::new(assets.join("etcd"));
    command.arg("--data-dir").arg(home.join("etcd"));
    command.args(["--unsafe-no-fsync", "--log-level", "warn"]);
    command.args(["--listen-client-urls", &url(client)]);
    command.args(["--advertise-client-urls", &url(client)]);
    command.args(["--listen-peer-urls", &url(peer)]);
    command.args(["--initial-advertise-peer-urls", &url(peer)]);
    command.args(["--initial-cluster", &format!("default={}", url(peer))]);
    spawn(home, "etcd", command)
}

fn spawn_apiserver(assets: &Path, home: &Path, etcd: u16, port: u16) -> Child {
    let write = |name: &str, text: String| {
        fs::write(home.join(name), text).unwrap();
        home.join(name)
    };
    let tokens = write(
        "tokens.csv",
        format!("{TOKEN},admin,admin,\"system:masters\"\n"),
    );
    let key = rcgen::KeyPair::generate().unwrap();
    let private = write("service-account.key", key.serialize_pem());
    let public = write("service-account.pub", key.public_key_pem());
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
    command.arg("--cert-dir").arg(home.join("certificates"));
    command.arg("--token-auth-file").arg(tokens);
    command.args(["--authorization-mode", "RBAC"]);
    command.args(["--service-account-issuer", "https://kubernetes.default.svc"]);
    command.arg("--service-account-key-file").arg(public);
    command
        .arg("--service-account-signing-key-file")
        .arg(private);
    command.args(["--service-cluster-ip-range", "10.96.0.0/24"]);
    command.args(["--disable-admission-plugins", "ServiceAccount"]);
    spawn(home, "kube-apiserver", command)
}

async fn await_ready(home: &Path, port: u16) -> kube::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let authority = home.join("certificates/apiserver.crt");
    let kubeconfig = serde_json::json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "kube",
        "clusters": [{"name": "kube", "cluster": {
            "server": format!("https://127.0.0.1:{port}"), "certificate-authority": authority,
        }}],
        "users": [{"name": "admin", "user": {"token": TOKEN}}],
        "contexts": [{"name": "kube", "context": {"cluster": "kube", "user": "admin"}}],
    });
    let ready = async {
        loop {
            let config: Kubeconfig = serde_json::from_value(kubeconfig.clone()).unwrap();
            let options = KubeConfigOptions::default();
            if let Ok(config) = kube::Config::from_custom_kubeconfig(config, &options).await
                && let Ok(client) = kube::Client::try_from(config)
            {
                let request = http::Request::get("/readyz").body(Vec::new()).unwrap();
                if client.request_text(request).await.is_ok() {
                    return client;
                }
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    match tokio::time::timeout(PATIENCE, ready).await {
        Ok(client) => client,
        Err(_) => {
            let log = fs::read_to_string(home.join("kube-apiserver.log")).unwrap_or_default();
            panic!("kube-apiserver did not become ready: {log}");
        }
    }
}

/// Ports that nobody uses; all are held while they are chosen, so that no two are the same.
fn free_ports<const COUNT: usize>() -> [u16; COUNT] {
    let listeners = [(); COUNT].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    listeners.map(|listener| listener.local_addr().unwrap().port())
}
