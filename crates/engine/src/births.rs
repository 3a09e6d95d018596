//! How many machines were begun of late: of few each is said to be being made, of many only those
//! that take a while. A status is a durable write, and most of many machines are there before it
//! would be read.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

/// One of many machines that is made within this time is not said to be being made.
pub(crate) const SOON: Duration = Duration::from_secs(2);
/// How many machines within that time are few.
const FEW: usize = 16;

/// The machines that were begun within one or two times [`SOON`].
#[derive(Debug, Default)]
pub(crate) struct Births(Mutex<Option<Recent>>);

#[derive(Debug)]
struct Recent {
    since: Instant,
    now: usize,
    before: usize,
}

impl Births {
    /// A machine is begun; whether it is one of more than anybody looks at one by one. Those that
    /// are under way do not tell: many come in waves, and each wave would begin with none.
    pub(crate) fn begin(&self) -> bool {
        let mut recent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (before, since) = match recent.take() {
            Some(last) if last.since.elapsed() < SOON => {
                let all = last.now + last.before;
                *recent = Some(Recent {
                    now: last.now + 1,
                    ..last
                });
                return all >= FEW;
            }
            Some(last) if last.since.elapsed() < SOON * 2 => (last.now, last.since + SOON),
            _ => (0, Instant::now()),
        };
        *recent = Some(Recent {
            since,
            now: 1,
            before,
        });
        before >= FEW
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn few_are_few_until_time_has_passed() {
        let births = Births::default();
        assert!((0..FEW).all(|_| !births.begin()));
        assert!((0..100).all(|_| births.begin()));
        // A wave after a wave is no new beginning.
        tokio::time::advance(SOON * 3 / 2).await;
        assert!((0..100).all(|_| births.begin()));
        tokio::time::advance(SOON * 2).await;
        assert!((0..FEW).all(|_| !births.begin()));
        assert!(births.begin());
    }

    #[tokio::test(start_paused = true)]
    async fn one_now_and_then_is_few_for_ever() {
        let births = Births::default();
        for _ in 0..100 {
            assert!(!births.begin());
            tokio::time::advance(SOON / 4).await;
        }
    }
}
