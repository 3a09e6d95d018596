//! The server as its embedder sees it: start it, call it, serve it, stop it.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, HttpBody};
use bytes::Bytes;
use http::{Request, Response};
use machinist_store::Store;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::admission::Admission;
use crate::audit::{AuditError, AuditOptions, Auditor};
use crate::auth::authenticate::Peer;
use crate::auth::{Identity, KeyError, SigningKey, rbac};
use crate::conversion::Converters;
use crate::core::{Closing, Core, ExtraMetrics};
use crate::guard::Limits;
use crate::registry::{DefinitionError, Registry, StrategicGroup};
use crate::resource::{Address, Embedded, Part, PatchKind, WriteOptions};
use crate::status::ApiError;
use crate::tls::{self, Pki, ServeError};
use crate::webhook::Services;
use crate::{background, meta};

/// The name under which the server itself writes.
const MANAGER: &str = "machinist";
/// The namespaces that are always there.
const NAMESPACES: [&str; 3] = ["default", "kube-system", "vitistack-system"];

/// What a server is started with.
#[derive(Default)]
pub struct Options {
    /// CustomResourceDefinitions that are applied at every start.
    pub crds: Vec<Value>,
    /// CustomResourceDefinitions that were judged when the program was built.
    pub embedded: Vec<Embedded>,
    /// The version of the program, as `/version` shows it.
    pub version: String,
    /// More text for `/metrics`.
    pub extra_metrics: Option<ExtraMetrics>,
    /// Finds what answers for the services that webhook configurations name.
    pub services: Option<Arc<dyn Services>>,
    /// Converters of kinds whose definitions name a webhook behind a service.
    pub converters: Converters,
    /// Groups whose custom kinds take strategic merge patches, which Kubernetes refuses for them.
    pub strategic: Vec<StrategicGroup>,
    /// Groups of custom kinds that come before the others when a name such as `machines` is in several.
    pub preferred_groups: Vec<String>,
    /// The key that signs the tokens of ServiceAccounts; without one, tokens end with the server.
    pub signing_key: Option<SigningKey>,
    /// Where requests are written down; nowhere without it.
    pub audit: Option<AuditOptions>,
    /// How much the server takes at once, and how long it waits.
    pub limits: Limits,
}

/// Why a server did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A built-in kind is described wrongly.
    #[error("a built-in kind cannot be served")]
    Builtin(#[from] DefinitionError),
    /// A built-in kind that the start needs is not there.
    #[error("there is no built-in kind {0}")]
    Missing(&'static str),
    /// Requests cannot be written down.
    #[error("there is no audit log")]
    Audit(#[from] AuditError),
    /// There is no key to sign tokens with.
    #[error("tokens cannot be signed")]
    Key(#[from] KeyError),
    /// An object that every server has could not be written.
    #[error("cannot prepare {what}")]
    Prepare {
        /// The object.
        what: String,
        /// What the server said.
        source: ApiError,
    },
}

/// A Kubernetes-compatible API server over a store. Clones are the same server.
#[derive(Clone)]
pub struct ApiServer {
    core: Arc<Core>,
    _background: Arc<Background>,
}

/// Ends the background work with the last clone of its server.
struct Background(JoinHandle<()>);

impl Drop for Background {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl ApiServer {
    /// Starts a server: reads the kinds from the store, makes sure of namespaces and definitions,
    /// and begins to clean up in the background.
    ///
    /// # Errors
    /// When a definition is refused, or when the store does not take a write.
    pub async fn new(store: Store, options: Options) -> Result<Self, StartError> {
        let Options {
            mut crds,
            embedded,
            version,
            extra_metrics,
            services,
            converters,
            strategic,
            preferred_groups,
            signing_key,
            audit,
            limits,
        } = options;
        let audit = audit.map(Auditor::new).transpose()?;
        let signing_key = match signing_key {
            Some(key) => key,
            None => SigningKey::generate()?,
        };
        let version = if version.is_empty() {
            env!("CARGO_PKG_VERSION").to_owned()
        } else {
            version
        };
        let core = Core::new(
            store,
            Registry::new(converters, strategic, preferred_groups)?,
            version,
            extra_metrics,
            signing_key,
            audit,
            limits,
        );
        let core = Arc::new(core.asking(Admission::new(services)));
        core.registry.reload(&core.store);
        core.admission.reload(&core.store);
        let definitions = core
            .registry
            .snapshot()
            .find("apiextensions.k8s.io", "v1", "customresourcedefinitions")
            .ok_or(StartError::Missing("CustomResourceDefinition"))?;
        let prepare = |what: &str| {
            let what = what.to_owned();
            |source| StartError::Prepare { what, source }
        };
        let mut own: Vec<Value> = Vec::new();
        for definition in &embedded {
            own.push(definition.outline().map_err(prepare("definitions"))?);
        }
        own.extend(crds.iter().cloned());
        // Together, so that they share commits of the store.
        futures::try_join!(
            futures::future::try_join_all(NAMESPACES.map(|name| ensure_namespace(&core, name))),
            async {
                rbac::ensure_policy(&core, &own)
                    .await
                    .map_err(prepare("roles and bindings"))
            },
            async {
                core.install(&definitions, &embedded)
                    .await
                    .map_err(prepare("definitions"))?;
                for definition in std::mem::take(&mut crds) {
                    let what = format!("definition {}", meta::name(&definition));
                    core.ensure_definition(&definitions, definition)
                        .await
                        .map_err(prepare(&what))?;
                }
                Ok(())
            },
        )?;
        let background = tokio::spawn(background::run(core.clone()));
        Ok(Self {
            core,
            _background: Arc::new(Background(background)),
        })
    }

    /// The server as a service for callers within the process, who are taken for `identity`.
    pub fn service(&self, identity: Identity) -> ApiService {
        ApiService {
            core: self.core.clone(),
            caller: Caller::Within(identity.authenticated()),
        }
    }

    /// The same for callers on a socket, whose requests say who they are, and whose watches end
    /// when the listener closes.
    pub(crate) fn service_for(&self, peer: Peer, closing: Closing) -> ApiService {
        ApiService {
            core: self.core.clone(),
            caller: Caller::Remote(peer, closing),
        }
    }

    /// Serves over TLS until `shutdown` resolves; watches then end, and open requests finish.
    ///
    /// # Errors
    /// When there are no certificates to serve with.
    pub async fn serve(
        &self,
        listener: TcpListener,
        pki: &Pki,
        shutdown: impl Future<Output = ()>,
    ) -> Result<(), ServeError> {
        self.announce(&listener).await;
        let authority = Some(pki.ca_certificate().to_owned());
        self.core.authority.send_replace(authority);
        tls::serve(self, listener, pki, shutdown).await
    }

    /// Says in the cluster where its API is, as clients look it up: the service `kubernetes`. It
    /// has a port and no virtual address, because nothing here routes to one.
    async fn announce(&self, listener: &TcpListener) {
        let kind = self.core.registry.snapshot().find("", "v1", "services");
        let (Some(kind), Ok(address)) = (kind, listener.local_addr()) else {
            return;
        };
        let port = address.port();
        let service = json!({
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {
                "name": "kubernetes",
                "labels": {"component": "apiserver", "provider": "kubernetes"},
            },
            "spec": {
                "type": "ClusterIP",
                "clusterIP": "None",
                "clusterIPs": ["None"],
                "ports": [{"name": "https", "protocol": "TCP", "port": port, "targetPort": port}],
                "sessionAffinity": "None",
            },
        });
        let at = Address {
            kind,
            namespace: "default".into(),
            name: "kubernetes".into(),
        };
        let options = WriteOptions::internal(MANAGER);
        let written = self
            .core
            .patch(&at, Part::Main, PatchKind::Apply, service, &options);
        // Nobody needs the service to be served: a store that takes no writes is no reason to refuse.
        if let Err(error) = written.await {
            tracing::warn!(%error, "cannot write the service that tells of this API");
        }
    }

    /// Ends every watch and the background work; for a program that is about to go.
    pub fn stop(&self) {
        self.core.stop();
    }

    /// The shared state, for the fuzzers' doors.
    pub(crate) fn core(&self) -> &Arc<Core> {
        &self.core
    }

    /// What the server takes at once, and how long it waits.
    pub(crate) fn limits(&self) -> &Limits {
        &self.core.gate.limits
    }

    /// The store under the server.
    pub fn store(&self) -> &Store {
        &self.core.store
    }
}

async fn ensure_namespace(core: &Core, name: &str) -> Result<(), StartError> {
    let kind = core
        .registry
        .snapshot()
        .find("", "v1", "namespaces")
        .ok_or(StartError::Missing("Namespace"))?;
    let body = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
    match core
        .create(&kind, "", body, &WriteOptions::internal(MANAGER))
        .await
    {
        Ok(_) => Ok(()),
        Err(error) if error.reason == "AlreadyExists" => Ok(()),
        Err(source) => Err(StartError::Prepare {
            what: format!("namespace {name}"),
            source,
        }),
    }
}

/// An [`ApiServer`] as a tower service, for one caller.
#[derive(Clone)]
pub struct ApiService {
    core: Arc<Core>,
    caller: Caller,
}

/// Who calls a service.
#[derive(Clone)]
enum Caller {
    /// Somebody within the process, who is taken for whom they say they are.
    Within(Identity),
    /// Somebody on a socket.
    Remote(Peer, Closing),
}

impl<B> tower::Service<Request<B>> for ApiService
where
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<axum::BoxError>,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let core = self.core.clone();
        let mut request = request.map(Body::new);
        match self.caller.clone() {
            Caller::Within(identity) => {
                request.extensions_mut().insert(identity);
            }
            Caller::Remote(peer, closing) => {
                request.extensions_mut().insert(peer);
                request.extensions_mut().insert(closing);
            }
        }
        Box::pin(async move { Ok(crate::guard::handle(core, request).await) })
    }
}
