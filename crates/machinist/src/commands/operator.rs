//! `machinist operator`: the same engine against any real Kubernetes.

use std::{net::SocketAddr, path::Path, sync::Arc};

use axum::{Router, http::StatusCode, routing::get};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api, Client, Config, ResourceExt,
    api::{Patch, PatchParams},
    config::{KubeConfigOptions, Kubeconfig},
    runtime::wait::{await_condition, conditions::is_crd_established},
};
use machinist_engine::{Engine, Metrics, Readiness, SystemClock};

use super::up::interrupted;
use crate::{
    cli,
    data_dir::DataDir,
    downloads::Downloads,
    drivers::Drivers,
    failure::{self, Outcome},
};

/// Runs it until it is told to end.
pub(crate) async fn run(flags: cli::Operator) -> Outcome {
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
    if flags.install_crds {
        install_crds(&client, flags.definitions).await?;
    }
    let metrics = Metrics::default();
    let readiness = Readiness::default();
    let health = serve_health(flags.listen, metrics.clone(), readiness.clone()).await?;
    tracing::info!(cluster = %url, "operator started");
    let engine = Engine {
        client,
        connect: Arc::new(Drivers::new(dir, Downloads::default())),
        clock: Arc::new(SystemClock),
        metrics,
        readiness,
    };
    let outcome = engine.run(interrupted()).await;
    health.abort();
    outcome.map_err(|e| failure::refused("the engine ended", e))
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

/// Applies every definition, then waits for all of them: the cluster works on them side by side.
async fn install_crds(client: &Client, flags: cli::Definitions) -> Outcome {
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    let params = PatchParams::apply("machinist").force();
    let crds = machinist_api::crds::crds_with(flags.into());
    for crd in &crds {
        let name = crd.name_any();
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
    readiness: Readiness,
) -> Outcome<tokio::task::JoinHandle<()>> {
    let listener = tokio::net::TcpListener::bind(address).await.map_err(|e| {
        failure::configuration(format!("could not listen on {address}"), e)
            .hint("Give another --listen ADDR:PORT, or stop what uses this one.")
    })?;
    let routes = Router::new()
        .route("/livez", get(async || "ok"))
        .route("/readyz", get(async move || ready(&readiness)))
        .route("/version", get(async || env!("CARGO_PKG_VERSION")))
        .route("/metrics", get(async move || metrics.encode()));
    Ok(tokio::spawn(async move {
        if let Err(error) = axum::serve(listener, routes).await {
            tracing::error!(%error, "health server ended");
        }
    }))
}

/// Ready when the engine has seen every kind once: until then it can do nothing for anybody.
fn ready(readiness: &Readiness) -> (StatusCode, &'static str) {
    match readiness.is_ready() {
        true => (StatusCode::OK, "ok"),
        false => (
            StatusCode::SERVICE_UNAVAILABLE,
            "the first list is not complete",
        ),
    }
}
