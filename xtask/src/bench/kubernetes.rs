//! The peer: etcd and kube-apiserver in a directory of their own, as `scripts/kube-up.sh`
//! starts them, without controllers.
//!
//! For its start, etcd does without fsync, as it does for development; Machinist does not. Under
//! load, where writes are counted, it syncs them as well. The keys for service accounts are made
//! before the clock starts.

use std::{
    fs::{self, Permissions},
    io::{Read as _, Write as _},
    net::TcpStream,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use rcgen::KeyPair;
use serde_json::json;
use tokio::time::sleep;

use super::{
    process::{Process, Tools, free_port},
    ready::{self, PATIENCE},
};

/// It is known to this server alone, which listens on loopback and lives for seconds.
const TOKEN: &str = "bench";
const LOOK: Duration = Duration::from_millis(5);

/// What is made before the clock starts.
#[derive(Debug)]
pub(super) struct Prepared {
    dir: PathBuf,
    etcd: u16,
    peers: u16,
    api: u16,
    /// Whether etcd syncs its writes.
    durable: bool,
}

/// A running Kubernetes API. The fields are in the order in which they are ended.
#[derive(Debug)]
pub(super) struct Kubernetes {
    pub(super) apiserver: Process,
    pub(super) etcd: Process,
    dir: PathBuf,
}

/// Writes keys, token and kubeconfig into `dir`, which must be new.
pub(super) fn prepare(dir: &Path) -> Result<Prepared> {
    fs::create_dir(dir).context("cannot make a directory")?;
    fs::set_permissions(dir, Permissions::from_mode(0o700)).context("cannot protect it")?;
    let write = |name: &str, text: String| {
        fs::write(dir.join(name), text).with_context(|| format!("cannot write {name}"))
    };
    let key = KeyPair::generate().context("cannot make a key")?;
    write("service-account.key", key.serialize_pem())?;
    write("service-account.pub", key.public_key_pem())?;
    write(
        "tokens.csv",
        format!("{TOKEN},admin,admin,\"system:masters\"\n"),
    )?;
    let prepared = Prepared {
        dir: dir.to_owned(),
        etcd: free_port()?,
        peers: free_port()?,
        api: free_port()?,
        durable: false,
    };
    let kubeconfig = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{ "name": "kube", "cluster": {
            "server": format!("https://127.0.0.1:{}", prepared.api),
            "certificate-authority": dir.join("certificates/apiserver.crt"),
        }}],
        "users": [{ "name": "admin", "user": { "token": TOKEN } }],
        "contexts": [{ "name": "kube", "context": { "cluster": "kube", "user": "admin" } }],
        "current-context": "kube",
    });
    write("kubeconfig", kubeconfig.to_string())?;
    Ok(prepared)
}

impl Prepared {
    /// The same with an etcd that syncs every write before it answers, as in production.
    pub(super) fn durable(self) -> Prepared {
        Prepared {
            durable: true,
            ..self
        }
    }

    /// Starts etcd, and kube-apiserver as soon as etcd serves it.
    pub(super) async fn start(self, tools: &Tools) -> Result<Kubernetes> {
        let mut etcd = self.start_etcd(tools)?;
        let began = Instant::now();
        while !is_healthy(self.etcd) {
            etcd.check()?;
            if began.elapsed() > PATIENCE {
                bail!("etcd was not healthy within {PATIENCE:?}");
            }
            sleep(LOOK).await;
        }
        Ok(Kubernetes {
            apiserver: self.start_apiserver(tools)?,
            etcd,
            dir: self.dir,
        })
    }

    fn start_etcd(&self, tools: &Tools) -> Result<Process> {
        let clients = format!("http://127.0.0.1:{}", self.etcd);
        let peers = format!("http://127.0.0.1:{}", self.peers);
        let mut command = Command::new(tools.assets.join("etcd"));
        command
            .arg("--data-dir")
            .arg(self.dir.join("etcd"))
            .args(["--log-level", "warn"])
            .args((!self.durable).then_some("--unsafe-no-fsync"))
            .args(["--listen-client-urls", &clients])
            .args(["--advertise-client-urls", &clients])
            .args(["--listen-peer-urls", &peers])
            .args(["--initial-advertise-peer-urls", &peers])
            .args(["--initial-cluster", &format!("default={peers}")]);
        Process::start("etcd", &mut command, &self.dir)
    }

    fn start_apiserver(&self, tools: &Tools) -> Result<Process> {
        let mut command = Command::new(tools.assets.join("kube-apiserver"));
        command
            .args(["--etcd-servers", &format!("http://127.0.0.1:{}", self.etcd)])
            .args(["--bind-address", "127.0.0.1"])
            .args(["--advertise-address", "127.0.0.1"])
            .args(["--endpoint-reconciler-type", "none"])
            .args(["--secure-port", &self.api.to_string()])
            .arg("--cert-dir")
            .arg(self.dir.join("certificates"))
            .arg("--token-auth-file")
            .arg(self.dir.join("tokens.csv"))
            .args(["--authorization-mode", "RBAC"])
            .args(["--service-account-issuer", "https://kubernetes.default.svc"])
            .arg("--service-account-key-file")
            .arg(self.dir.join("service-account.pub"))
            .arg("--service-account-signing-key-file")
            .arg(self.dir.join("service-account.key"))
            .args(["--service-cluster-ip-range", "10.96.0.0/24"])
            .args(["--disable-admission-plugins", "ServiceAccount"]);
        Process::start("kube-apiserver", &mut command, &self.dir)
    }
}

impl Kubernetes {
    pub(super) fn kubeconfig(&self) -> PathBuf {
        self.dir.join("kubeconfig")
    }

    pub(super) async fn ready(&mut self) -> Result<()> {
        let kubeconfig = self.kubeconfig();
        let ready = ready::until_ready(&kubeconfig, &mut self.apiserver).await;
        self.etcd.check()?;
        ready.map(drop)
    }
}

/// Whether etcd answers that it is healthy.
fn is_healthy(port: u16) -> bool {
    let ask = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_read_timeout(Some(Duration::from_secs(1)))?;
        stream.write_all(b"GET /health HTTP/1.0\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    };
    ask().is_ok_and(|answer| answer.contains(r#""health":"true""#))
}
