//! Configurations of platforms, KubevirtConfig and ProxmoxConfig: checked with the Secrets that they
//! name, and told who uses them.
//!
//! Nothing connects here; that is left to the platforms' drivers.

mod secret;

use std::{
    fmt::Debug,
    future::Future,
    sync::Arc,
    time::{Duration, Instant},
};

use futures::stream;
use kube::{
    Api, Resource, ResourceExt,
    api::{ListParams, Patch, PatchParams},
    core::NamespaceResourceScope,
    runtime::{
        controller::Action,
        reflector::{Store, store::Writer},
    },
};
use machinist_api::{
    names,
    vitistack::{KubevirtConfig, ProxmoxConfig},
};
use machinist_core::dialect::vitistack::{
    FoundSecret, PlatformOutlook, raise_kubevirt, raise_proxmox, uses_config,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::{Parts, declared};
use crate::{
    context::Context,
    error::{PassError, chain},
};

/// How often a configuration is looked at: its Secret and its users are not watched for it.
const LOOK_AGAIN: Duration = Duration::from_secs(15);
/// How often a kind is looked for that the server does not have.
const ASK_AGAIN: Duration = Duration::from_secs(60);

/// The configuration of one platform.
pub(crate) trait PlatformConfig:
    Resource<DynamicType = (), Scope = NamespaceResourceScope>
    + Clone
    + Debug
    + Serialize
    + DeserializeOwned
    + Send
    + Sync
    + 'static
{
    /// The type of the providers that use it, and the annotation by which they name it.
    const USERS: (&'static str, &'static str);

    /// The Secret that it names, and what must be in it.
    fn secret(&self) -> secret::Named;

    /// Its whole status, if it says something new.
    fn news(&self, outlook: &PlatformOutlook<'_>) -> Option<Value>;
}

impl PlatformConfig for KubevirtConfig {
    const USERS: (&'static str, &'static str) = ("kubevirt", names::KUBEVIRT_CONFIG_ANNOTATION);

    fn secret(&self) -> secret::Named {
        let spec = &self.spec;
        match &spec.kubeconfig_secret_ref {
            Some(name) => secret::Named::Kubeconfig {
                namespace: spec.secret_namespace.clone().or_else(|| self.namespace()),
                name: name.clone(),
            },
            None => secret::Named::None,
        }
    }

    fn news(&self, outlook: &PlatformOutlook<'_>) -> Option<Value> {
        let status = raise_kubevirt(self, outlook);
        (self.status.as_ref() != Some(&status)).then(|| json!(status))
    }
}

impl PlatformConfig for ProxmoxConfig {
    const USERS: (&'static str, &'static str) = ("proxmox", names::PROXMOX_CONFIG_ANNOTATION);

    fn secret(&self) -> secret::Named {
        match &self.spec.credentials_secret_ref {
            Some(reference) => secret::Named::Credentials {
                namespace: reference.namespace.clone().or_else(|| self.namespace()),
                name: reference.name.clone().unwrap_or_default(),
                key: reference.key.clone(),
                has_user: self.spec.username.is_some(),
            },
            None if self.spec.token.is_some() => secret::Named::InClear,
            None => secret::Named::None,
        }
    }

    fn news(&self, outlook: &PlatformOutlook<'_>) -> Option<Value> {
        let status = raise_proxmox(self, outlook);
        (self.status.as_ref() != Some(&status)).then(|| json!(status))
    }
}

/// Runs the controller of one kind until shutdown.
pub(crate) async fn run<K: PlatformConfig>(
    context: Arc<Context>,
    shutdown: impl Future<Output = ()> + Send + Sync + 'static,
) {
    until_served::<K>(&context).await;
    let view: Writer<K> = Writer::default();
    let all = view.as_reader();
    let parts = Parts {
        view,
        due: stream::pending(),
        declared: |object| declared(object.meta()),
        saw: |_, _| {},
        listed: |_| {},
        reconcile: move |config, context| reconcile(config, context, all.clone()),
        on_error,
    };
    super::run(context, parts, shutdown).await;
}

/// A server need not have the kind; nobody waits for it.
async fn until_served<K: PlatformConfig>(context: &Context) {
    let api: Api<K> = Api::all(context.client.clone());
    let few = ListParams::default().limit(1);
    while api.list_metadata(&few).await.is_err() {
        tokio::time::sleep(ASK_AGAIN).await;
    }
}

async fn reconcile<K: PlatformConfig>(
    config: Arc<K>,
    context: Arc<Context>,
    all: Store<K>,
) -> Result<Action, PassError> {
    let began = Instant::now();
    let outcome = pass(config.as_ref(), &context, &all).await;
    let ok = outcome.is_ok();
    context.metrics.reconciled("platform", ok, began.elapsed());
    outcome
}

async fn pass<K: PlatformConfig>(
    config: &K,
    context: &Context,
    all: &Store<K>,
) -> Result<Action, PassError> {
    let meta = config.meta();
    if meta.deletion_timestamp.is_some() {
        return Ok(Action::await_change());
    }
    let secret: FoundSecret = secret::find(&config.secret(), context).await?;
    let here = all.state();
    let here = here.iter().filter(|o| o.meta().namespace == meta.namespace);
    let is_only = here.count() == 1;
    let providers = context.providers.state();
    let users = providers
        .iter()
        .filter(|provider| uses_config(provider, K::USERS, meta, is_only));
    let mut users: Vec<String> = users.map(|provider| provider.name_any()).collect();
    users.sort();
    let outlook = PlatformOutlook {
        secret: &secret,
        users: &users,
        now: context.clock.now(),
    };
    if let Some(status) = config.news(&outlook) {
        write(config, &status, context).await?;
    }
    context.backoff.forget(&config.uid().unwrap_or_default());
    Ok(Action::requeue(LOOK_AGAIN))
}

async fn write<K: PlatformConfig>(
    config: &K,
    status: &Value,
    context: &Context,
) -> Result<(), PassError> {
    let patch = json!({
        "apiVersion": K::api_version(&()),
        "kind": K::kind(&()),
        "metadata": { "uid": config.uid() },
        "status": status,
    });
    let namespace = config.namespace().unwrap_or_default();
    let api: Api<K> = Api::namespaced(context.client.clone(), &namespace);
    let params = PatchParams::apply(names::PLATFORM_FIELD_MANAGER).force();
    let written = api
        .patch_status(&config.name_any(), &params, &Patch::Apply(&patch))
        .await;
    match written {
        Ok(_) => Ok(()),
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
        Err(error) => Err(PassError::api("could not write the configuration's status")(error)),
    }
}

fn on_error<K: PlatformConfig>(config: Arc<K>, error: &PassError, context: Arc<Context>) -> Action {
    let wait = context.backoff.failed(&config.uid().unwrap_or_default());
    tracing::warn!(config = %config.name_any(), error = %chain(error), retry_in = ?wait, "pass failed");
    Action::requeue(wait)
}
