//! Patience: a condition is looked at until it holds, or until a generous limit is reached.

use std::{
    fmt::Debug,
    time::{Duration, Instant},
};

/// Longer than anything takes on a loaded machine without hardware virtualisation.
pub const PATIENCE: Duration = Duration::from_secs(180);
const PAUSE: Duration = Duration::from_millis(50);

/// Looks until there is an answer; fails with the last refusal when there is none in time.
#[track_caller]
pub fn wait_for<T, E: Debug>(what: &str, mut look: impl FnMut() -> Result<T, E>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match look() {
            Ok(found) => return found,
            Err(last) if Instant::now() >= deadline => {
                panic!(
                    "waited {} s for {what}; last: {last:#?}",
                    PATIENCE.as_secs()
                )
            }
            Err(_) => pause(PAUSE),
        }
    }
}

/// Looks until it is true.
#[track_caller]
pub fn wait_until(what: &str, mut look: impl FnMut() -> bool) {
    wait_for(what, || look().then_some(()).ok_or("not yet"));
}

/// The pause between two looks, and the moment at which a crash is to happen: nothing that a
/// test asserts rests on how long it is.
pub fn pause(length: Duration) {
    #[expect(
        clippy::disallowed_methods,
        reason = "between two looks at a condition"
    )]
    std::thread::sleep(length);
}
