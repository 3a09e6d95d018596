//! Turns a declared provider into a connected one, once for each declaration.

use std::sync::Arc;

use futures::StreamExt;
use k8s_openapi::api::core::v1::Secret;
use kube::{Api, ResourceExt};
use machinist_api::vitistack::MachineProvider;
use machinist_core::{
    dialect::vitistack::{SecretData, access, lower_provider, secret_names},
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
    secrets::Version,
};

/// The connection for this declaration: the one there is, when nothing changed, or a new one.
pub(super) async fn connect(
    provider: &MachineProvider,
    before: Option<&Attempt>,
    context: &Arc<Context>,
) -> Result<Attempt, PassError> {
    let (secrets, versions) = read_secrets(provider, context).await?;
    let access = match access(provider, &secrets) {
        Ok(access) => access,
        Err(error) => return Ok(Err(unusable(error.reason(), error.to_string()))),
    };
    let expires = access.expires();
    if let Some(expired) = expires.filter(|expires| *expires <= context.clock.now()) {
        let names: Vec<String> = secrets
            .keys()
            .map(|(ns, name)| format!("{ns}/{name}"))
            .collect();
        let message = format!(
            "the certificate in Secret {} expired at {expired}; write a new one into it",
            names.join(" and ")
        );
        return Ok(Err(unusable("CredentialsExpired", message)));
    }
    let fingerprint = format!(
        "{} {}",
        provider.uid().unwrap_or_default(),
        provider.metadata.generation.unwrap_or_default(),
    );
    if let Some(Ok(connection)) = before
        && connection.fingerprint == fingerprint
        && connection.secrets == versions
    {
        return Ok(Ok(connection.clone()));
    }
    let spec = lower_provider(provider, access, &secrets);
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
    let pace = spec.courtesy.poll;
    let courteous = Courteous::new(Arc::new(metered), spec.courtesy, track);
    let provider: Arc<dyn Provider> = Arc::new(Looking::new(
        Arc::new(courteous),
        context.cluster.to_string(),
    ));
    let mut watching = vec![poll(provider.clone(), (namespace, name), pace, context)];
    watching.extend(forward_hints(provider.as_ref(), context));
    Ok(Ok(Connection {
        fingerprint,
        secrets: versions,
        expires,
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
            if key.cluster() == &*context.cluster {
                context.hint_uid(key.machine());
            }
        }
    });
    Some(Watching::new(task.abort_handle()))
}

/// What the provider's Secrets hold, and in which versions that was read. One that is not there is
/// left out.
async fn read_secrets(
    provider: &MachineProvider,
    context: &Context,
) -> Result<(SecretData, Vec<Version>), PassError> {
    let (owner, names) = (name_of(provider), secret_names(provider));
    // First the watch, so that no change falls between it and the look.
    context.secrets.follow(&owner, &names);
    let (mut data, mut versions) = (SecretData::new(), Vec::new());
    for name in names {
        let api: Api<Secret> = Api::namespaced(context.client.clone(), &name.0);
        let found = api.get_opt(&name.1).await;
        let found = found.map_err(PassError::api("could not read a secret"))?;
        let version = found.as_ref().and_then(ResourceExt::resource_version);
        context.secrets.read(&owner, &name, version.clone());
        versions.push(version);
        if let Some(secret) = found {
            let values = secret.data.unwrap_or_default().into_iter();
            let values = values.map(|(key, value)| (key, value.0)).collect();
            data.insert(name, values);
        }
    }
    Ok((data, versions))
}

/// What the Secrets hold cannot be used; a change of them is seen.
fn unusable(reason: &str, message: String) -> Trouble {
    Trouble {
        reason: reason.into(),
        message: format!("{message}."),
        terminal: false,
        retry_after: None,
    }
}
