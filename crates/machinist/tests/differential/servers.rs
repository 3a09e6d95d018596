//! The two servers, started once for all scenarios: the embedded one in this process, behind TLS
//! on a socket, and a real kube-apiserver with etcd and the controllers that need no nodes.

use std::path::Path;

use machinist_apiserver::{ApiServer, Options, Pki, Store, tls};
use reqwest::{Client, ClientBuilder, Identity, header};
use serde_json::{Value, json};

use crate::{
    exchange::Side,
    scenario::{Scenario, Variables},
    support::{Sandbox, kube::Cluster},
};

/// Both servers, ready.
pub struct Servers {
    cluster: Cluster,
    real: Client,
    embedded: ApiServer,
    embedded_url: String,
    embedded_client: Client,
}

impl Servers {
    /// Starts them; the embedded one serves for as long as the runtime lives.
    pub async fn start(cluster: Cluster, sandbox: &Sandbox) -> Servers {
        let mut headers = header::HeaderMap::new();
        let token = format!("Bearer {}", cluster.token());
        headers.insert(header::AUTHORIZATION, token.parse().unwrap());
        let real = client().default_headers(headers).build().unwrap();
        let (embedded, embedded_url, pki) = embed(&sandbox.path("pki")).await;
        let (certificate, key) = pki.admin_certificate();
        let identity = Identity::from_pem(format!("{certificate}{key}").as_bytes()).unwrap();
        Servers {
            cluster,
            real,
            embedded,
            embedded_url,
            embedded_client: client().identity(identity).build().unwrap(),
        }
    }

    /// Both, for one scenario: the real one first.
    pub fn sides(&self, scenario: &Scenario) -> [Side; 2] {
        let variables = Variables::of(scenario);
        [
            Side::new(self.real.clone(), self.cluster.url(), variables.clone()),
            Side::new(
                self.embedded_client.clone(),
                self.embedded_url.clone(),
                variables,
            ),
        ]
    }

    /// Makes both forget everything before now.
    pub async fn compact(&self) {
        let store = self.embedded.store();
        store.compact(store.revision()).await.unwrap();
        let etcd = |path: &str, body: Value| {
            let url = format!("{}/v3/kv/{path}", self.cluster.etcd_url());
            self.real.post(url).body(body.to_string()).send()
        };
        // Any key serves to learn the revision.
        let range = etcd("range", json!({"key": "AA=="})).await.unwrap();
        let range: Value = serde_json::from_slice(&range.bytes().await.unwrap()).unwrap();
        let revision = range["header"]["revision"].clone();
        let compacted = etcd("compaction", json!({"revision": revision})).await;
        assert!(compacted.unwrap().status().is_success());
    }
}

fn client() -> ClientBuilder {
    // The first to install wins; whichever it is serves.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder()
        .danger_accept_invalid_certs(true)
        .no_proxy()
        // A server that refuses a body unread closes the connection under the next call.
        .pool_max_idle_per_host(0)
        .redirect(reqwest::redirect::Policy::none())
}

async fn embed(directory: &Path) -> (ApiServer, String, Pki) {
    let server = ApiServer::new(Store::memory(), Options::default())
        .await
        .unwrap();
    let pki = Pki::load_or_create(directory).unwrap();
    let listener = tls::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let (serving, of_task) = (server.clone(), Pki::load_or_create(directory).unwrap());
    tokio::spawn(async move {
        let forever = std::future::pending();
        serving.serve(listener, &of_task, forever).await.unwrap();
    });
    (server, url, pki)
}
