//! Conditions on the wire: what they say, and since when.

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition as ApiCondition, Time};

use crate::machine::Condition;

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
