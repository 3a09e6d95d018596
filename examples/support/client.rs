//! A client for the examples: of the cluster that `KUBECONFIG` names, or of a server in memory.

use std::sync::Arc;

use kube::Client;
use machinist_api::{convert, crds};
use machinist_apiserver::{ApiServer, Converter, Identity, Options, Store};
use serde_json::Value;

struct Versions;

impl Converter for Versions {
    fn convert(&self, object: &mut Value, api_version: &str) -> Result<(), String> {
        *object = convert::convert(object, api_version).map_err(|error| error.to_string())?;
        Ok(())
    }
}

/// The client.
pub(crate) async fn client() -> anyhow::Result<Client> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    if std::env::var_os("KUBECONFIG").is_some() {
        return Ok(Client::try_default().await?);
    }
    let mut definitions = crds();
    // This server converts.
    definitions.iter_mut().for_each(crds::serve_every_version);
    let definitions: Result<Vec<Value>, _> = definitions.iter().map(serde_json::to_value).collect();
    let converters = convert::CONVERTIBLE_KINDS.iter().map(|kind| {
        let converter: Arc<dyn Converter> = Arc::new(Versions);
        (("vitistack.io".to_owned(), (*kind).to_owned()), converter)
    });
    let options = Options {
        crds: definitions?,
        converters: converters.collect(),
        ..Options::default()
    };
    let server = ApiServer::new(Store::memory(), options).await?;
    Ok(Client::new(server.service(Identity::admin()), "default"))
}
