//! Why a provider call failed. The kind of the error is the retry policy.

use std::time::Duration;

use thiserror::Error;

/// What went wrong, by what must happen next.
///
/// Messages name the thing and the way out, and never hold a secret.
#[derive(Debug, Error)]
pub enum ProviderError {
    /// The machine, or something that the call named, is not there. This is knowledge, not doubt.
    #[error("{what} was not found")]
    NotFound {
        /// What was looked for.
        what: String,
    },
    /// The platform is working on it or asks for patience.
    #[error("busy: {reason}")]
    Busy {
        /// What it is busy with.
        reason: String,
        /// When to look again, when the platform said so.
        retry_after: Option<Duration>,
    },
    /// The platform wants fewer calls, and turned this one away: no answer was lost.
    #[error("throttled: {reason}")]
    Throttled {
        /// Who asks for fewer calls.
        reason: String,
        /// When to come back, when the platform said so.
        retry_after: Option<Duration>,
    },
    /// There is no room here now; it may fit elsewhere or later.
    #[error("no capacity: {reason}")]
    NoCapacity {
        /// What ran out.
        reason: String,
    },
    /// The declaration cannot be carried out here; only a change of it helps.
    #[error("{field}: {value:?}: {reason}")]
    Rejected {
        /// The field of the domain model that is at fault.
        field: &'static str,
        /// Its value.
        value: String,
        /// What is allowed, or the way out.
        reason: String,
    },
    /// The credentials were refused or are missing.
    #[error("credentials refused: {reason}")]
    Credentials {
        /// Which ones, and the way out; never their content.
        reason: String,
    },
    /// The credentials were good once and are no longer.
    #[error("credentials expired: {reason}")]
    Expired {
        /// Which ones, and the way out; never their content.
        reason: String,
    },
    /// Whoever answers does not prove to be the platform; nothing was sent.
    #[error("{endpoint} is not trusted: {reason}")]
    Untrusted {
        /// Who was asked.
        endpoint: String,
        /// What is wrong with its certificate, and the way out.
        reason: String,
    },
    /// The platform cannot do this at all.
    #[error("not supported: {what}")]
    Unsupported {
        /// What was asked for.
        what: String,
    },
    /// The machine is there but does not carry our key.
    #[error("{id} is not owned by {key}")]
    NotOwned {
        /// The platform's id.
        id: String,
        /// The key that was to prove ownership.
        key: String,
    },
    /// Nothing is known: the call may or may not have taken effect.
    #[error("{what}")]
    Transport {
        /// What was attempted.
        what: String,
        /// The cause.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// When to try again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryPolicy {
    /// After this long, or with the usual back-off when absent.
    After(Option<Duration>),
    /// Not before the declaration changes (with a slow safety net).
    OnChange,
    /// Slowly: somebody must act (credentials, ownership).
    OnHelp,
}

impl ProviderError {
    /// A failure whose effect is unknown.
    pub fn transport(
        what: impl Into<String>,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> ProviderError {
        ProviderError::Transport {
            what: what.into(),
            source: source.into(),
        }
    }

    /// A call that was turned away, until then if the platform said so.
    pub fn throttled(reason: impl Into<String>, retry_after: Option<Duration>) -> ProviderError {
        ProviderError::Throttled {
            reason: reason.into(),
            retry_after,
        }
    }

    /// The same for another who waited for the same call. The cause of a call whose effect is
    /// unknown is kept as its text.
    pub fn share(&self) -> ProviderError {
        match self {
            ProviderError::NotFound { what } => ProviderError::NotFound { what: what.clone() },
            ProviderError::Busy {
                reason,
                retry_after,
            } => ProviderError::Busy {
                reason: reason.clone(),
                retry_after: *retry_after,
            },
            ProviderError::Throttled {
                reason,
                retry_after,
            } => ProviderError::Throttled {
                reason: reason.clone(),
                retry_after: *retry_after,
            },
            ProviderError::NoCapacity { reason } => ProviderError::NoCapacity {
                reason: reason.clone(),
            },
            ProviderError::Rejected {
                field,
                value,
                reason,
            } => ProviderError::Rejected {
                field,
                value: value.clone(),
                reason: reason.clone(),
            },
            ProviderError::Credentials { reason } => ProviderError::Credentials {
                reason: reason.clone(),
            },
            ProviderError::Expired { reason } => ProviderError::Expired {
                reason: reason.clone(),
            },
            ProviderError::Untrusted { endpoint, reason } => ProviderError::Untrusted {
                endpoint: endpoint.clone(),
                reason: reason.clone(),
            },
            ProviderError::Unsupported { what } => {
                ProviderError::Unsupported { what: what.clone() }
            }
            ProviderError::NotOwned { id, key } => ProviderError::NotOwned {
                id: id.clone(),
                key: key.clone(),
            },
            ProviderError::Transport { what, source } => {
                let mut text = source.to_string();
                let mut cause = source.source();
                while let Some(next) = cause {
                    text = format!("{text}: {next}");
                    cause = next.source();
                }
                ProviderError::transport(what.clone(), text)
            }
        }
    }

    /// Whether it says that the platform is not well, or not for us; any other error is a good answer.
    pub fn is_ill(&self) -> bool {
        match self {
            ProviderError::Transport { .. }
            | ProviderError::Throttled { .. }
            | ProviderError::Credentials { .. }
            | ProviderError::Expired { .. }
            | ProviderError::Untrusted { .. } => true,
            ProviderError::NotFound { .. }
            | ProviderError::Busy { .. }
            | ProviderError::NoCapacity { .. }
            | ProviderError::Rejected { .. }
            | ProviderError::Unsupported { .. }
            | ProviderError::NotOwned { .. } => false,
        }
    }

    /// When to try again after this error.
    pub fn retry(&self) -> RetryPolicy {
        match self {
            ProviderError::NotFound { .. }
            | ProviderError::NoCapacity { .. }
            | ProviderError::Transport { .. } => RetryPolicy::After(None),
            ProviderError::Busy { retry_after, .. }
            | ProviderError::Throttled { retry_after, .. } => RetryPolicy::After(*retry_after),
            ProviderError::Rejected { .. } | ProviderError::Unsupported { .. } => {
                RetryPolicy::OnChange
            }
            ProviderError::Credentials { .. }
            | ProviderError::Expired { .. }
            | ProviderError::Untrusted { .. }
            | ProviderError::NotOwned { .. } => RetryPolicy::OnHelp,
        }
    }

    /// A stable one-word reason for conditions, events and metrics.
    pub fn reason(&self) -> &'static str {
        match self {
            ProviderError::NotFound { .. } => "NotFound",
            ProviderError::Busy { .. } => "ProviderBusy",
            ProviderError::Throttled { .. } => "Throttled",
            ProviderError::NoCapacity { .. } => "NoCapacity",
            ProviderError::Rejected { .. } => "Rejected",
            ProviderError::Credentials { .. } => "CredentialsRefused",
            ProviderError::Expired { .. } => "CredentialsExpired",
            ProviderError::Untrusted { .. } => "EndpointUntrusted",
            ProviderError::Unsupported { .. } => "Unsupported",
            ProviderError::NotOwned { .. } => "NotOwned",
            ProviderError::Transport { .. } => "ProviderUnreachable",
        }
    }
}
