//! The engines' clock: it goes with virtual time, and can be put forward and back.

use std::sync::atomic::{AtomicI64, Ordering};

use jiff::{SignedDuration, Timestamp};
use machinist_engine::Clock;
use tokio::time::Instant;

/// Where virtual time begins.
pub(crate) fn epoch() -> Timestamp {
    Timestamp::from_second(1_767_225_600).expect("a time")
}

pub(crate) struct Wound {
    since: Instant,
    /// Seconds that it is off.
    pub(crate) off: AtomicI64,
}

impl Wound {
    pub(crate) fn new() -> Wound {
        Wound {
            since: Instant::now(),
            off: AtomicI64::new(0),
        }
    }
}

impl Clock for Wound {
    fn now(&self) -> Timestamp {
        let passed = i64::try_from(self.since.elapsed().as_secs()).unwrap_or(i64::MAX);
        let seconds = passed.saturating_add(self.off.load(Ordering::Relaxed));
        epoch() + SignedDuration::from_secs(seconds)
    }
}
