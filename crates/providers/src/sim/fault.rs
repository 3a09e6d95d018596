//! What can go wrong with one call, as a test scripts it.

use std::time::Duration;

use machinist_core::provider::{ProviderError, ProviderResult};
use tokio::sync::OwnedSemaphorePermit;

use super::cloud::Verb;

/// What goes wrong with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It fails and has no effect.
    Before,
    /// It takes effect, and its answer is lost.
    LostAnswer,
    /// It is refused for now, and has no effect.
    Throttle {
        /// What the platform says about when to come back.
        retry_after: Option<Duration>,
    },
    /// A look tells what was before the last change.
    Stale,
    /// It takes effect, and its answer comes this much later.
    Delay(Duration),
    /// It is delivered twice, as by a proxy that tries again.
    Repeat,
}

/// A call that has been let through to the platform.
#[derive(Debug)]
pub(super) struct Admitted {
    fault: Option<Fault>,
    verb: Verb,
    /// Held until the call has its answer.
    _place: Option<OwnedSemaphorePermit>,
}

impl Admitted {
    /// Lets a call through, or refuses it.
    pub(super) fn admit(
        verb: Verb,
        fault: Option<Fault>,
        place: Option<OwnedSemaphorePermit>,
    ) -> ProviderResult<Admitted> {
        match fault {
            Some(Fault::Before) => Err(failed(verb, "the call was dropped before it took effect")),
            Some(Fault::Throttle { retry_after }) => Err(ProviderError::Busy {
                reason: "too many requests".to_owned(),
                retry_after,
            }),
            Some(Fault::LostAnswer | Fault::Stale | Fault::Delay(_) | Fault::Repeat) | None => {
                Ok(Admitted {
                    fault,
                    verb,
                    _place: place,
                })
            }
        }
    }

    pub(super) fn is_stale(&self) -> bool {
        self.fault == Some(Fault::Stale)
    }

    pub(super) fn is_repeated(&self) -> bool {
        self.fault == Some(Fault::Repeat)
    }

    /// Hands the answer over, unless it is lost or late.
    pub(super) async fn end<T>(self, answer: T) -> ProviderResult<T> {
        match self.fault {
            Some(Fault::Delay(time)) => {
                tokio::time::sleep(time).await;
                Ok(answer)
            }
            Some(Fault::LostAnswer) => Err(failed(self.verb, "the answer was lost")),
            _ => Ok(answer),
        }
    }
}

fn failed(verb: Verb, why: &str) -> ProviderError {
    let what = format!("calling {verb:?} at the simulated platform");
    ProviderError::transport(what, why.to_owned())
}
