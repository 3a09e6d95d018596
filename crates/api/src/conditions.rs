//! Condition types, and the two questions that everybody asks of a list of conditions.
//!
//! When a condition is true is decided by the domain model.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;

/// The object is as declared and can be used.
pub const READY: &str = "Ready";
/// The machine's network is configured and ready.
pub const NETWORK_READY: &str = "NetworkReady";
/// The machine's first boot has been completed.
pub const BOOTSTRAP_READY: &str = "BootstrapReady";
/// The machine exists at its provider.
pub const INFRASTRUCTURE_READY: &str = "InfrastructureReady";
/// The machine has a provider; set where Machinist chose it, or could not.
pub const PLACED: &str = "Placed";
/// The machine can be drained.
pub const DRAIN_READY: &str = "DrainReady";
/// The machine's backup works.
pub const BACKUP_READY: &str = "BackupReady";
/// Machinist is still working towards the declared state.
pub const RECONCILING: &str = "Reconciling";
/// Machinist cannot get further without a change from outside.
pub const STALLED: &str = "Stalled";
/// The platform accepts the provider's credentials.
pub const AUTHENTICATED: &str = "Authenticated";
/// The platform's endpoint proves who it is before anything is sent to it.
pub const ENDPOINT_VERIFIED: &str = "EndpointVerified";
/// Everything that is declared has an effect; set where something has none yet.
pub const SPEC_IN_EFFECT: &str = "SpecInEffect";
/// The provider's networks were found on the platform.
pub const NETWORK_CONFIGURED: &str = "NetworkConfigured";

/// What a configuration declares was checked, with the Secret that it names.
pub const VALIDATED: &str = "Validated";
/// Something uses a configuration.
pub const REFERENCED: &str = "Referenced";

/// Every provider of a Vitistack answers.
pub const PROVIDERS_HEALTHY: &str = "ProvidersHealthy";
/// A Vitistack's quotas leave room for more.
pub const QUOTA_AVAILABLE: &str = "QuotaAvailable";

/// What happens in a Vitistack's namespace arrives at its collector of logs.
pub const LOGS_COLLECTED: &str = "LogsCollected";
/// A Vitistack's monitoring can find the machines of its namespace.
pub const TARGETS_PUBLISHED: &str = "TargetsPublished";

/// Status of a condition that holds.
pub const TRUE: &str = "True";
/// Status of a condition that does not hold.
pub const FALSE: &str = "False";
/// Status of a condition that could not be found out.
pub const UNKNOWN: &str = "Unknown";

/// The condition of this type, if it was ever set.
pub fn find<'a>(conditions: &'a [Condition], type_: &str) -> Option<&'a Condition> {
    conditions.iter().find(|condition| condition.type_ == type_)
}

/// Whether the condition of this type is set and holds.
pub fn is_true(conditions: &[Condition], type_: &str) -> bool {
    find(conditions, type_).is_some_and(|condition| condition.status == TRUE)
}
