//! From what a probe said to a MachineProvider's status, in the words of both documented shapes.

use std::{collections::BTreeMap, time::Duration};

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use machinist_api::{
    conditions as types,
    vitistack::machine_provider::{
        AuthenticationState, AuthenticationStatus, ConnectivityState, ConnectivityStatus,
        HealthMetrics, HealthState, HealthStatus, MachineProvider, MachineProviderStatus,
        ProviderPhase,
    },
};

use super::{
    conditions::{provider_fields, stamp},
    provider::{declared_endpoint, trust},
    raise_resources::{self, Used},
    raise_stock, verify,
};
use crate::{
    machine::{Condition, Trouble, Truth},
    provider::{Capabilities, Health, Inventory, Lately, Trust},
};

/// A score below this is not that of a healthy provider.
const DEGRADED: u8 = 80;

/// What one look at a provider gave.
pub struct ProviderOutlook<'a> {
    /// What it can do and how it is, or why that is not known.
    pub outcome: Result<(Capabilities, &'a Health), &'a Trouble>,
    /// What each machine that is bound to it was seen to have.
    pub machines: &'a [Used],
    /// How long the last answer took.
    pub latency: Option<Duration>,
    /// When the credentials stop being valid, where that is known.
    pub expires: Option<Timestamp>,
    /// How it answered lately.
    pub lately: Option<Lately>,
    /// What it was last found to have to offer.
    pub inventory: Option<&'a Inventory>,
    /// Now.
    pub now: Timestamp,
}

/// The status of a provider, all of it.
pub fn raise_provider(
    provider: &MachineProvider,
    outlook: &ProviderOutlook<'_>,
) -> MachineProviderStatus {
    let before = provider.status.as_ref();
    let generation = provider.metadata.generation;
    let account = raise_resources::account(provider, outlook);
    let machines = i32::try_from(outlook.machines.len()).ok();
    MachineProviderStatus {
        observed_generation: generation,
        phase: Some(phase(outlook)),
        conditions: stamp(
            conditions(provider, outlook),
            before
                .map(|status| status.conditions.as_slice())
                .unwrap_or_default(),
            generation,
            outlook.now,
        ),
        connectivity: Some(connectivity(provider, outlook)),
        authentication: authentication(provider, outlook),
        resources: Some(account.resources()),
        health: Some(health(provider, outlook)),
        capabilities: outlook
            .outcome
            .as_ref()
            .ok()
            .map(|(can, _)| verify::status(provider, can, outlook.now)),
        ready: Some(outlook.outcome.is_ok()),
        capacity: account.capacity(),
        quota: Some(account.quota()),
        available_resources: raise_stock::available(provider, outlook.inventory),
        last_verified: Some(Time(outlook.now)),
        provider_status: details(outlook),
        machines,
        active_machines: machines,
        message: outlook
            .outcome
            .as_ref()
            .err()
            .map(|trouble| trouble.message.clone()),
    }
}

/// How it answered in the last minutes; one that does not answer now is not well, whatever it was.
fn health(provider: &MachineProvider, outlook: &ProviderOutlook<'_>) -> HealthStatus {
    let score = match outlook.outcome {
        Ok(_) => outlook.lately.map_or(100, |lately| lately.score()),
        Err(_) => 0,
    };
    let percent = |part: f64| Some(format!("{:.1}", part * 100.0));
    let connectivity = connectivity(provider, outlook);
    let authentication = authentication(provider, outlook);
    HealthStatus {
        score: Some(i32::from(score)),
        last_checked: Some(Time(outlook.now)),
        metrics: outlook.lately.map(|lately| HealthMetrics {
            success_rate: percent(1.0 - lately.error_rate()),
            avg_response_time: lately.took.map(|took| format!("{}ms", took.as_millis())),
            error_rate: percent(lately.error_rate()),
        }),
        status: Some(match outlook.outcome {
            Ok(_) if score < DEGRADED => HealthState::Degraded,
            Ok(_) => HealthState::Healthy,
            Err(_) => HealthState::Unhealthy,
        }),
        api_connectivity: connectivity.status.map(|state| state.as_str().to_owned()),
        authentication: authentication
            .and_then(|found| found.status)
            .map(|state| state.as_str().to_owned()),
        service_availability: Default::default(),
        last_check: Some(Time(outlook.now)),
        response_time_ms: connectivity.latency_ms,
    }
}

fn phase(outlook: &ProviderOutlook<'_>) -> ProviderPhase {
    match &outlook.outcome {
        Ok(_) => ProviderPhase::Ready,
        Err(trouble) if trouble.terminal => ProviderPhase::Error,
        Err(_) => ProviderPhase::NotReady,
    }
}

fn conditions(provider: &MachineProvider, outlook: &ProviderOutlook<'_>) -> Vec<Condition> {
    let deleting = provider.metadata.deletion_timestamp.is_some();
    let (status, reason, message) = match &outlook.outcome {
        Ok(_) if deleting => (
            Truth::False,
            "InUse".to_owned(),
            format!(
                "The provider goes when its {} machines are gone.",
                outlook.machines.len()
            ),
        ),
        Ok((_, health)) => (Truth::True, "Connected".to_owned(), connected(health)),
        Err(trouble) => (
            Truth::False,
            trouble.reason.clone(),
            trouble.message.clone(),
        ),
    };
    let stalled = matches!(&outlook.outcome, Err(trouble) if trouble.terminal);
    let busy = !stalled && (outlook.outcome.is_err() || deleting);
    let truth = |yes: bool| if yes { Truth::True } else { Truth::False };
    let mut conditions = vec![
        Condition::new(types::READY, status, reason.clone(), message.clone()),
        Condition::new(
            types::RECONCILING,
            truth(busy),
            reason.clone(),
            message.clone(),
        ),
        Condition::new(types::STALLED, truth(stalled), reason, message),
    ];
    if let Some(state) = authentication(provider, outlook).and_then(|status| status.status) {
        let status = match state {
            AuthenticationState::Valid => Truth::True,
            AuthenticationState::Invalid | AuthenticationState::Expired => Truth::False,
            AuthenticationState::Error => Truth::Unknown,
        };
        conditions.push(Condition::new(
            types::AUTHENTICATED,
            status,
            state.as_str(),
            "Whether the platform accepts the credentials.",
        ));
    }
    if trust(provider) == Trust::Unchecked {
        conditions.push(Condition::new(
            types::ENDPOINT_VERIFIED,
            Truth::False,
            "VerificationSkipped",
            "spec.endpoint says not to check the endpoint's certificate, so that nobody knows whom the credentials are sent to; name its authority in spec.endpoint.caBundle instead.",
        ));
    }
    conditions.extend(provider_fields(&provider.spec));
    if let Ok((can, health)) = &outlook.outcome {
        conditions.extend(verify::condition(provider, can));
        conditions.extend(raise_stock::templates(provider, health));
    }
    conditions
}

/// What the driver says of its platform, as it is.
fn details(outlook: &ProviderOutlook<'_>) -> BTreeMap<String, String> {
    let health = outlook.outcome.as_ref().ok();
    health.map_or_else(BTreeMap::new, |(_, health)| health.details.clone())
}

fn connected(health: &Health) -> String {
    let version = health.version.as_deref().unwrap_or("an unnamed version");
    let details: Vec<String> = health
        .details
        .iter()
        .map(|(key, value)| format!("{key}: {value}"))
        .collect();
    match details.as_slice() {
        [] => format!("{} answers with {version}.", health.endpoint),
        details => format!(
            "{} answers with {version}; {}.",
            health.endpoint,
            details.join("; ")
        ),
    }
}

fn connectivity(provider: &MachineProvider, outlook: &ProviderOutlook<'_>) -> ConnectivityStatus {
    let declared = declared_endpoint(provider);
    let (status, endpoint) = match &outlook.outcome {
        Ok((_, health)) => (ConnectivityState::Connected, Some(health.endpoint.clone())),
        Err(trouble) if trouble.terminal => (ConnectivityState::Error, declared),
        Err(_) => (ConnectivityState::Disconnected, declared),
    };
    ConnectivityStatus {
        status: Some(status),
        last_checked: Some(Time(outlook.now)),
        endpoint,
        latency_ms: outlook
            .latency
            .and_then(|latency| i32::try_from(latency.as_millis()).ok()),
    }
}

/// Only for providers that have credentials at all.
fn authentication(
    provider: &MachineProvider,
    outlook: &ProviderOutlook<'_>,
) -> Option<AuthenticationStatus> {
    let declared = provider.spec.authentication.is_some() || provider.spec.credentials.is_some();
    let status = match &outlook.outcome {
        Ok(_) => AuthenticationState::Valid,
        Err(trouble) => match trouble.reason.as_str() {
            "CredentialsRefused" | "SecretKeyNotFound" | "SecretMalformed" => {
                AuthenticationState::Invalid
            }
            "CredentialsExpired" => AuthenticationState::Expired,
            _ => AuthenticationState::Error,
        },
    };
    declared.then_some(AuthenticationStatus {
        status: Some(status),
        last_verified: Some(Time(outlook.now)),
        expires_at: outlook.expires.map(Time),
    })
}
