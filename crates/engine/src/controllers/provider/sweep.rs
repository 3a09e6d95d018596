//! Sweeps a healthy provider for orphans. It stands still while the provider does not answer or
//! the API server cannot be asked: what is not known to be gone is not gone.

use std::collections::HashSet;

use kube::{Api, Resource, ResourceExt, api::ListParams};
use machinist_api::{
    names,
    vitistack::{Machine, MachineProvider},
};
use machinist_core::{machine::Facts, provider::Provider};
use tokio::time::Instant;

use super::name_of;
use crate::{
    context::Context,
    error::{PassError, chain},
};

/// How many objects are read at a time.
const PAGE: u32 = 500;

/// Looks for orphans, when that is due, reports them, and removes those that a person named.
pub(super) async fn sweep(
    provider: &MachineProvider,
    driver: &dyn Provider,
    context: &Context,
) -> Result<(), PassError> {
    let name = name_of(provider);
    if !context.sweep(&name, |sweep| sweep.is_due(Instant::now())) {
        return Ok(());
    }
    // First the platform, then the objects: a machine is made only after its object, so that one
    // whose object is not there has lost it.
    let listed = match driver.list(&context.cluster).await {
        Ok(listed) => listed,
        Err(error) => {
            tracing::warn!(provider = %provider.name_any(), error = %chain(&error), "not swept");
            return Ok(());
        }
    };
    // What the view knows lives. Only what it does not know is worth reading all objects for, as
    // the API server has them now: the view may be behind.
    let suspects = unknown(listed, context);
    let living = match suspects.is_empty() {
        true => HashSet::new(),
        false => living(context).await?,
    };
    let named = provider.annotations().get(names::DELETE_ORPHANS_ANNOTATION);
    let named: Vec<String> = named
        .map(|ids| ids.split(',').map(|id| id.trim().to_owned()).collect())
        .unwrap_or_default();
    let findings = context.sweep(&name, |sweep| {
        sweep.judge(suspects, &living, &named, Instant::now())
    });
    for orphan in findings.report {
        let note = format!(
            "Machine {} carries the key {} of this cluster, and its object is no more. If it is to go, annotate this provider with {}={}.",
            orphan.id,
            orphan.key,
            names::DELETE_ORPHANS_ANNOTATION,
            orphan.id
        );
        context
            .events
            .warning(provider, "OrphanFound", "sweep", note)
            .await;
    }
    for orphan in findings.remove {
        let (reason, note) = match driver.delete(&orphan.key, &orphan.id, None).await {
            Ok(()) => (
                "OrphanDeleted",
                format!("Machine {} is being removed.", orphan.id),
            ),
            Err(error) => ("OrphanStays", chain(&error)),
        };
        tracing::info!(provider = %provider.name_any(), orphan = %orphan.id, reason, "swept");
        context.events.normal(provider, reason, "sweep", note).await;
    }
    Ok(())
}

/// The machines whose objects are not in the view.
fn unknown(mut listed: Vec<Facts>, context: &Context) -> Vec<Facts> {
    let known = context.machines.state();
    let known: HashSet<&str> = known
        .iter()
        .filter_map(|machine| machine.meta().uid.as_deref())
        .collect();
    listed.retain(|facts| !known.contains(facts.key.machine()));
    listed
}

/// The UIDs of all objects, as the API server has them now.
async fn living(context: &Context) -> Result<HashSet<String>, PassError> {
    let api: Api<Machine> = Api::all(context.client.clone());
    let mut params = ListParams::default().limit(PAGE);
    let mut living = HashSet::new();
    loop {
        let page = api
            .list_metadata(&params)
            .await
            .map_err(PassError::api("could not list the machines"))?;
        living.extend(page.items.iter().filter_map(ResourceExt::uid));
        match page.metadata.continue_.filter(|token| !token.is_empty()) {
            Some(token) => params = params.continue_token(&token),
            None => return Ok(living),
        }
    }
}
