//! HTTPS to webhooks: pinned authorities, no redirects, no proxies, bounded answers.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reqwest::{Client, redirect};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use serde_json::Value;

use super::error::CallError;

/// How many webhooks are remembered with their connections; configurations name far fewer.
const MAX_CLIENTS: usize = 128;
/// How long an unused connection is kept.
const IDLE: Duration = Duration::from_secs(90);

type Key = (Vec<u8>, Option<(String, SocketAddr)>);

/// The clients of all webhooks, one for each authority and place.
#[derive(Default)]
pub(super) struct Transport {
    clients: Mutex<HashMap<Key, Client>>,
}

impl Transport {
    /// Posts to `dialled` and speaks of it as `shown`.
    pub(super) async fn post(
        &self,
        (shown, dialled): (&str, &str),
        ca: &[u8],
        host: Option<(&str, SocketAddr)>,
        review: &Value,
        limit: usize,
        traceparent: Option<&str>,
    ) -> Result<Value, CallError> {
        let client = self
            .client(ca, host)
            .map_err(|why| CallError::transport(shown, &why))?;
        let mut request = client
            .post(dialled)
            .header("content-type", "application/json")
            .header("accept", "application/json, */*")
            .body(review.to_string());
        if let Some(traceparent) = traceparent {
            request = request.header("traceparent", traceparent);
        }
        let mut response = request.send().await.map_err(|error| {
            let at = host.map_or_else(|| authority(dialled), |(_, at)| at.to_string());
            CallError::from_reqwest(shown, &error, &at)
        })?;
        let code = response.status();
        let declared = response.content_length().unwrap_or(0);
        let mut body = Vec::new();
        if declared <= limit as u64 {
            loop {
                let piece = response.chunk().await.map_err(|_| {
                    CallError::Unreadable("unexpected error when reading response body. Please retry. Original error: unexpected EOF".into())
                })?;
                let Some(piece) = piece else { break };
                if body.len() + piece.len() > limit {
                    return Err(too_large(limit));
                }
                body.extend_from_slice(&piece);
            }
        } else {
            return Err(too_large(limit));
        }
        if !code.is_success() {
            return Err(CallError::refused(code, &body));
        }
        if body.is_empty() {
            let kind = response.headers().get("content-type");
            let kind = kind
                .and_then(|k| k.to_str().ok())
                .unwrap_or("application/json");
            return Err(CallError::Unreadable(format!(
                "0-length response with status code: {} and content type: {kind}",
                code.as_u16()
            )));
        }
        serde_json::from_slice(&body).map_err(|error| {
            CallError::Unreadable(format!(
                "couldn't get version/kind; json parse error: {error}"
            ))
        })
    }

    fn client(&self, ca: &[u8], host: Option<(&str, SocketAddr)>) -> Result<Client, String> {
        let key = (ca.to_vec(), host.map(|(name, at)| (name.to_owned(), at)));
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(&key) {
            return Ok(client.clone());
        }
        let client = build(ca, host)?;
        if clients.len() >= MAX_CLIENTS {
            clients.clear();
        }
        clients.insert(key, client.clone());
        Ok(client)
    }
}

fn build(ca: &[u8], host: Option<(&str, SocketAddr)>) -> Result<Client, String> {
    let mut builder = Client::builder()
        .redirect(redirect::Policy::none())
        .no_proxy()
        .https_only(true)
        .user_agent("kube-apiserver-admission")
        .pool_idle_timeout(IDLE);
    if ca.is_empty() {
        // The roots of the host; the library then wants the process to have chosen a provider.
        let _ = rustls::crypto::ring::default_provider().install_default();
    } else {
        builder = builder.tls_backend_preconfigured(pinned(ca)?);
    }
    if let Some((name, address)) = host {
        builder = builder.resolve(name, address);
    }
    builder.build().map_err(|error| error.to_string())
}

/// TLS that trusts these authorities alone.
fn pinned(ca: &[u8]) -> Result<rustls::ClientConfig, String> {
    let mut roots = rustls::RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(ca) {
        let certificate = certificate.map_err(|error| error.to_string())?;
        roots.add(certificate).map_err(|error| error.to_string())?;
    }
    if roots.is_empty() {
        return Err("unable to load root certificates: unable to parse bytes as PEM block".into());
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

fn too_large(limit: usize) -> CallError {
    CallError::Unreadable(format!("the response is larger than {limit} bytes"))
}

/// The host and port of a URL.
fn authority(url: &str) -> String {
    url.split_once("://")
        .map_or(url, |(_, rest)| rest)
        .split(['/', '?'])
        .next()
        .unwrap_or_default()
        .to_owned()
}
