//! From what a probe said to a MachineProvider's status, in the words of both documented shapes.

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use machinist_api::{
    conditions as types,
    vitistack::{
        machine::Machine,
        machine_provider::{
            AuthenticationState, AuthenticationStatus, CapacityStatus, ConnectivityState,
            ConnectivityStatus, HealthMetrics, HealthState, HealthStatus, MachineProvider,
            MachineProviderStatus, ProviderPhase, ResourceLimits, ResourceQuota,
            ResourceQuotaStatus, ResourceStatus, ResourceUsage,
        },
    },
};

use super::{
    conditions::stamp,
    provider::{declared_endpoint, trust},
    verify,
};
use crate::{
    machine::{Condition, Trouble, Truth},
    provider::{Capabilities, Health, Lately, Trust},
};

const GIB: f64 = (1_u64 << 30) as f64;
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
    let used = used(outlook.machines);
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
        resources: Some(ResourceStatus {
            usage: Some(ResourceUsage {
                machines,
                total_cpu: Some(used.cpu.to_string()),
                total_memory_gb: Some(gigabytes(used.memory)),
                total_storage_gb: Some(used.storage_gb.to_string()),
            }),
            limits: limits(provider, outlook),
            quotas: quotas(provider, machines),
        }),
        health: Some(health(provider, outlook)),
        capabilities: outlook
            .outcome
            .as_ref()
            .ok()
            .map(|(can, _)| verify::status(provider, can, outlook.now)),
        ready: Some(outlook.outcome.is_ok()),
        capacity: capacity(outlook, &used),
        machines,
        active_machines: machines,
        message: outlook
            .outcome
            .as_ref()
            .err()
            .map(|trouble| trouble.message.clone()),
        ..MachineProviderStatus::default()
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
    if let Ok((can, _)) = &outlook.outcome {
        conditions.extend(verify::condition(provider, can));
    }
    conditions
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

/// What machines of a provider use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Used {
    cpu: i64,
    memory: i64,
    storage_gb: i64,
}

impl Used {
    /// What one machine was seen to have.
    pub fn by(machine: &Machine) -> Used {
        let Some(status) = &machine.status else {
            return Used::default();
        };
        let sizes = status.disks.iter().filter_map(|disk| disk.size_gb);
        Used {
            cpu: status.cpus.map(i64::from).unwrap_or_default(),
            memory: status.memory.unwrap_or_default(),
            storage_gb: sizes.sum(),
        }
    }
}

fn used(machines: &[Used]) -> Used {
    Used {
        cpu: machines.iter().map(|used| used.cpu).sum(),
        memory: machines.iter().map(|used| used.memory).sum(),
        storage_gb: machines.iter().map(|used| used.storage_gb).sum(),
    }
}

/// The most machines that the provider may have, as it declares.
fn max_machines(provider: &MachineProvider) -> Option<i32> {
    let capacity = provider.spec.capacity.as_ref();
    let capabilities = provider.spec.capabilities.as_ref();
    capacity
        .and_then(|capacity| capacity.max_machines)
        .or(capabilities.and_then(|capabilities| capabilities.max_machines))
}

fn quotas(provider: &MachineProvider, machines: Option<i32>) -> Vec<ResourceQuotaStatus> {
    let (Some(limit), Some(used)) = (max_machines(provider), machines) else {
        return Vec::new();
    };
    vec![ResourceQuotaStatus {
        resource: "instances".into(),
        used: Some(used.to_string()),
        limit: Some(limit.to_string()),
        available: Some(limit.saturating_sub(used).max(0).to_string()),
        unit: Some("machines".into()),
    }]
}

fn limits(provider: &MachineProvider, outlook: &ProviderOutlook<'_>) -> Option<ResourceLimits> {
    let (_, health) = outlook.outcome.as_ref().ok()?;
    Some(ResourceLimits {
        max_machines: max_machines(provider),
        max_cpu: health.cpus.map(|cpus| cpus.to_string()),
        max_memory_gb: health.memory.map(|bytes| gigabytes(bytes as i64)),
        max_storage_gb: health.storage.map(|bytes| gigabytes(bytes as i64)),
    })
}

fn capacity(outlook: &ProviderOutlook<'_>, used: &Used) -> Option<CapacityStatus> {
    let (_, health) = outlook.outcome.as_ref().ok()?;
    let bytes = |value: Option<u64>| value.map(|bytes| bytes.to_string());
    Some(CapacityStatus {
        total: Some(ResourceQuota {
            cpu: health.cpus.and_then(|cpus| i64::try_from(cpus).ok()),
            memory: bytes(health.memory),
            storage: bytes(health.storage),
            ..ResourceQuota::default()
        }),
        available: Some(ResourceQuota {
            memory: bytes(health.memory_free),
            storage: bytes(health.storage_free),
            ..ResourceQuota::default()
        }),
        used: Some(ResourceQuota {
            cpu: Some(used.cpu),
            memory: Some(used.memory.to_string()),
            storage: Some(format!("{}Gi", used.storage_gb)),
            machines: i32::try_from(outlook.machines.len()).ok(),
        }),
    })
}

fn gigabytes(bytes: i64) -> String {
    format!("{:.1}", bytes as f64 / GIB)
}
