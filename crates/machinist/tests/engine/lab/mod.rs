//! An API server, engines and a simulated platform in one thread and in virtual time: nothing
//! waits for a clock, and the same seed does the same again.

mod clock;
mod declared;
mod dice;
mod life;
mod platform;
mod wire;

pub(crate) use declared::Declared;
pub(crate) use dice::Dice;
pub(crate) use life::{FIRST_TOKEN, Life};
pub(crate) use platform::{Pace, Platform, lookup, simulated};
pub(crate) use wire::{ApiFault, Wire};

use std::sync::LazyLock;

use kube::Client;
use machinist_api::vitistack::GROUP;
use machinist_apiserver::{ApiServer, Identity, Options, Store};
use machinist_store::Options as StoreOptions;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

/// One API server; lives are led on it one after the other.
pub(crate) struct Lab {
    server: ApiServer,
}

impl Lab {
    /// A client whose way to the server may fail.
    pub(crate) fn client(&self, wire: &Wire) -> Client {
        let line = wire::Line {
            server: self.server.service(Identity::admin()),
            wire: wire.clone(),
        };
        Client::new(line, "default")
    }
}

/// The kinds that the engine works on; the others would only make each server's start dearer.
pub(crate) fn definitions() -> Vec<Value> {
    static DEFINITIONS: LazyLock<Vec<Value>> = LazyLock::new(|| {
        let all = machinist_api::crds().into_iter();
        let needed = all.filter(|crd| {
            let kind = crd.spec.names.kind.as_str();
            crd.spec.group == GROUP
                && [
                    "Machine",
                    "MachineProvider",
                    "Vitistack",
                    "NetworkConfiguration",
                ]
                .contains(&kind)
        });
        needed.map(|crd| json!(crd)).collect()
    });
    DEFINITIONS.clone()
}

/// Works in virtual time, on an API server of its own.
pub(crate) fn in_virtual_time<T>(work: impl AsyncFnOnce(&Lab) -> T) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build();
    work_in(&runtime.expect("a runtime"), work)
}

/// The same in real time, for platforms that know no other.
pub(crate) fn in_real_time<T>(work: impl AsyncFnOnce(&Lab) -> T) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    work_in(&runtime.expect("a runtime"), work)
}

fn work_in<T>(runtime: &Runtime, work: impl AsyncFnOnce(&Lab) -> T) -> T {
    runtime.block_on(async {
        let options = Options {
            crds: definitions(),
            ..Options::default()
        };
        // A thread of the store's own would let virtual time run on while it works.
        let store = Store::memory_with(StoreOptions {
            inline: true,
            ..StoreOptions::default()
        });
        let server = ApiServer::new(store, options).await;
        let lab = Lab {
            server: server.expect("the server starts"),
        };
        work(&lab).await
    })
}
