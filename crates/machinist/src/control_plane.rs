//! A control plane in this process: store, API server and engine, wired together.

use std::{net::SocketAddr, sync::Arc};

use machinist_api::vitistack;
use machinist_apiserver::registry::StrategicGroup;
use machinist_apiserver::{
    ApiServer, AuditOptions, Identity, Options, Pki, StartError,
    tls::{self, PkiError},
};
use machinist_engine::{
    Engine, Metrics, Readiness, SystemClock,
    journal::Journal,
    quota::{Book, Gate},
    trace::Tracer,
};
use machinist_store::{OpenError, Store};
use tokio::{net::TcpListener, sync::watch, task::JoinHandle};

use crate::{
    data_dir::{self, DataDir},
    definitions,
    downloads::Downloads,
    drivers::Drivers,
    failure::{self, Outcome},
    webhook,
};

/// Opens the address to serve at. It comes before the start: an address that is taken must not
/// leave a store behind.
pub(crate) async fn bind(address: SocketAddr) -> Outcome<TcpListener> {
    tls::bind(&address.to_string()).await.map_err(|e| {
        failure::configuration("could not listen", e)
            .hint("Give another --listen ADDR:PORT, or stop what uses this one.")
    })
}

/// What a control plane can do without.
#[derive(Default)]
pub(crate) struct Extras {
    /// What is written down of requests.
    pub(crate) audit: Option<AuditOptions>,
    /// Where everything is counted.
    pub(crate) metrics: Metrics,
    /// Where spans go.
    pub(crate) tracer: Tracer,
    /// Where what Vitistacks have collected goes.
    pub(crate) journal: Journal,
}

/// A running control plane.
pub(crate) struct ControlPlane {
    /// Talks to the API server without a socket.
    pub(crate) client: kube::Client,
    /// The images that are being fetched.
    pub(crate) downloads: Downloads,
    server: ApiServer,
    store: Store,
    shutdown: watch::Sender<bool>,
    engine: JoinHandle<Outcome>,
    serving: Option<JoinHandle<Outcome>>,
    /// The certificates, made while everything else starts.
    pki: JoinHandle<Result<Pki, PkiError>>,
}

impl ControlPlane {
    /// Opens the store and starts API server and engine. The caller holds the claim on the directory.
    pub(crate) async fn start(dir: &DataDir, extras: Extras) -> Outcome<ControlPlane> {
        ControlPlane::begin(dir, true, extras).await
    }

    /// The same without the engine: objects are kept and served, and nothing acts on them.
    pub(crate) async fn start_api(dir: &DataDir, extras: Extras) -> Outcome<ControlPlane> {
        ControlPlane::begin(dir, false, extras).await
    }

    async fn begin(dir: &DataDir, with_engine: bool, extras: Extras) -> Outcome<ControlPlane> {
        let pki = dir.pki();
        let signing_key = {
            let pki = pki.clone();
            tokio::task::spawn_blocking(move || Pki::signing_key(&pki))
        };
        let pki = tokio::task::spawn_blocking(move || Pki::load_or_create(&pki));
        let store = Store::open(&dir.store(), machinist_store::Options::default())
            .map_err(|error| open_failure(dir, error))?;
        let signing_key = signing_key
            .await
            .map_err(|e| failure::internal("could not make a key for tokens", e))?
            .map_err(|e| failure::configuration("could not prepare the key for tokens", e))?;
        let Extras {
            audit,
            metrics,
            tracer,
            journal,
        } = extras;
        let gate = webhook::LateGate::default();
        let server = {
            let metrics = metrics.clone();
            let options = Options {
                embedded: definitions::all().to_vec(),
                version: env!("CARGO_PKG_VERSION").into(),
                extra_metrics: Some(Arc::new(move || metrics.encode())),
                converters: webhook::converters(),
                services: Some(webhook::services(gate.clone(), tracer.clone())),
                signing_key: Some(signing_key),
                audit,
                strategic: vec![ironcore_patches()],
                preferred_groups: vec![vitistack::GROUP.into()],
                ..Options::default()
            };
            let what = "could not start the API server";
            ApiServer::new(store.clone(), options)
                .await
                .map_err(|error| match error {
                    StartError::Audit(error) => failure::configuration(what, error),
                    error => failure::internal(what, error),
                })?
        };
        let client = kube::Client::new(server.service(Identity::admin()), "default");
        webhook::configure_embedded(&client, tracer.is_on()).await?;
        let (shutdown, _) = watch::channel(false);
        let book = Book::memory();
        let open = Gate::new(client.clone(), Arc::new(SystemClock), book);
        let open = gate.get_or_init(|| open).clone();
        let (stop, limiting) = (stopped(&shutdown), client.clone());
        tokio::spawn(async move {
            let limiting = webhook::limit(limiting, open, webhook::Place::service(), None);
            tokio::select! { () = stop => {}, () = limiting => {} }
        });
        let downloads = Downloads::default();
        let engine = Engine {
            client: client.clone(),
            connect: Arc::new(Drivers::new(dir.clone(), downloads.clone())),
            clock: Arc::new(SystemClock),
            metrics,
            readiness: Readiness::default(),
            tracer,
            journal,
        };
        let (stop, keeping) = (stopped(&shutdown), client.clone());
        tokio::spawn(async move {
            tokio::select! { () = stop => {}, () = webhook::keep(keeping, None) => {} }
        });
        let stop = stopped(&shutdown);
        let engine = tokio::spawn(async move {
            if !with_engine {
                stop.await;
                return Ok(());
            }
            let outcome = engine.run(stop).await;
            outcome.map_err(|e| failure::internal("the engine ended", e))
        });
        Ok(ControlPlane {
            client,
            downloads,
            server,
            store,
            shutdown,
            engine,
            serving: None,
            pki,
        })
    }

    /// Serves the API over TLS, and writes the kubeconfig for it. Returns its URL.
    pub(crate) async fn serve(&mut self, dir: &DataDir, listener: TcpListener) -> Outcome<String> {
        let bound = listener
            .local_addr()
            .map_err(|e| failure::internal("could not read the address", e))?;
        let pki = (&mut self.pki)
            .await
            .map_err(|e| failure::internal("could not make certificates", e))?
            .map_err(|e| failure::configuration("could not prepare certificates", e))?
            .with_names([bound.ip().to_string()]);
        let host = match bound.ip() {
            ip if ip.is_unspecified() => "127.0.0.1".to_owned(),
            ip if ip.is_ipv6() => format!("[{ip}]"),
            ip => ip.to_string(),
        };
        let url = format!("https://{host}:{}", bound.port());
        data_dir::write_private(&dir.kubeconfig(), pki.kubeconfig(&url).as_bytes())?;
        let server = self.server.clone();
        let stop = stopped(&self.shutdown);
        self.serving = Some(tokio::spawn(async move {
            let outcome = server.serve(listener, &pki, stop).await;
            outcome.map_err(|e| failure::internal("the API server ended", e))
        }));
        Ok(url)
    }

    /// Resolves when a part of the control plane ends by itself, which it never should.
    pub(crate) async fn failed(&mut self) -> failure::Failure {
        let outcome = match &mut self.serving {
            Some(serving) => tokio::select! {
                outcome = &mut self.engine => outcome,
                outcome = serving => outcome,
            },
            None => (&mut self.engine).await,
        };
        match outcome {
            Ok(Err(failure)) => failure,
            Ok(Ok(())) => failure::internal_plain("a part of the control plane ended by itself"),
            Err(error) => failure::internal("a part of the control plane crashed", error),
        }
    }

    /// Ends engine, API server and store, in this order. Machines go on running.
    pub(crate) async fn stop(self) {
        let _ = self.shutdown.send(true);
        if !self.engine.is_finished() {
            let _ = self.engine.await;
        }
        self.server.stop();
        if let Some(serving) = self.serving
            && !serving.is_finished()
        {
            let _ = serving.await;
        }
        drop(self.client);
        drop(self.server);
        self.store.close().await;
    }
}

fn stopped(shutdown: &watch::Sender<bool>) -> impl Future<Output = ()> + Send + Sync + 'static {
    let mut shutdown = shutdown.subscribe();
    async move {
        // A sender that is gone means that the control plane is gone.
        let _ = shutdown.wait_for(|stop| *stop).await;
    }
}

fn open_failure(dir: &DataDir, error: OpenError) -> failure::Failure {
    failure::configuration(
        format!("could not open the store in {}", dir.store().display()),
        error,
    )
}

/// IronCore's Go clients send strategic merge patches, as its own API server takes them. Its types
/// give keys to the lists that users write and to `status.peerings`; the others are replaced.
fn ironcore_patches() -> StrategicGroup {
    let replaced = [
        "status.conditions",
        "status.networkInterfaces",
        "status.volumes",
    ];
    StrategicGroup {
        suffix: "ironcore.dev".into(),
        replaced: replaced.map(Into::into).into(),
    }
}
