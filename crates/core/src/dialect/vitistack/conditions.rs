//! Conditions on the wire: what they say, and since when.

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition as ApiCondition, Time};
use machinist_api::{
    admission::declared_without_effect,
    conditions as types,
    vitistack::{machine_provider::MachineProviderSpec, stack::VitistackSpec},
};
use serde::Serialize;

use crate::machine::{Condition, Truth};

/// Tells which declared fields nothing acts on yet; nothing where there are none.
pub(super) fn provider_fields(spec: &MachineProviderSpec) -> Option<Condition> {
    without_effect("MachineProvider", spec)
}

/// The same of a Vitistack.
pub(super) fn stack_fields(spec: &VitistackSpec) -> Option<Condition> {
    without_effect("Vitistack", spec)
}

fn without_effect(kind: &str, spec: &impl Serialize) -> Option<Condition> {
    let spec = serde_json::to_value(spec).ok()?;
    let found = declared_without_effect(kind, &spec);
    (!found.is_empty()).then(|| {
        Condition::new(
            types::SPEC_IN_EFFECT,
            Truth::False,
            "FieldsWithoutEffect",
            format!("Nothing acts on these fields yet: {}.", found.join(", ")),
        )
    })
}

/// Puts conditions on the wire. A condition keeps the time of its last change while its
/// status stays the same.
pub(super) fn stamp(
    conditions: Vec<Condition>,
    before: &[ApiCondition],
    generation: Option<i64>,
    now: Timestamp,
) -> Vec<ApiCondition> {
    let one = |condition: Condition| {
        let status = condition.status.as_str();
        let last_transition_time = before
            .iter()
            .find(|old| old.type_ == condition.kind && old.status == status)
            .map_or(Time(now), |old| old.last_transition_time.clone());
        ApiCondition {
            type_: condition.kind.into(),
            status: status.into(),
            reason: condition.reason,
            message: condition.message,
            observed_generation: generation,
            last_transition_time,
        }
    };
    conditions.into_iter().map(one).collect()
}
