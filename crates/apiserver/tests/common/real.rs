//! A real Kubernetes API for a test: etcd and kube-apiserver, in a directory of the test.

#[path = "../../../../tests/kube/servers.rs"]
#[allow(dead_code, reason = "each crate uses its part")]
mod servers;

use std::path::PathBuf;
use std::time::Duration;

use kube::config::{KubeConfigOptions, Kubeconfig};
use servers::Servers;
use tempfile::TempDir;

/// Longer than a start takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(180);

/// A real API server with its store; both end with it.
pub struct Real {
    // The servers are dropped, and so ended, before their directory.
    _servers: Servers,
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
        let mut servers = Servers::start(&assets, home.path());
        let client = await_ready(&mut servers).await;
        Some(Self {
            _servers: servers,
            _home: home,
            client,
        })
    }
}

async fn await_ready(servers: &mut Servers) -> kube::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let ready = async {
        loop {
            if let Some(why) = servers.ended() {
                panic!("{why}");
            }
            let config = Kubeconfig::read_from(servers.kubeconfig()).unwrap();
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
    let ready = tokio::time::timeout(PATIENCE, ready).await;
    ready.expect("kube-apiserver becomes ready")
}
