//! Conversion and admission, as API servers ask for them: over TLS, or within the process.
//!
//! What is answered is decided by pure functions in `machinist-api`; here it is served.

mod configuration;
mod install;
mod limit;
mod serve;
mod shared;
mod trace;

use std::sync::{Arc, OnceLock};

use futures::future::BoxFuture;
use machinist_api::{
    admission::{self, answer_admission, answer_completion},
    convert::{CONVERTIBLE_KINDS, answer_conversion, convert},
    names::{CONVERSION_PATH, SYSTEM_NAMESPACE, WEBHOOK_SERVICE},
    vitistack::GROUP,
};
use machinist_apiserver::{
    Converter, Converters,
    webhook::{Backend, Endpoint, Services},
};
use machinist_engine::{quota::Gate, trace::Tracer};
use serde_json::Value;

pub(crate) use configuration::Place;
pub(crate) use install::{configure_embedded, install, keep, owner, point};
pub(crate) use limit::limit;
pub(crate) use serve::serve;
pub(crate) use shared::share_authority;

/// Answers a review that was posted to a path; an error is a sentence.
fn answer(path: &str, review: &Value) -> Result<Value, String> {
    match path {
        CONVERSION_PATH => answer_conversion(review),
        admission::PATH => answer_admission(review),
        admission::COMPLETE_PATH => answer_completion(review),
        _ => Err(format!("there is no webhook at {path}")),
    }
}

struct Versions;

impl Converter for Versions {
    fn convert(&self, object: &mut Value, api_version: &str) -> Result<(), String> {
        *object = convert(object, api_version).map_err(|error| error.to_string())?;
        Ok(())
    }
}

/// The converters of our kinds, for a server in this process.
pub(crate) fn converters() -> Converters {
    let one = |kind: &&str| {
        let converter: Arc<dyn Converter> = Arc::new(Versions);
        ((GROUP.to_owned(), (*kind).to_owned()), converter)
    };
    CONVERTIBLE_KINDS.iter().map(one).collect()
}

/// The gate of a server that is made before it.
pub(crate) type LateGate = Arc<OnceLock<Gate>>;

struct InProcess {
    gate: LateGate,
    tracer: Tracer,
}

impl Backend for InProcess {
    fn call<'a>(
        &'a self,
        path: &'a str,
        review: Value,
        traceparent: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Value, String>> {
        Box::pin(async move {
            match (path, self.gate.get()) {
                (limit::PATH | limit::OFFER_PATH, Some(gate)) => {
                    let work = limit::answer(gate, path, &review);
                    trace::told(&self.tracer, limit::name(path), &review, work).await
                }
                (trace::PATH, _) => trace::answer(&self.tracer, &review, traceparent),
                _ => answer(path, &review),
            }
        })
    }
}

/// Answers for the service of our webhooks, for a server in this process.
pub(crate) fn services(gate: LateGate, tracer: Tracer) -> Arc<dyn Services> {
    let backend: Arc<dyn Backend> = Arc::new(InProcess { gate, tracer });
    Arc::new(move |namespace: &str, name: &str, _: u16| {
        let ours = namespace == SYSTEM_NAMESPACE && name == WEBHOOK_SERVICE;
        ours.then(|| Endpoint::Backend(backend.clone()))
    })
}
