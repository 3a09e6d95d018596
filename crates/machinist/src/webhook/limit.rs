//! Quotas at the door: a webhook that promises places, for the namespaces that have quotas alone.

use std::time::Duration;

use kube::Client;
use machinist_engine::quota::{Gate, GateError};
use serde_json::{Value, json};

use super::{configuration::Place, install::configure_limits};

/// Path at which quotas are held to.
pub(super) const PATH: &str = "/quota";

/// After a configuration that could not be written.
const AGAIN: Duration = Duration::from_secs(1);

/// Answers an AdmissionReview of `admission.k8s.io/v1`; an error is a sentence, and means that
/// nobody can say.
pub(super) async fn answer(gate: &Gate, review: &Value) -> Result<Value, String> {
    let request = &review["request"];
    if review["kind"] != "AdmissionReview" || !request["uid"].is_string() {
        return Err("expected an AdmissionReview with a request".to_owned());
    }
    let mut response = json!({ "uid": request["uid"], "allowed": true });
    match gate.admit(request).await {
        Ok(()) => {}
        Err(error @ GateError::Exceeded { .. }) => {
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
    futures::future::join(gate.run(), configuring).await;
}
