//! Whether the provider that a machine names can satisfy it: what is not offered is refused by name,
//! before anything is made.
//!
//! Only what providers declare counts here; how they are just now is the scheduler's business, and so
//! is every machine that leaves the choice to it.

use std::{
    collections::HashMap,
    pin::pin,
    sync::{PoisonError, RwLock},
};

use futures::StreamExt;
use kube::{
    Api, Client, ResourceExt,
    runtime::{WatchStreamExt, watcher},
};
use machinist_api::vitistack::{Machine, MachineProvider};
use machinist_core::{
    dialect::vitistack::{offer, refusal},
    place::{Offer, SiteName, Standing},
};
use serde_json::Value;
use tokio::sync::watch;

use super::GateError;

/// What every provider declares.
#[derive(Default)]
pub(super) struct Offers {
    known: RwLock<HashMap<SiteName, Offer>>,
    /// Whether there is one that does not offer everything; nothing until all were listed.
    choosy: watch::Sender<Option<bool>>,
}

impl Offers {
    /// Whether there is anything to ask about.
    pub(super) fn choosy(&self) -> watch::Receiver<Option<bool>> {
        self.choosy.subscribe()
    }

    /// Follows the providers for as long as it is polled.
    pub(super) async fn follow(&self, client: &Client) {
        let providers: Api<MachineProvider> = Api::all(client.clone());
        let mut events = pin!(watcher(providers, watcher::Config::default()).default_backoff());
        let mut listed = HashMap::new();
        let mut listing = true;
        while let Some(event) = events.next().await {
            match event {
                Ok(watcher::Event::Init) => {
                    listing = true;
                    listed.clear();
                }
                Ok(watcher::Event::InitApply(provider)) => {
                    listed.insert(name_of(&provider), declared(&provider));
                }
                // What is listed anew replaces what was there when the list is complete.
                Ok(watcher::Event::InitDone) => {
                    listing = false;
                    self.change(|known| *known = std::mem::take(&mut listed));
                }
                Ok(watcher::Event::Apply(provider)) => {
                    let offer = declared(&provider);
                    self.change(|known| known.insert(name_of(&provider), offer));
                }
                Ok(watcher::Event::Delete(provider)) => {
                    self.change(|known| known.remove(&name_of(&provider)));
                }
                Err(error) => {
                    tracing::debug!(%error, "providers are followed later");
                    continue;
                }
            }
            if !listing {
                let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
                let choosy = Some(known.values().any(Offer::is_choosy));
                drop(known);
                self.choosy.send_if_modified(|before| {
                    let news = *before != choosy;
                    *before = choosy;
                    news
                });
            }
        }
    }

    fn change<T>(&self, change: impl FnOnce(&mut HashMap<SiteName, Offer>) -> T) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        change(&mut known);
    }

    /// Judges the machine of a request by what its provider declares.
    pub(super) fn judge(&self, request: &Value) -> Result<(), GateError> {
        let namespace = request["namespace"].as_str().unwrap_or_default();
        let why = |object: &Value| -> Result<Option<String>, GateError> {
            let mut machine: Machine =
                serde::Deserialize::deserialize(object).map_err(GateError::Unreadable)?;
            machine.metadata.namespace = Some(namespace.to_owned());
            let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
            Ok(refusal(&machine, &known))
        };
        let Some(told) = why(&request["object"])? else {
            return Ok(());
        };
        // What was let in before the provider changed its mind may still be changed.
        let old = &request["oldObject"];
        match old.is_object() && why(old)?.is_some() {
            true => Ok(()),
            false => Err(GateError::Unsuited(told)),
        }
    }
}

fn declared(provider: &MachineProvider) -> Offer {
    offer(provider, Standing::Untried, None)
}

fn name_of(provider: &MachineProvider) -> SiteName {
    (
        provider.namespace().unwrap_or_default(),
        provider.name_any(),
    )
}
