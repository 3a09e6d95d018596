//! How long to wait after the n-th failure in a row.

use std::{collections::HashMap, sync::Mutex, time::Duration};

use machinist_core::machine::Uid;

const FIRST: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_secs(60);

/// Counts failures in a row, by object.
#[derive(Default)]
pub(crate) struct Backoff {
    failures: Mutex<HashMap<Uid, u32>>,
}

impl Backoff {
    /// One more failure: how long to wait.
    pub(crate) fn failed(&self, uid: &str) -> Duration {
        let mut failures = self.lock();
        let count = failures.entry(Uid::of(uid)).or_insert(0);
        let wait = FIRST.saturating_mul(1_u32.checked_shl(*count).unwrap_or(u32::MAX));
        *count = count.saturating_add(1);
        wait.min(LONGEST)
    }

    /// How many failures in a row there were.
    pub(crate) fn count(&self, uid: &str) -> u32 {
        self.lock().get(&Uid::of(uid)).copied().unwrap_or_default()
    }

    /// It worked, or the object is gone.
    pub(crate) fn forget(&self, uid: &str) {
        let mut failures = self.lock();
        if failures.remove(&Uid::of(uid)).is_some() && failures.is_empty() {
            // With its room: what failed for a crowd may never do so again.
            *failures = HashMap::new();
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Uid, u32>> {
        // A panic while counting cannot leave the map in a bad state.
        self.failures
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_up_to_the_longest_and_starts_anew() {
        let backoff = Backoff::default();
        let waits: Vec<u128> = (0..9).map(|_| backoff.failed("a").as_millis()).collect();
        assert_eq!(
            waits,
            [500, 1000, 2000, 4000, 8000, 16000, 32000, 60000, 60000]
        );
        assert_eq!(backoff.failed("b"), FIRST);
        backoff.forget("a");
        assert_eq!(backoff.failed("a"), FIRST);
    }

    #[test]
    fn survives_any_number_of_failures() {
        let backoff = Backoff::default();
        let longest = (0..200).map(|_| backoff.failed("a")).max();
        assert_eq!(longest, Some(LONGEST));
    }
}
