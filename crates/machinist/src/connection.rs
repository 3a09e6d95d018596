//! A client for the control plane or cluster that the flags mean, and the requests that typed
//! clients cannot make: tables, discovery, objects of any kind as they are.

use std::{ffi::OsStr, path::Path};

use axum::http::{Request, header::ACCEPT};
use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};
use serde_json::Value;

use crate::{
    cli,
    data_dir::DataDir,
    failure::{self, Failure, Outcome},
};

/// The name that kubectl finds a plugin by.
const PLUGIN: &str = "kubectl-machinist";

/// Somebody to ask.
pub(crate) struct Connection {
    /// Speaks the API.
    pub(crate) client: Client,
    /// The namespace that is meant when none is named.
    pub(crate) namespace: String,
}

/// Whether kubectl called, or somebody under that name.
pub(crate) fn called_as_plugin() -> bool {
    let name = std::env::args_os().next();
    let name = name.as_deref().map(Path::new).and_then(Path::file_stem);
    name == Some(OsStr::new(PLUGIN))
}

/// Finds out who is meant. Nothing is asked of it yet.
pub(crate) async fn open(target: &cli::Target) -> Outcome<Connection> {
    let options = KubeConfigOptions {
        context: target.context.clone(),
        ..KubeConfigOptions::default()
    };
    let config = match kubeconfig(target)? {
        Some(kubeconfig) => Config::from_custom_kubeconfig(kubeconfig, &options)
            .await
            .map_err(unusable)?,
        None => match Config::from_kubeconfig(&options).await {
            Ok(config) => config,
            Err(error) => match Config::incluster() {
                Ok(config) if target.context.is_none() => config,
                _ => return Err(unusable(error)),
            },
        },
    };
    let namespace = target.namespace.clone();
    let namespace = namespace.unwrap_or_else(|| config.default_namespace.clone());
    let client = Client::try_from(config)
        .map_err(|e| failure::configuration("could not make a client", e))?;
    Ok(Connection { client, namespace })
}

/// The kubeconfig that is named, or the one of a control plane; nothing means kubectl's own rules.
fn kubeconfig(target: &cli::Target) -> Outcome<Option<Kubeconfig>> {
    let read = |path: &Path| {
        Kubeconfig::read_from(path)
            .map(Some)
            .map_err(|e| failure::configuration(format!("could not read {}", path.display()), e))
    };
    if let Some(file) = &target.kubeconfig {
        return read(file);
    }
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if target.data_dir.is_none() && (set("KUBECONFIG") || called_as_plugin()) {
        return Ok(None);
    }
    let dir = DataDir::resolve(&cli::DataDir {
        data_dir: target.data_dir.clone(),
        images: None,
    });
    match (dir, &target.data_dir) {
        (Ok(dir), _) if dir.holder().is_some() => read(&dir.kubeconfig()),
        (Ok(dir), Some(_)) => Err(failure::configuration_plain(format!(
            "no control plane runs on {}",
            dir.root().display()
        ))
        .hint("Start it with `machinist up`.")),
        (Err(failure), Some(_)) => Err(failure),
        (_, None) => Ok(None),
    }
}

fn unusable(error: kube::config::KubeconfigError) -> Failure {
    failure::configuration("there is no control plane or cluster to ask", error)
        .hint("Start one with `machinist up`, or give --kubeconfig FILE or --data-dir DIR.")
}

impl Connection {
    /// Reads a path of the API, in the form that `accept` names.
    pub(crate) async fn read(&self, path: &str, accept: &str) -> Result<Value, kube::Error> {
        let request = Request::get(path)
            .header(ACCEPT, accept)
            .body(Vec::new())
            .map_err(kube::Error::HttpError)?;
        self.client.request(request).await
    }

    /// Reads what is no JSON.
    pub(crate) async fn text(&self, path: &str) -> Result<String, kube::Error> {
        let request = Request::get(path).body(Vec::new());
        let request = request.map_err(kube::Error::HttpError)?;
        self.client.request_text(request).await
    }

    /// Reads an object or a list as JSON.
    pub(crate) async fn json(&self, path: &str) -> Result<Value, kube::Error> {
        self.read(path, "application/json").await
    }
}

/// Folds a failed request: what the API server said, or that it did not answer.
pub(crate) fn refused(what: &str) -> impl Fn(kube::Error) -> Failure {
    move |error| {
        match error {
        kube::Error::Api(status) => {
            failure::refused_plain(format!("{what}: {}", status.message))
        }
        error => failure::configuration(what.to_owned(), error)
            .hint("Does the control plane run, and is it the one that you mean? See --kubeconfig and --data-dir."),
    }
    }
}
