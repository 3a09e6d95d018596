//! What can go wrong with one call, as a test scripts it: on the simulated platform, or on any
//! other through the [`Faulty`] decorator.

mod faulty;
mod script;

use std::time::Duration;

use machinist_core::provider::{ProviderError, ProviderResult};
use tokio::sync::OwnedSemaphorePermit;

pub use faulty::Faulty;
pub use script::{Call, Chaos, Script, Verb};

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
    /// It is on its way for this long before it takes effect.
    Held(Duration),
    /// It is delivered twice, as by a proxy that tries again.
    Repeat,
}

/// A call that has been let through to the platform.
#[derive(Debug)]
pub(crate) struct Admitted {
    script: Script,
    index: u64,
    fault: Option<Fault>,
    what: String,
    /// Given up when the call has its answer.
    place: Option<OwnedSemaphorePermit>,
}

impl Admitted {
    /// Lets a call through, or refuses it.
    fn admit(script: Script, call: &Call, what: String) -> ProviderResult<Admitted> {
        match call.fault {
            Some(Fault::Before) => Err(failed(&what, "the call was dropped before it took effect")),
            Some(Fault::Throttle { retry_after }) => Err(ProviderError::Throttled {
                reason: "too many requests".to_owned(),
                retry_after,
            }),
            Some(
                Fault::LostAnswer | Fault::Stale | Fault::Delay(_) | Fault::Held(_) | Fault::Repeat,
            )
            | None => Ok(Admitted {
                script,
                index: call.index,
                fault: call.fault,
                what,
                place: None,
            }),
        }
    }

    /// Keeps a place at the platform until the call has its answer.
    pub(crate) fn hold(self, place: Option<OwnedSemaphorePermit>) -> Admitted {
        Admitted { place, ..self }
    }

    pub(crate) fn is_stale(&self) -> bool {
        self.fault == Some(Fault::Stale)
    }

    pub(crate) fn is_repeated(&self) -> bool {
        self.fault == Some(Fault::Repeat)
    }

    /// Hands the answer of a call that took effect over, unless it is lost or late.
    pub(crate) async fn end<T>(self, answer: T) -> ProviderResult<T> {
        self.script.took_effect(self.index);
        let answer = match self.fault {
            Some(Fault::Delay(time)) => {
                tokio::time::sleep(time).await;
                Ok(answer)
            }
            Some(Fault::LostAnswer) => Err(failed(&self.what, "the answer was lost")),
            _ => Ok(answer),
        };
        drop(self.place);
        answer
    }
}

fn failed(what: &str, why: &str) -> ProviderError {
    ProviderError::transport(what.to_owned(), why.to_owned())
}
