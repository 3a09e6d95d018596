//! Our own kinds in both of their versions, on a server that converts.

use std::sync::Arc;
use std::time::Duration;

use machinist_apiserver::{ApiServer, Converter, Converters, Identity, Options, Store};
use serde_json::Value;

use super::both::Peer;

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
/// Where machines lie in the stored version.
pub const ALPHA: &str = "/apis/vitistack.io/v1alpha1/namespaces/default";
/// Where they lie in the other one.
pub const BETA: &str = "/apis/vitistack.io/v1beta1/namespaces/default";

/// Turns an object into another version.
pub fn convert(object: &mut Value, version: &str) {
    *object = machinist_api::convert::convert(object, version).unwrap();
}

struct InProcess;

impl Converter for InProcess {
    fn convert(&self, object: &mut Value, api_version: &str) -> Result<(), String> {
        convert(object, api_version);
        Ok(())
    }
}

/// Installs the definitions of the two kinds, and waits until both versions are served.
pub async fn define(peer: &Peer, client_config: Option<&Value>) {
    for mut crd in machinist_api::crds() {
        machinist_api::crds::serve_every_version(&mut crd);
        let mut crd = serde_json::to_value(crd).unwrap();
        if crd["spec"]["conversion"].is_null() {
            continue;
        }
        if let Some(config) = client_config {
            crd["spec"]["conversion"]["webhook"]["clientConfig"] = config.clone();
        }
        let name = crd["metadata"]["name"].as_str().unwrap();
        let line = format!("PATCH+apply {DEFINITIONS}/{name}?fieldManager=test&force=true");
        peer.ok(&line, Some(&crd)).await;
    }
    for path in [ALPHA, BETA] {
        for plural in ["machines", "machineproviders"] {
            let served = async {
                while peer.call(&format!("GET {path}/{plural}"), None).await.code != 200 {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            };
            tokio::time::timeout(super::PATIENCE, served)
                .await
                .expect("the kind is served");
        }
    }
}

/// An embedded server that converts in the process.
pub async fn embedded() -> Peer {
    let mut converters = Converters::new();
    for kind in machinist_api::convert::CONVERTIBLE_KINDS {
        let name = ("vitistack.io".to_owned(), (*kind).to_owned());
        converters.insert(name, Arc::new(InProcess));
    }
    let options = Options {
        converters,
        ..Options::default()
    };
    let server = ApiServer::new(Store::memory(), options).await.unwrap();
    Peer {
        name: "embedded",
        client: kube::Client::new(server.service(Identity::admin()), "default"),
    }
}
