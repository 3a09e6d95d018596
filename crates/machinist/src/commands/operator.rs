//! `machinist operator`: the same engine against any real Kubernetes.

use std::{
    net::SocketAddr,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use axum::{Router, http::StatusCode, routing::get};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api, Client, Config, ResourceExt,
    api::{Patch, PatchParams},
    config::{KubeConfigOptions, Kubeconfig},
    runtime::wait::{await_condition, conditions::is_crd_established},
};
use machinist_api::names::{SYSTEM_NAMESPACE, WEBHOOK_SERVICE};
use machinist_apiserver::{Pki, tls};
use machinist_engine::{
    Election, Engine, Leadership, Metrics, Readiness, SystemClock,
    journal::Journal,
    quota::{Book, Gate},
    trace::Tracer,
};

use super::up::interrupted;
use crate::{
    cli,
    data_dir::DataDir,
    definitions,
    downloads::Downloads,
    drivers::Drivers,
    failure::{self, Outcome},
    telemetry::Telemetry,
    webhook::{self, Place},
};

/// The Lease that the replica which works holds.
const LEASE: &str = "machinist";

/// Runs it until it is told to end.
pub(crate) async fn run(flags: cli::Operator) -> Outcome {
    let metrics = Metrics::default();
    let telemetry = Telemetry::start(&flags.tracing, &metrics)?;
    let (tracer, journal) = (telemetry.tracer.clone(), telemetry.journal.clone());
    let outcome = work(flags, metrics, tracer, journal).await;
    telemetry.stop().await;
    outcome
}

async fn work(flags: cli::Operator, metrics: Metrics, tracer: Tracer, journal: Journal) -> Outcome {
    let dir = DataDir::resolve(&flags.data)?;
    let _claim = dir.claim()?;
    let config = cluster(flags.kubeconfig.as_deref()).await?;
    let url = config.cluster_url.to_string();
    let client = Client::try_from(config)
        .map_err(|e| failure::configuration("could not make a client", e))?;
    client
        .apiserver_version()
        .await
        .map_err(|e| failure::configuration(format!("could not reach the cluster at {url}"), e))?;
    let book = Book::durable(client.clone());
    let gate = Gate::new(client.clone(), Arc::new(SystemClock), book);
    let webhook = Served::start(&flags, &dir, (gate.clone(), &tracer), &client).await?;
    // First, because a CRD must not name both a service and a URL while it changes from one to the other.
    let (place, authority) = (&webhook.place, &webhook.authority);
    webhook::install(&client, place, authority, tracer.is_on()).await?;
    if flags.install_crds {
        install_crds(&client, flags.definitions, &webhook).await?;
    }
    let pointed = (webhook.place.clone(), webhook.authority.clone());
    let limiting = webhook::limit(
        client.clone(),
        gate,
        webhook.place.clone(),
        Some(webhook.authority.clone()),
    );
    let keeping = webhook::keep(client.clone(), Some(pointed));
    let keeping = tokio::spawn(async {
        futures::future::join(keeping, limiting).await;
    });
    let readiness = Readiness::default();
    let works = Arc::new(AtomicBool::new(
        !flags.webhook.webhooks_only && !flags.election.leader_elect,
    ));
    let engine_is_ready = (works.clone(), readiness.clone());
    let health = serve_health(flags.listen, metrics.clone(), engine_is_ready).await?;
    tracing::info!(cluster = %url, "operator started");
    if flags.webhook.webhooks_only {
        interrupted().await;
        for task in [health, keeping, webhook.task] {
            task.abort();
        }
        return Ok(());
    }
    let leadership = match flags.election.leader_elect {
        true => tokio::select! {
            leadership = election(&flags.election, &client).win() => Some(leadership),
            () = interrupted() => return Ok(()),
        },
        false => None,
    };
    works.store(true, Ordering::Relaxed);
    metrics.leads(LEASE, true);
    let lost = leadership.as_ref().map(Leadership::lost);
    let engine = Engine {
        client,
        connect: Arc::new(Drivers::new(dir, Downloads::default())),
        clock: Arc::new(SystemClock),
        metrics: metrics.clone(),
        readiness,
        tracer,
        journal,
    };
    let outcome = engine
        .run(async move {
            tokio::select! {
                () = interrupted() => {}
                () = async { match lost { Some(lost) => lost.await, None => std::future::pending().await } } => {}
            }
        })
        .await;
    metrics.leads(LEASE, false);
    for task in [health, keeping, webhook.task] {
        task.abort();
    }
    outcome.map_err(|e| failure::refused("the engine ended", e))?;
    match leadership {
        Some(leadership) if leadership.is_lost() => Err(failure::refused_plain(format!(
            "the lease {LEASE} is lost; another replica works, or the API server cannot be reached"
        ))),
        Some(leadership) => {
            leadership.release().await;
            Ok(())
        }
        None => Ok(()),
    }
}

/// This process as a candidate, under a name that a person can find.
fn election(flags: &cli::Election, client: &Client) -> Election {
    let host = std::env::var("HOSTNAME").unwrap_or_else(|_| "machinist".to_owned());
    Election {
        client: client.clone(),
        namespace: flags.lease_namespace.clone(),
        name: LEASE.to_owned(),
        identity: format!("{host}_{}", uuid::Uuid::new_v4()),
        duration: Duration::from_secs(flags.lease_duration),
    }
}

async fn cluster(kubeconfig: Option<&Path>) -> Outcome<Config> {
    match kubeconfig {
        Some(path) => {
            let bad = |e| failure::configuration(format!("could not use {}", path.display()), e);
            let kubeconfig = Kubeconfig::read_from(path).map_err(bad)?;
            Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
                .await
                .map_err(bad)
        }
        None => Config::infer().await.map_err(|e| {
            failure::configuration("could not find a cluster", e)
                .hint("Give --kubeconfig FILE, set KUBECONFIG, or run it in a pod.")
        }),
    }
}

/// The webhooks, and what an API server must know to ask them.
struct Served {
    place: Place,
    authority: String,
    task: tokio::task::JoinHandle<()>,
}

impl Served {
    async fn start(
        flags: &cli::Operator,
        dir: &DataDir,
        (gate, tracer): (Gate, &Tracer),
        client: &Client,
    ) -> Outcome<Served> {
        let namespace = &flags.election.lease_namespace;
        let flags = &flags.webhook;
        let certificates = flags.webhook_cert_dir.clone();
        let certificates = certificates.unwrap_or_else(|| dir.webhook());
        if let Some(secret) = &flags.webhook_secret {
            webhook::share_authority(client, namespace, secret, &certificates).await?;
        }
        let names = ["", ".svc", ".svc.cluster.local"]
            .map(|end| format!("{WEBHOOK_SERVICE}.{SYSTEM_NAMESPACE}{end}"));
        let host = flags.webhook_url.as_deref().and_then(|url| {
            let url: axum::http::Uri = url.parse().ok()?;
            url.host()
                .map(|host| host.trim_matches(['[', ']']).to_owned())
        });
        let pki = Pki::load_or_create_authority(&certificates)
            .map_err(|e| failure::configuration("could not prepare the webhooks' authority", e))?
            .with_names(names.into_iter().chain(host));
        let listener = tls::bind(&flags.webhook_listen.to_string())
            .await
            .map_err(|e| {
                failure::configuration("could not listen for webhooks", e)
                    .hint("Give another --webhook-listen ADDR:PORT, or stop what uses this one.")
            })?;
        let address = listener
            .local_addr()
            .map_err(|e| failure::internal("could not read the address", e))?;
        let in_pod = std::env::var_os("KUBERNETES_SERVICE_HOST").is_some();
        let place = match &flags.webhook_url {
            Some(url) => Place::url(url.clone()),
            None if in_pod => Place::service(),
            None => Place::url(format!("https://{address}")),
        };
        let owner = match &flags.webhooks_owned_by {
            Some(role) => webhook::owner(client, role).await?,
            None => None,
        };
        let place = place.owned_by(owner);
        tracing::info!(%address, ?place, "webhooks are served");
        Ok(Served {
            place,
            authority: pki.ca_certificate().to_owned(),
            task: webhook::serve(listener, &pki, gate, tracer)?,
        })
    }
}

/// Applies every definition, then waits for all of them: the cluster works on them side by side.
async fn install_crds(client: &Client, flags: cli::Definitions, webhook: &Served) -> Outcome {
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    let params = PatchParams::apply("machinist").force();
    let mut crds = definitions::shipped(flags.into())?;
    for crd in &mut crds {
        let name = crd.name_any();
        webhook::point(crd, &webhook.place, &webhook.authority);
        api.patch(&name, &params, &Patch::Apply(crd))
            .await
            .map_err(|e| failure::refused(format!("could not install {name}"), e))?;
    }
    for crd in &crds {
        let name = crd.name_any();
        await_condition(api.clone(), &name, is_crd_established())
            .await
            .map_err(|e| failure::refused(format!("{name} is not served"), e))?;
        tracing::info!(crd = name, "installed");
    }
    Ok(())
}

/// Liveness, readiness, version and metrics for whoever runs the operator.
async fn serve_health(
    address: SocketAddr,
    metrics: Metrics,
    (works, readiness): (Arc<AtomicBool>, Readiness),
) -> Outcome<tokio::task::JoinHandle<()>> {
    let listener = tokio::net::TcpListener::bind(address).await.map_err(|e| {
        failure::configuration(format!("could not listen on {address}"), e)
            .hint("Give another --listen ADDR:PORT, or stop what uses this one.")
    })?;
    let routes = Router::new()
        .route("/livez", get(async || "ok"))
        .route("/readyz", get(async move || ready(&works, &readiness)))
        .route("/version", get(async || env!("CARGO_PKG_VERSION")))
        .route("/metrics", get(async move || metrics.encode()));
    Ok(tokio::spawn(async move {
        if let Err(error) = axum::serve(listener, routes).await {
            tracing::error!(%error, "health server ended");
        }
    }))
}

/// Ready when the engine, if one works here, has seen every kind once: until then it can do nothing
/// for anybody. A replica that waits for the lease serves webhooks, and is ready for that.
fn ready(works: &AtomicBool, readiness: &Readiness) -> (StatusCode, &'static str) {
    match !works.load(Ordering::Relaxed) || readiness.is_ready() {
        true => (StatusCode::OK, "ok"),
        false => (
            StatusCode::SERVICE_UNAVAILABLE,
            "the first list is not complete",
        ),
    }
}
