//! An API server, engines and a simulated platform in one thread and in virtual time: nothing
//! waits for a clock, and the same seed does the same again.

mod clock;
mod declared;
mod dice;
mod life;
mod wire;

pub(crate) use declared::Declared;
pub(crate) use dice::Dice;
pub(crate) use life::Life;
pub(crate) use wire::ApiFault;

use machinist_apiserver::{ApiServer, Options, Store};
use machinist_store::Options as StoreOptions;
use serde_json::json;

/// One API server; lives are led on it one after the other.
pub(crate) struct Lab {
    server: ApiServer,
}

/// Works in virtual time, on an API server of its own.
pub(crate) fn in_virtual_time<T>(work: impl AsyncFnOnce(&Lab) -> T) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let crds = machinist_api::crds().into_iter().map(|crd| json!(crd));
        let options = Options {
            crds: crds.collect(),
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
