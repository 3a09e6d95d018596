//! Turns a declared provider into a connected one, once for each declaration.

use std::{collections::BTreeMap, sync::Arc};

use futures::StreamExt;
use k8s_openapi::api::core::v1::Secret;
use kube::{Api, ResourceExt};
use machinist_api::vitistack::MachineProvider;
use machinist_core::{
    dialect::vitistack::{lower_provider, secret_names},
    machine::Trouble,
    provider::Provider,
};

use super::{name_of, poll::poll};
use crate::{
    connections::{Attempt, Connection, Watching},
    context::Context,
    controllers::machine::trouble,
    courteous::Courteous,
    error::PassError,
    looking::Looking,
    metered::Metered,
};

/// The connection for this declaration: the one there is, when nothing changed, or a new one.
pub(super) async fn connect(
    provider: &MachineProvider,
    before: Option<&Attempt>,
    context: &Arc<Context>,
) -> Result<Attempt, PassError> {
    let secrets = match read_secrets(provider, context).await? {
        Ok(secrets) => secrets,
        Err(trouble) => return Ok(Err(trouble)),
    };
    let fingerprint = format!(
        "{} {} {}",
        provider.uid().unwrap_or_default(),
        provider.metadata.generation.unwrap_or_default(),
        secrets.versions.join(" ")
    );
    if let Some(Ok(connection)) = before
        && connection.fingerprint == fingerprint
    {
        return Ok(Ok(connection.clone()));
    }
    let spec = lower_provider(provider, secrets.values);
    let driver = match context.connect.connect(&spec).await {
        Ok(driver) => driver,
        Err(error) => return Ok(Err(trouble(&error))),
    };
    let (namespace, name) = name_of(provider);
    let track = context
        .connections
        .track(&(namespace.clone(), name.clone()));
    let metered = Metered::new(
        driver,
        format!("{namespace}/{name}"),
        context.metrics.clone(),
        spec.timeout,
        track.clone(),
    );
    let courteous = Courteous::new(Arc::new(metered), spec.courtesy, track);
    let provider: Arc<dyn Provider> =
        Arc::new(Looking::new(Arc::new(courteous), context.cluster.clone()));
    let mut watching = vec![poll(provider.clone(), (namespace, name), context)];
    watching.extend(forward_hints(provider.as_ref(), context));
    Ok(Ok(Connection {
        fingerprint,
        watching,
        provider,
    }))
}

/// Passes the platform's hints on for as long as the connection lives.
fn forward_hints(provider: &dyn Provider, context: &Arc<Context>) -> Option<Watching> {
    let mut hints = provider.watch()?;
    let context = Arc::downgrade(context);
    let task = tokio::spawn(async move {
        while let Some(key) = hints.next().await {
            let Some(context) = context.upgrade() else {
                return;
            };
            if key.cluster() == context.cluster {
                context.hint_uid(key.machine());
            }
        }
    });
    Some(Watching::new(task.abort_handle()))
}

struct Secrets {
    values: BTreeMap<String, Vec<u8>>,
    versions: Vec<String>,
}

async fn read_secrets(
    provider: &MachineProvider,
    context: &Context,
) -> Result<Result<Secrets, Trouble>, PassError> {
    let mut secrets = Secrets {
        values: BTreeMap::new(),
        versions: Vec::new(),
    };
    for (namespace, name) in secret_names(provider) {
        let api: Api<Secret> = Api::namespaced(context.client.clone(), &namespace);
        let found = api
            .get_opt(&name)
            .await
            .map_err(PassError::api("could not read a secret"))?;
        let Some(secret) = found else {
            return Ok(Err(Trouble {
                reason: "SecretNotFound".into(),
                message: format!(
                    "Secret {namespace}/{name}, which the provider refers to, does not exist; create it, or have the provider refer to another."
                ),
                terminal: false,
                retry_after: None,
            }));
        };
        secrets
            .versions
            .push(secret.resource_version().unwrap_or_default());
        let data = secret.data.unwrap_or_default();
        secrets
            .values
            .extend(data.into_iter().map(|(key, value)| (key, value.0)));
    }
    Ok(Ok(secrets))
}
