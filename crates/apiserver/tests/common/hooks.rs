//! A webhook server over TLS on loopback, whose behaviour at each path is data.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::Body;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{Request, Response};
use http_body_util::BodyExt as _;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::service::TowerToHyperService;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// What the server does at one path.
#[derive(Debug, Clone)]
pub enum Behaviour {
    /// Says yes.
    Allow,
    /// Says no, with this Status.
    Deny(Value),
    /// Says yes, with this JSON patch.
    Patch(Value),
    /// Merges this into the response of an AdmissionReview that says yes.
    Answer(Value),
    /// Gives this code and body, whatever is asked.
    Raw(u16, String),
    /// Sends the client to another URL.
    Redirect(String),
    /// Says yes, after a while.
    Slow(Duration),
    /// Says yes, with this many bytes of warnings.
    Huge(usize),
    /// Breaks the connection off.
    Break,
    /// Converts the objects of a ConversionReview as a function says.
    Convert(fn(&mut Value, &str)),
}

#[derive(Default)]
struct State {
    behaviours: HashMap<String, Behaviour>,
    reviews: Vec<(String, Value)>,
}

/// The server; it ends when this is dropped.
pub struct Hooks {
    state: Arc<Mutex<State>>,
    pub address: std::net::SocketAddr,
    /// The authority of its certificate, as a configuration wants it.
    pub ca: String,
    task: JoinHandle<()>,
}

impl Drop for Hooks {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Hooks {
    /// Starts one with a certificate for loopback and for `hooks.default.svc`.
    pub async fn start() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        // A name of its own, so that it is not taken for another one's.
        let name = format!("hooks {}", uuid::Uuid::new_v4());
        params
            .distinguished_name
            .push(rcgen::DnType::CommonName, name);
        let ca_key = KeyPair::generate().unwrap();
        let ca_cert = params.self_signed(&ca_key).unwrap();
        let issuer = Issuer::new(params, ca_key);
        let names = vec!["127.0.0.1".to_owned(), "hooks.default.svc".to_owned()];
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new(names)
            .unwrap()
            .signed_by(&key, &issuer)
            .unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(
                vec![certificate.der().clone()],
                PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der())),
            )
            .unwrap();
        let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(tls));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let state: Arc<Mutex<State>> = Arc::default();
        let shared = state.clone();
        let task = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, state) = (acceptor.clone(), shared.clone());
                connections.spawn(async move {
                    let Ok(stream) = acceptor.accept(stream).await else {
                        return;
                    };
                    let service =
                        tower::service_fn(move |request: Request<hyper_body::Incoming>| {
                            answer(state.clone(), request.map(Body::new))
                        });
                    let _ = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new())
                        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(service))
                        .await;
                });
            }
        });
        Self {
            state,
            address,
            ca: STANDARD.encode(ca_cert.pem()),
            task,
        }
    }

    /// What the server does at a path from now on.
    pub fn at(&self, path: &str, behaviour: Behaviour) {
        let mut state = self.state.lock().unwrap();
        state.behaviours.insert(path.to_owned(), behaviour);
    }

    /// The reviews that came since this was last asked, with their paths.
    pub fn take_reviews(&self) -> Vec<(String, Value)> {
        std::mem::take(&mut self.state.lock().unwrap().reviews)
    }

    /// A `clientConfig` for a path.
    pub fn client_config(&self, path: &str) -> Value {
        json!({"url": format!("https://{}{path}", self.address), "caBundle": self.ca})
    }
}

use hyper::body as hyper_body;

async fn answer(
    state: Arc<Mutex<State>>,
    request: Request<Body>,
) -> Result<Response<Body>, std::io::Error> {
    let path = request.uri().path().to_owned();
    let bytes = request.into_body().collect().await.unwrap().to_bytes();
    let review: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let behaviour = {
        let mut state = state.lock().unwrap();
        state.reviews.push((path.clone(), review.clone()));
        state.behaviours.get(&path).cloned()
    };
    let respond = |more: Value| {
        let mut response = json!({"uid": review["request"]["uid"], "allowed": true});
        merge(&mut response, more);
        let body = json!({
            "apiVersion": review["apiVersion"], "kind": review["kind"], "response": response,
        });
        reply(200, body.to_string())
    };
    let response = match behaviour.unwrap_or(Behaviour::Raw(404, "no such webhook".into())) {
        Behaviour::Allow => respond(json!({})),
        Behaviour::Deny(status) => respond(json!({"allowed": false, "status": status})),
        Behaviour::Patch(patch) => respond(json!({
            "patchType": "JSONPatch", "patch": STANDARD.encode(patch.to_string()),
        })),
        Behaviour::Answer(more) => respond(more),
        Behaviour::Raw(code, body) => reply(code, body),
        Behaviour::Redirect(to) => {
            let mut response = reply(307, String::new());
            response
                .headers_mut()
                .insert("location", to.parse().unwrap());
            response
        }
        Behaviour::Slow(time) => {
            tokio::time::sleep(time).await;
            respond(json!({}))
        }
        Behaviour::Huge(size) => respond(json!({"warnings": ["x".repeat(size)]})),
        Behaviour::Break => return Err(std::io::Error::other("broken off on purpose")),
        Behaviour::Convert(convert) => {
            let request = &review["request"];
            let version = request["desiredAPIVersion"].as_str().unwrap_or_default();
            let mut objects = request["objects"].as_array().cloned().unwrap_or_default();
            for object in &mut objects {
                convert(object, version);
            }
            let response = json!({
                "uid": request["uid"], "convertedObjects": objects, "result": {"status": "Success"},
            });
            let body = json!({
                "apiVersion": review["apiVersion"], "kind": review["kind"], "response": response,
            });
            reply(200, body.to_string())
        }
    };
    Ok(response)
}

fn reply(code: u16, body: String) -> Response<Body> {
    let kind = if body.starts_with('{') {
        "application/json"
    } else {
        "text/plain"
    };
    Response::builder()
        .status(code)
        .header("content-type", kind)
        .body(Body::from(body))
        .unwrap()
}

fn merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from,
    }
}
