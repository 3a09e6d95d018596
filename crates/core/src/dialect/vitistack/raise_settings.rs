//! What becomes of a Vitistack's settings that reach beyond its machines: where logs are collected, and
//! where monitoring finds what to watch.

use machinist_api::{conditions as types, vitistack::Vitistack};

use super::{log_endpoint, monitoring_namespace};
use crate::machine::{Condition, Truth};

/// How the last entries for the collector of logs fared: they arrived, or why they did not.
pub type Collected = Result<(), String>;

/// Which machines monitoring was told of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Published {
    /// All that can be watched.
    All {
        /// How many they are.
        machines: usize,
        /// Where they are listed.
        place: String,
    },
    /// As many as fit.
    Some {
        /// How many of them are listed.
        machines: usize,
        /// How many there are.
        of: usize,
        /// Where they are listed.
        place: String,
    },
    /// None, for a stable reason, and in words with the way out.
    None {
        /// The reason.
        reason: &'static str,
        /// The words.
        message: String,
    },
}

/// Whether logs arrive; nothing where none are to be collected.
pub(super) fn logs(stack: &Vitistack, collected: Option<&Collected>) -> Option<Condition> {
    let endpoint = log_endpoint(stack)?;
    let (truth, reason, message) = match (endpoint, collected) {
        ("", _) => (
            Truth::False,
            "EndpointMissing",
            "Logs are to be collected, and nothing says where; set spec.settings.logging.endpoint."
                .to_owned(),
        ),
        (_, None) => (
            Truth::Unknown,
            "NothingSent",
            format!("There was nothing to tell {endpoint} yet."),
        ),
        (_, Some(Ok(()))) => (
            Truth::True,
            "Collected",
            format!("What happens here is told to {endpoint}."),
        ),
        (_, Some(Err(why))) => (
            Truth::False,
            "NotTaken",
            format!(
                "What happens here is not taken by {endpoint}: {why}. Look at spec.settings.logging.endpoint."
            ),
        ),
    };
    Some(Condition::new(
        types::LOGS_COLLECTED,
        truth,
        reason,
        message,
    ))
}

/// Whether monitoring can find the machines; nothing where it is not asked for.
pub(super) fn targets(stack: &Vitistack, published: Option<&Published>) -> Option<Condition> {
    monitoring_namespace(stack)?;
    let (truth, reason, message) = match published? {
        Published::All { machines, place } => (
            Truth::True,
            "Published",
            format!("Machines that monitoring can watch: {machines}, in {place}."),
        ),
        Published::Some {
            machines,
            of,
            place,
        } => (
            Truth::False,
            "TooMany",
            format!(
                "Of {of} machines that monitoring can watch, the first {machines} by name fit into {place}; keep machines in more than one namespace."
            ),
        ),
        Published::None { reason, message } => (Truth::False, *reason, message.clone()),
    };
    Some(Condition::new(
        types::TARGETS_PUBLISHED,
        truth,
        reason,
        message,
    ))
}
