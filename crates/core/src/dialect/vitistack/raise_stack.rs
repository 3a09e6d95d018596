//! From what a namespace has to the status of its Vitistack, in the words of both forms.

use std::sync::Arc;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use machinist_api::{
    conditions as types,
    quantity::Quantity,
    vitistack::{
        machine_provider::{MachineProvider, ProviderPhase},
        stack::{
            InfrastructureOrName, ProviderKind, ProviderStatus, ProviderSummary, StackPhase,
            StackResources, Vitistack, VitistackStatus,
        },
    },
};

use super::{
    conditions::{stack_fields, stamp},
    limits,
    provider::platform,
    raise_settings::{Collected, Published, logs, targets},
};
use crate::{
    machine::{Condition, Truth},
    quota::Limits,
};

/// What the machines and networks of a namespace are in all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Totals {
    /// Machines.
    pub machines: u64,
    /// Their storage, in bytes.
    pub storage: u64,
    /// Networks.
    pub networks: u64,
}

/// One provider of a Vitistack, as it was found.
#[derive(Debug, Clone)]
pub struct FoundProvider {
    /// Its name in the Vitistack.
    pub name: String,
    /// Its object, or why there is none.
    pub object: Result<Arc<MachineProvider>, String>,
    /// The machines on it.
    pub machines: u64,
}

/// What one look at a Vitistack gave.
pub struct StackOutlook<'a> {
    /// The Vitistack that has the namespace, when it is another.
    pub claimed_by: Option<&'a str>,
    /// Its providers.
    pub providers: &'a [FoundProvider],
    /// What its namespace has.
    pub totals: &'a Totals,
    /// How what is told to its collector of logs fares; nothing when nothing was told.
    pub logs: Option<&'a Collected>,
    /// Which machines monitoring was told of; nothing when it was not.
    pub targets: Option<&'a Published>,
    /// Now.
    pub now: Timestamp,
}

/// The status of a Vitistack, all of it.
pub fn raise_stack(stack: &Vitistack, outlook: &StackOutlook<'_>) -> VitistackStatus {
    let before = stack.status.as_ref();
    let old = before.map(|status| status.conditions.as_slice());
    let spec = &stack.spec;
    let providers: Vec<ProviderStatus> = outlook.providers.iter().map(provider).collect();
    let totals = outlook.totals;
    let count = |value: u64| i32::try_from(value).ok();
    let summaries = summaries(outlook, before);
    let mut status = VitistackStatus {
        observed_generation: stack.metadata.generation,
        phase: Some(phase(stack, outlook, &providers)),
        conditions: stamp(
            conditions(stack, outlook, &providers),
            old.unwrap_or_default(),
            stack.metadata.generation,
            outlook.now,
        ),
        resources: Some(StackResources {
            machines: count(totals.machines),
            networks: count(totals.networks),
            storage: Some(Quantity::from_bytes(totals.storage).to_string()),
        }),
        display_name: spec.display_name.clone(),
        region: spec.region.clone(),
        zone: spec.zone.clone(),
        infrastructure: match &spec.infrastructure {
            Some(InfrastructureOrName::Name(name)) => Some(name.clone()),
            _ => None,
        },
        description: spec.description.clone(),
        location: spec.location.clone(),
        machine_provider_count: count(summaries.len() as u64),
        machine_providers: summaries,
        active_machines: count(totals.machines),
        provider_statuses: providers.clone(),
        providers,
        ..VitistackStatus::default()
    };
    // A time that moves without cause would make every pass a write.
    let same = before.is_some_and(|before| {
        let mut before = before.clone();
        before.last_reconcile_time = None;
        before == status
    });
    status.last_reconcile_time = match (same, before) {
        (true, Some(before)) => before.last_reconcile_time.clone(),
        _ => Some(Time(outlook.now)),
    };
    status
}

fn provider(found: &FoundProvider) -> ProviderStatus {
    let status = found
        .object
        .as_ref()
        .ok()
        .and_then(|object| object.status.as_ref());
    let phase = status
        .and_then(|status| status.phase)
        .map(|phase| phase.as_str());
    ProviderStatus {
        name: found.name.clone(),
        type_: Some(ProviderKind::Machine),
        phase: phase.map(str::to_owned),
        healthy: Some(is_healthy(found)),
        message: match &found.object {
            Ok(_) => status.and_then(|status| status.message.clone()),
            Err(why) => Some(why.clone()),
        },
        resources_managed: i32::try_from(found.machines).ok(),
        // When it was last asked changes each minute; its own status tells.
        last_health_check: None,
    }
}

fn is_healthy(found: &FoundProvider) -> bool {
    let status = found
        .object
        .as_ref()
        .ok()
        .and_then(|object| object.status.as_ref());
    status.is_some_and(|status| status.phase == Some(ProviderPhase::Ready))
}

fn summaries(outlook: &StackOutlook<'_>, before: Option<&VitistackStatus>) -> Vec<ProviderSummary> {
    let known = before
        .map(|status| status.machine_providers.as_slice())
        .unwrap_or_default();
    let one = |found: &FoundProvider| {
        let object = found.object.as_ref().ok()?;
        let found_at = known.iter().find(|summary| summary.name == found.name);
        Some(ProviderSummary {
            name: found.name.clone(),
            namespace: object.metadata.namespace.clone(),
            provider_type: Some(platform(object).to_owned()),
            region: object.spec.region.clone(),
            zone: object
                .spec
                .availability_zones
                .first()
                .or(object.spec.zones.first())
                .cloned(),
            ready: Some(is_healthy(found)),
            discovered_at: found_at
                .and_then(|summary| summary.discovered_at.clone())
                .or(Some(Time(outlook.now))),
        })
    };
    outlook.providers.iter().filter_map(one).collect()
}

fn phase(
    stack: &Vitistack,
    outlook: &StackOutlook<'_>,
    providers: &[ProviderStatus],
) -> StackPhase {
    let healthy = providers.iter().filter(|p| p.healthy == Some(true)).count();
    let shipped = stack.spec.display_name.is_some();
    match (outlook.claimed_by, healthy, providers.len()) {
        (Some(_), _, _) => StackPhase::Failed,
        (None, 0, 1..) => StackPhase::Failed,
        (None, some, all) if some < all && shipped => StackPhase::Degraded,
        (None, ..) if shipped => StackPhase::Ready,
        (None, ..) => StackPhase::Active,
    }
}

fn conditions(
    stack: &Vitistack,
    outlook: &StackOutlook<'_>,
    providers: &[ProviderStatus],
) -> Vec<Condition> {
    let claimed = outlook.claimed_by.map(|other| {
        format!(
            "Vitistack {other} has this namespace already; delete one of them. Until then quotas and settings here do not count, and nothing is removed."
        )
    });
    let healthy = healthy(providers);
    let quota = quota(&limits(stack), outlook.totals);
    let (truth, reason, message) = match &claimed {
        Some(message) => (Truth::False, "NamespaceClaimed", message.clone()),
        None if healthy.status == Truth::False => {
            (Truth::False, "ProvidersUnhealthy", healthy.message.clone())
        }
        None => (
            Truth::True,
            "Active",
            "Providers, settings and quotas are in force.".into(),
        ),
    };
    let stalled = match &claimed {
        Some(message) => Condition::new(
            types::STALLED,
            Truth::True,
            "NamespaceClaimed",
            message.clone(),
        ),
        None => Condition::new(
            types::STALLED,
            Truth::False,
            "Active",
            "Nothing is in the way.",
        ),
    };
    let mut conditions = vec![
        Condition::new(types::READY, truth, reason, message.clone()),
        Condition::new(types::RECONCILING, Truth::False, reason, message),
        stalled,
        healthy,
        quota,
    ];
    if outlook.claimed_by.is_none() {
        conditions.extend(logs(stack, outlook.logs));
        conditions.extend(targets(stack, outlook.targets));
    }
    conditions.extend(stack_fields(&stack.spec));
    conditions
}

fn healthy(providers: &[ProviderStatus]) -> Condition {
    let kind = types::PROVIDERS_HEALTHY;
    let ill = providers
        .iter()
        .filter(|provider| provider.healthy != Some(true));
    let ill: Vec<String> = ill
        .map(|provider| {
            let why = provider
                .message
                .as_deref()
                .unwrap_or("has not been asked yet");
            format!("{}: {why}", provider.name)
        })
        .collect();
    match (ill.as_slice(), providers) {
        ([], []) => Condition::new(kind, Truth::True, "None", "There are no providers."),
        ([], _) => Condition::new(kind, Truth::True, "Healthy", "All providers answer."),
        (ill, _) => Condition::new(kind, Truth::False, "Unhealthy", ill.join("; ")),
    }
}

/// Whether there is room for more; a quota below use takes nothing away.
fn quota(limits: &Limits, totals: &Totals) -> Condition {
    let kind = types::QUOTA_AVAILABLE;
    let all = [
        ("machines", totals.machines, limits.machines),
        ("bytes of storage", totals.storage, limits.storage),
        ("networks", totals.networks, limits.networks),
    ];
    let told = |over: bool| {
        let which = all.iter().filter_map(|(what, used, limit)| {
            let limit = (*limit)?;
            let hit = if over { *used > limit } else { *used >= limit };
            hit.then(|| format!("{used} of {limit} {what}"))
        });
        which.collect::<Vec<String>>().join(", ")
    };
    if !limits.is_any() {
        return Condition::new(kind, Truth::True, "NoQuota", "There is no quota.");
    }
    let (over, full) = (told(true), told(false));
    match (over.is_empty(), full.is_empty()) {
        (false, _) => Condition::new(
            kind,
            Truth::False,
            "QuotaExceeded",
            format!(
                "There are more than the quota allows: {over}. Nothing is removed, and no more are admitted."
            ),
        ),
        (true, false) => Condition::new(
            kind,
            Truth::False,
            "QuotaReached",
            format!("No more are admitted: {full}."),
        ),
        (true, true) => Condition::new(kind, Truth::True, "Available", "There is room for more."),
    }
}
