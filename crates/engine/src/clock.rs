//! The one place where the engine reads the time.

use jiff::Timestamp;

/// Tells the time.
pub trait Clock: Send + Sync + 'static {
    /// Now, to the second: that is what the API keeps.
    fn now(&self) -> Timestamp;
}

/// The system's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let now = Timestamp::now();
        Timestamp::from_second(now.as_second()).unwrap_or(now)
    }
}
