//! The only writer of a MachineProvider's status.

use jiff::Timestamp;
use kube::{
    Api, ResourceExt,
    api::{Patch, PatchParams},
};
use machinist_api::{
    conditions, names,
    vitistack::{MachineProvider, machine_provider::MachineProviderStatus},
};
use machinist_core::dialect::vitistack::{ProviderOutlook, Used, raise_provider};
use serde_json::json;

use super::{Findings, name_of};
use crate::{context::Context, error::PassError};

/// How many machines an event names.
const NAMED: usize = 5;

/// What the findings say.
fn raise(
    provider: &MachineProvider,
    findings: &Findings,
    context: &Context,
) -> MachineProviderStatus {
    let used: Vec<Used> = findings.machines.iter().map(|m| m.used()).collect();
    let outlook = ProviderOutlook {
        outcome: match &findings.outcome {
            Ok((connection, health)) => Ok((connection.provider.capabilities(), health)),
            Err(trouble) => Err(trouble),
        },
        machines: &used,
        latency: findings.latency,
        expires: expires(findings, context),
        lately: findings.lately,
        inventory: findings.inventory.as_deref(),
        now: context.clock.now(),
    };
    raise_provider(provider, &outlook)
}

/// Tells people what is news, and writes the status.
pub(super) async fn report(
    provider: &MachineProvider,
    findings: &Findings,
    context: &Context,
) -> Result<(), PassError> {
    let status = raise(provider, findings, context);
    if let Err(trouble) = &findings.outcome
        && provider.status.as_ref().and_then(|status| status.ready) != Some(false)
    {
        context
            .events
            .warning(provider, &trouble.reason, "probe", trouble.message.clone())
            .await;
    }
    let unchecked = conditions::find(&status.conditions, conditions::ENDPOINT_VERIFIED);
    let known = provider.status.as_ref().is_some_and(|status| {
        conditions::find(&status.conditions, conditions::ENDPOINT_VERIFIED).is_some()
    });
    if let Some(condition) = unchecked.filter(|_| !known) {
        let note = condition.message.clone();
        context
            .events
            .warning(provider, &condition.reason, "probe", note)
            .await;
    }
    let in_use = |provider: &MachineProvider| {
        let conditions = provider.status.as_ref().map(|status| &status.conditions);
        conditions.is_some_and(|all| all.iter().any(|c| c.reason == "InUse"))
    };
    if provider.metadata.deletion_timestamp.is_some() && !in_use(provider) {
        let names: Vec<String> = findings
            .machines
            .iter()
            .take(NAMED)
            .map(|m| m.name_any())
            .collect();
        let note = format!(
            "{} machines are bound to the provider, {} among them; it goes when they are gone. Delete them first.",
            findings.machines.len(),
            names.join(", ")
        );
        context
            .events
            .warning(provider, "InUse", "delete", note)
            .await;
    }
    put(provider, &status, context).await
}

/// Writes the status once more, after more was found out.
pub(super) async fn write(
    provider: &MachineProvider,
    findings: &Findings,
    context: &Context,
) -> Result<(), PassError> {
    put(provider, &raise(provider, findings, context), context).await
}

async fn put(
    provider: &MachineProvider,
    status: &MachineProviderStatus,
    context: &Context,
) -> Result<(), PassError> {
    let patch = json!({
        "apiVersion": "vitistack.io/v1alpha1",
        "kind": "MachineProvider",
        "metadata": { "uid": provider.uid() },
        "status": status,
    });
    let (namespace, name) = name_of(provider);
    let api: Api<MachineProvider> = Api::namespaced(context.client.clone(), &namespace);
    let params = PatchParams::apply(names::PROVIDER_FIELD_MANAGER).force();
    match api
        .patch_status(&name, &params, &Patch::Apply(&patch))
        .await
    {
        Ok(_) => Ok(()),
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
        Err(error) => Err(PassError::api("could not write the provider's status")(
            error,
        )),
    }
}

/// When the credentials stop being valid: what was fetched to prove who we are, or the certificate.
fn expires(findings: &Findings, context: &Context) -> Option<Timestamp> {
    let (connection, health) = findings.outcome.as_ref().ok()?;
    let fetched = health.credentials_last;
    let fetched = fetched.and_then(|lasts| context.clock.now().checked_add(lasts).ok());
    fetched
        .and_then(|at| Timestamp::from_second(at.as_second()).ok())
        .or(connection.expires)
}
