//! One manifest, tried without effect: what the API server would store, beside what it stores now.

use axum::http::{Request, header::CONTENT_TYPE};
use machinist_api::names;
use machinist_core::preview::three_way;
use serde_json::Value;

use crate::{
    connection::{Connection, refused},
    failure::{self, Outcome},
    kinds::{Kind, Kinds, escape},
    manifests::Manifest,
};

/// Who applies, when nobody is said to and nobody has yet: as `kubectl apply --server-side`.
const MANAGER: &str = "kubectl";
/// What `kubectl apply` remembers.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// How a trial ended.
pub(super) enum Tried {
    /// The API server takes it: as it is, if it is there, and as it would be.
    Taken { before: Option<Value>, after: Value },
    /// The API server refuses it.
    Refused(String),
    /// It cannot be tried before another object is made.
    Untried(String),
}

/// What a trial needs besides the manifest.
pub(super) struct Question<'a> {
    pub(super) connection: &'a Connection,
    pub(super) kinds: &'a Kinds,
    /// Namespaces that the manifests make themselves.
    pub(super) made: &'a [String],
    pub(super) manager: Option<&'a str>,
}

/// Tries it.
pub(super) async fn attempt(question: &Question<'_>, manifest: &mut Manifest) -> Outcome<Tried> {
    let (group, name) = manifest.family();
    let Some(kind) = question.kinds.exact(group, name) else {
        return Ok(Tried::Refused(format!(
            "there is no kind {} in {}",
            manifest.kind,
            manifest.api_version()
        )));
    };
    let kind = kind.at(manifest.version());
    if kind.namespaced {
        let namespace = question.connection.namespace.clone();
        manifest.namespace.get_or_insert(namespace);
    } else {
        manifest.namespace = None;
    }
    let namespace = manifest.namespace.clone().unwrap_or_default();
    let path = kind.object_path(&namespace, &manifest.name);
    let before = match question.connection.json(&path).await {
        Ok(object) => Some(object),
        Err(kube::Error::Api(status)) if status.code == 404 => None,
        Err(error) => return Err(refused("could not read an object")(error)),
    };
    if before.is_none() && kind.namespaced && question.made.contains(&namespace) {
        return Ok(Tried::Untried(format!(
            "Not tried: namespace {namespace} is made by the same manifests."
        )));
    }
    let request = trial(question, manifest, &kind, &path, before.as_ref())?;
    match question.connection.client.request::<Value>(request).await {
        Ok(after) => Ok(Tried::Taken { before, after }),
        Err(kube::Error::Api(status)) => Ok(Tried::Refused(status.message)),
        Err(error) => Err(refused("could not try a manifest")(error)),
    }
}

/// The request that would store it, as whoever stored it before would make it again: `kubectl
/// apply` remembers in an annotation what it applied, server-side apply in the managed fields.
fn trial(
    question: &Question<'_>,
    manifest: &Manifest,
    kind: &Kind,
    path: &str,
    before: Option<&Value>,
) -> Outcome<Request<Vec<u8>>> {
    let remembered = before
        .and_then(|live| live["metadata"]["annotations"][LAST_APPLIED].as_str())
        .and_then(|text| serde_json::from_str::<Value>(text).ok());
    let (body, content, manager) = match (remembered, before, question.manager) {
        (Some(last), Some(live), None) => (
            three_way(&last, &manifest.object, live),
            "application/merge-patch+json",
            "kubectl-client-side-apply".to_owned(),
        ),
        (_, before, manager) => {
            let manager = manager.map(str::to_owned);
            let manager = manager.or_else(|| before.and_then(applier));
            let mut object = manifest.object.clone();
            object["metadata"]["namespace"] = match kind.namespaced {
                true => manifest.namespace.clone().into(),
                false => Value::Null,
            };
            let manager = manager.unwrap_or_else(|| MANAGER.into());
            (object, "application/apply-patch+yaml", manager)
        }
    };
    let body = serde_json::to_vec(&body)
        .map_err(|e| failure::internal("could not write a manifest", e))?;
    let path = format!(
        "{path}?dryRun=All&fieldValidation=Strict&fieldManager={}",
        escape(&manager)
    );
    Request::patch(path)
        .header(CONTENT_TYPE, content)
        .body(body)
        .map_err(|e| failure::internal("could not make a request", e))
}

/// Who applied the object last, other than our controllers.
fn applier(live: &Value) -> Option<String> {
    let ours = [names::MACHINE_FIELD_MANAGER, names::PROVIDER_FIELD_MANAGER];
    let managers = live["metadata"]["managedFields"].as_array()?;
    let applied = managers.iter().filter(|entry| {
        let manager = entry["manager"].as_str().unwrap_or_default();
        entry["operation"] == "Apply" && entry["subresource"].is_null() && !ours.contains(&manager)
    });
    let latest = applied.max_by_key(|entry| entry["time"].as_str().map(str::to_owned))?;
    latest["manager"].as_str().map(str::to_owned)
}
