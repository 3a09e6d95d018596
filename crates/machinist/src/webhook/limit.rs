//! What depends on other objects, at the door: quotas, in the namespaces that have any alone, and what
//! providers offer, where that is not everything.

use std::time::Duration;

use kube::Client;
use machinist_engine::quota::{Gate, GateError};
use serde_json::{Value, json};

use super::{
    configuration::Place,
    install::{configure_limits, configure_offers},
};

/// Path at which quotas are held to.
pub(super) const PATH: &str = "/quota";

/// Path at which machines are held against what their provider offers.
pub(super) const OFFER_PATH: &str = "/offer";

/// What is asked at a path, in the words of a trace.
pub(super) fn name(path: &str) -> &'static str {
    match path {
        OFFER_PATH => "admission offer",
        _ => "admission quota",
    }
}

/// After a configuration that could not be written.
const AGAIN: Duration = Duration::from_secs(1);

/// Answers an AdmissionReview of `admission.k8s.io/v1`; an error is a sentence, and means that
/// nobody can say.
pub(super) async fn answer(gate: &Gate, path: &str, review: &Value) -> Result<Value, String> {
    let request = &review["request"];
    if review["kind"] != "AdmissionReview" || !request["uid"].is_string() {
        return Err("expected an AdmissionReview with a request".to_owned());
    }
    let mut response = json!({ "uid": request["uid"], "allowed": true });
    let verdict = match path {
        OFFER_PATH => gate.suits(request),
        _ => gate.admit(request).await,
    };
    match verdict {
        Ok(()) => {}
        Err(error @ (GateError::Exceeded { .. } | GateError::Unsuited(_))) => {
            response["allowed"] = false.into();
            response["status"] = json!({
                "code": 403, "reason": "Forbidden", "status": "Failure",
                "message": error.to_string(),
            });
        }
        Err(error) => return Err(error.to_string()),
    }
    Ok(json!({
        "apiVersion": review["apiVersion"], "kind": review["kind"], "response": response,
    }))
}

/// Follows the quotas, and has the API server ask about the namespaces that have any. It ends only
/// when it is dropped.
pub(crate) async fn limit(client: Client, gate: Gate, place: Place, authority: Option<String>) {
    let configuring = async {
        let mut namespaces = gate.namespaces();
        loop {
            let now = namespaces.borrow_and_update().clone();
            if let Some(now) = now {
                let written = configure_limits(&client, &place, authority.as_deref(), &now).await;
                if let Err(failure) = written {
                    tracing::warn!(%failure, "quotas are not held to yet");
                    tokio::time::sleep(AGAIN).await;
                    continue;
                }
                tracing::info!(namespaces = ?now, "quotas are held to");
            }
            if namespaces.changed().await.is_err() {
                return;
            }
        }
    };
    let offering = async {
        let mut choosy = gate.choosy();
        loop {
            let now = *choosy.borrow_and_update();
            if let Some(now) = now {
                let written = configure_offers(&client, &place, authority.as_deref(), now).await;
                if let Err(failure) = written {
                    tracing::warn!(%failure, "machines are not held against offers yet");
                    tokio::time::sleep(AGAIN).await;
                    continue;
                }
            }
            if choosy.changed().await.is_err() {
                return;
            }
        }
    };
    futures::future::join3(gate.run(), configuring, offering).await;
}
