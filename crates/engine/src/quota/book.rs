//! Where ledgers are kept: in memory, or in an object that is written by compare and swap.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Mutex, PoisonError},
};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, Client, ResourceExt, api::PostParams};
use machinist_core::quota::Ledger;

/// The object that a ledger is kept in, one in each namespace that has quotas.
const NAME: &str = "machinist-quota-ledger";
/// The key of the ledger in it.
const KEY: &str = "ledger";

/// Where ledgers are kept.
pub struct Book(Kept);

enum Kept {
    /// For a server in this process, which no other process asks.
    Memory(Mutex<HashMap<String, Ledger>>),
    /// For processes that share the webhook.
    Durable(Client),
}

/// A ledger as it was read, and what proves that nobody wrote it since.
#[derive(Default)]
pub(super) struct Page {
    /// Nothing when it was never counted.
    pub(super) ledger: Option<Ledger>,
    version: Option<String>,
}

impl Book {
    /// In memory: for a server in this process, which asks nobody else.
    pub fn memory() -> Book {
        Book(Kept::Memory(Mutex::default()))
    }

    /// In the cluster: for processes that share the webhook.
    pub fn durable(client: Client) -> Book {
        Book(Kept::Durable(client))
    }

    /// Whether no other process writes in it.
    pub(super) fn is_ours(&self) -> bool {
        matches!(self.0, Kept::Memory(_))
    }

    /// The ledger of a namespace.
    pub(super) async fn load(&self, namespace: &str) -> Result<Page, kube::Error> {
        match &self.0 {
            Kept::Memory(ledgers) => {
                let ledgers = ledgers.lock().unwrap_or_else(PoisonError::into_inner);
                Ok(Page {
                    ledger: ledgers.get(namespace).cloned(),
                    version: None,
                })
            }
            Kept::Durable(client) => {
                let api: Api<ConfigMap> = Api::namespaced(client.clone(), namespace);
                let Some(map) = api.get_opt(NAME).await? else {
                    return Ok(Page::default());
                };
                let text = map.data.as_ref().and_then(|data| data.get(KEY));
                // What cannot be read, because somebody wrote into it, is counted anew.
                let ledger = text.and_then(|text| Ledger::read(text));
                Ok(Page {
                    ledger,
                    version: map.resource_version(),
                })
            }
        }
    }

    /// Puts a ledger in the place of the one that was read; whether nobody else did so before.
    pub(super) async fn store(
        &self,
        namespace: &str,
        ledger: &Ledger,
        version: Option<String>,
    ) -> Result<bool, kube::Error> {
        let client = match &self.0 {
            // One worker a namespace is the only writer.
            Kept::Memory(ledgers) => {
                let mut ledgers = ledgers.lock().unwrap_or_else(PoisonError::into_inner);
                ledgers.insert(namespace.to_owned(), ledger.clone());
                return Ok(true);
            }
            Kept::Durable(client) => client,
        };
        let api: Api<ConfigMap> = Api::namespaced(client.clone(), namespace);
        let mut map = ConfigMap {
            data: Some(BTreeMap::from([(KEY.to_owned(), ledger.text())])),
            ..ConfigMap::default()
        };
        map.metadata.name = Some(NAME.to_owned());
        map.metadata.resource_version = version.clone();
        let params = PostParams::default();
        let written = match version {
            Some(_) => api.replace(NAME, &params, &map).await,
            None => api.create(&params, &map).await,
        };
        match written {
            Ok(_) => Ok(true),
            // Written, made or removed by another since it was read.
            Err(kube::Error::Api(status)) if [404, 409].contains(&status.code) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

impl Page {
    pub(super) fn into_parts(self) -> (Option<Ledger>, Option<String>) {
        (self.ledger, self.version)
    }
}
