//! A real Kubernetes API for a test: etcd and kube-apiserver, in a directory of the test.

#[path = "../../../../tests/kube/servers.rs"]
#[allow(dead_code, reason = "each crate uses its part")]
mod servers;

use std::{
    fs,
    path::{Path, PathBuf},
};

use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};

pub use servers::free_ports;
use servers::{Servers, TOKEN};

use super::{Sandbox, peers, wait::wait_for};

/// A real Kubernetes API; it ends when this is dropped.
pub struct Cluster {
    servers: Servers,
}

impl Cluster {
    /// Starts one and waits until it is ready; `None` when the binaries are not here.
    pub fn start(sandbox: &Sandbox) -> Option<Cluster> {
        let assets = peers::peer("KUBEBUILDER_ASSETS")?;
        let directory = sandbox.path("cluster");
        fs::create_dir(&directory).unwrap();
        let servers = Servers::start(&assets, &directory);
        let mut cluster = Cluster { servers };
        cluster.await_ready();
        Some(cluster)
    }

    /// The same with the controllers that need no nodes: namespaces end, garbage is collected.
    pub fn with_controllers(sandbox: &Sandbox) -> Option<Cluster> {
        let mut cluster = Cluster::start(sandbox)?;
        cluster.servers.start_controllers();
        Some(cluster)
    }

    /// Where it serves.
    pub fn url(&self) -> String {
        format!("https://127.0.0.1:{}", self.servers.port)
    }

    /// Where its etcd listens.
    pub fn etcd_url(&self) -> String {
        format!("http://127.0.0.1:{}", self.servers.etcd_port)
    }

    /// The bearer token of its administrator.
    pub fn token(&self) -> &'static str {
        TOKEN
    }

    /// A kubeconfig for its administrator.
    pub fn kubeconfig(&self) -> PathBuf {
        self.servers.kubeconfig()
    }

    fn await_ready(&mut self) {
        let runtime = runtime();
        wait_for("kube-apiserver to be ready", || {
            if let Some(why) = self.servers.ended() {
                panic!("{why}");
            }
            let kubeconfig = self.servers.kubeconfig();
            runtime.block_on(async {
                let client = client(&kubeconfig).await.map_err(|e| e.to_string())?;
                let request = http::Request::get("/readyz").body(Vec::new()).unwrap();
                let answer = client.request_text(request).await;
                answer.map_err(|e| e.to_string())
            })
        });
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
