//! Calling webhooks: one review is posted, one answer is read, within a time limit.
//!
//! Admission and conversion both call through here. What is asked and what an answer means is
//! theirs; finding the server, TLS, time limits, sizes, and the words for what went wrong are
//! here. The words are those that kube-apiserver uses, because clients and tests match on them.

mod error;
mod target;
mod transport;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::Value;

pub(crate) use error::CallError;
pub(crate) use target::Target;
use transport::Transport;

/// What answers for a service.
#[derive(Clone)]
pub enum Endpoint {
    /// A server on the network, which speaks TLS with a certificate for `NAME.NAMESPACE.svc`.
    Address(SocketAddr),
    /// The program around this server.
    Backend(Arc<dyn Backend>),
}

/// A webhook within the process.
pub trait Backend: Send + Sync {
    /// Answers a review that would have been posted to `path`; an error is a sentence. With it comes
    /// the `traceparent` of the request that it is about, if that had one.
    fn call<'a>(
        &'a self,
        path: &'a str,
        review: Value,
        traceparent: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Value, String>>;
}

/// Finds what answers for a service. There are no pods behind services here, so only the
/// program around the server can know.
pub trait Services: Send + Sync {
    /// Who answers for a service; `None` when nobody does.
    fn resolve(&self, namespace: &str, name: &str, port: u16) -> Option<Endpoint>;
}

impl<F> Services for F
where
    F: Fn(&str, &str, u16) -> Option<Endpoint> + Send + Sync,
{
    fn resolve(&self, namespace: &str, name: &str, port: u16) -> Option<Endpoint> {
        self(namespace, name, port)
    }
}

/// The client of all webhooks; connections are kept and used again.
#[derive(Default)]
pub(crate) struct Caller {
    services: Option<Arc<dyn Services>>,
    transport: Transport,
}

impl Caller {
    /// A client that asks `services` who answers for a service.
    pub(crate) fn new(services: Option<Arc<dyn Services>>) -> Self {
        Self {
            services,
            transport: Transport::default(),
        }
    }

    /// Posts a review and reads the answer, which may have at most `limit` bytes.
    pub(crate) async fn post(
        &self,
        target: &Target,
        review: Value,
        timeout: Duration,
        limit: usize,
        traceparent: Option<&str>,
    ) -> Result<Value, CallError> {
        let url = target.url(timeout);
        let posted = async {
            match target {
                Target::Url { ca, .. } => {
                    self.transport
                        .post((&url, &url), ca, None, &review, limit, traceparent)
                        .await
                }
                Target::Service {
                    namespace,
                    name,
                    port,
                    path,
                    ca,
                } => {
                    let services = self.services.as_deref();
                    match services.and_then(|s| s.resolve(namespace, name, *port)) {
                        None => Err(CallError::transport(
                            &url,
                            &format!("service {name:?} not found"),
                        )),
                        Some(Endpoint::Backend(backend)) => backend
                            .call(path, review, traceparent)
                            .await
                            .map_err(|why| CallError::transport(&url, &why)),
                        Some(Endpoint::Address(address)) => {
                            let dialled = target.url_at_port(timeout, address.port());
                            let host = format!("{name}.{namespace}.svc");
                            let host = Some((host.as_str(), address));
                            self.transport
                                .post((&url, &dialled), ca, host, &review, limit, traceparent)
                                .await
                        }
                    }
                }
            }
        };
        match tokio::time::timeout(timeout, posted).await {
            Ok(result) => result,
            Err(_) => Err(CallError::transport(&url, "context deadline exceeded")),
        }
    }
}
