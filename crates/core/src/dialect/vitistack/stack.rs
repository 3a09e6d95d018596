//! What a Vitistack says of its namespace: limits and defaults, and which of several counts.

use machinist_api::{
    quantity::parse_bytes,
    vitistack::{
        machine::Machine,
        stack::{InfrastructureOrName, InfrastructureProvider, Vitistack},
    },
};

use crate::quota::{Existing, Limits, Thing};

const GIB: u64 = 1 << 30;

/// Of several in one namespace, the one that counts: the oldest, and of the same age the first by
/// name. The order in which they are listed is none.
pub fn governing<'a>(stacks: impl IntoIterator<Item = &'a Vitistack>) -> Option<&'a Vitistack> {
    stacks.into_iter().min_by_key(|stack| {
        let meta = &stack.metadata;
        let born = meta.creation_timestamp.as_ref().map(|time| time.0);
        (born.is_none(), born, meta.name.clone())
    })
}

/// How much the namespace of a Vitistack may have, in either documented form.
pub fn limits(stack: &Vitistack) -> Limits {
    let quotas = stack.spec.quotas.as_ref();
    let machines = quotas.and_then(|quotas| quotas.machines.as_ref());
    let storage = quotas.and_then(|quotas| quotas.storage.as_ref());
    let network = quotas.and_then(|quotas| quotas.network.as_ref());
    let shipped = stack.spec.resource_quotas.as_ref();
    let number = |value: Option<i32>| value.and_then(|value| u64::try_from(value).ok());
    let bytes = |text: Option<&String>| parse_bytes(text?).ok();
    Limits {
        machines: number(machines.and_then(|m| m.total))
            .or(number(shipped.and_then(|quotas| quotas.max_machines))),
        per_provider: number(machines.and_then(|m| m.per_provider)),
        storage: bytes(storage.and_then(|s| s.total.as_ref()))
            .or(number(shipped.and_then(|quotas| quotas.max_storage_gb))
                .map(|gigabytes| gigabytes.saturating_mul(GIB))),
        per_machine: bytes(storage.and_then(|s| s.per_machine.as_ref())),
        networks: number(network.and_then(|n| n.max_networks)),
    }
}

/// The providers that a Vitistack declares itself.
pub fn inline_providers(stack: &Vitistack) -> &[InfrastructureProvider] {
    match stack.spec.infrastructure.as_ref() {
        Some(InfrastructureOrName::Providers(infrastructure)) => &infrastructure.providers,
        Some(InfrastructureOrName::Name(_) | InfrastructureOrName::Other(_)) | None => &[],
    }
}

/// Where a Vitistack has logs collected, if it has; an empty text where it forgot to say.
pub fn log_endpoint(stack: &Vitistack) -> Option<&str> {
    let logging = stack.spec.settings.as_ref()?.logging.as_ref()?;
    (logging.enabled == Some(true)).then(|| logging.endpoint.as_deref().unwrap_or_default())
}

/// The namespace in which a Vitistack's monitoring finds the machines to watch, if it has any.
pub fn monitoring_namespace(stack: &Vitistack) -> Option<&str> {
    let monitoring = stack.spec.settings.as_ref()?.monitoring.as_ref()?;
    let own = stack.metadata.namespace.as_deref().unwrap_or_default();
    (monitoring.enabled == Some(true)).then(|| monitoring.namespace.as_deref().unwrap_or(own))
}

/// A machine, as a quota counts it. `resolve` says where a provider is that is named without a
/// namespace.
pub fn counted(machine: &Machine, resolve: impl FnOnce(&str) -> String) -> Existing {
    let named = machine.spec.provider_ref.as_ref();
    let named = named.and_then(|reference| {
        let name = reference.name.as_ref()?;
        let namespace = reference.namespace.clone().unwrap_or_else(|| resolve(name));
        Some(format!("{namespace}/{name}"))
    });
    let annotations = machine.metadata.annotations.as_ref();
    let bound = annotations.and_then(|all| all.get(machinist_api::names::PROVIDER_ANNOTATION));
    Existing {
        thing: Thing::Machine,
        name: machine.metadata.name.clone().unwrap_or_default(),
        uid: machine.metadata.uid.clone(),
        storage: super::take(machine).storage,
        provider: bound.cloned().or(named),
    }
}
