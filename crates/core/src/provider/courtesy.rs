//! How gently a platform is treated: how often one call is tried again, and how many are sent.
//!
//! Acting on it is left to a decorator of the engine.

use std::time::Duration;

/// The delay before the first new attempt.
const FIRST_DELAY: Duration = Duration::from_millis(200);
/// Slower than one call in ten minutes is no rate; faster than this is no limit.
const RATES: std::ops::RangeInclusive<f64> = (1.0 / 600.0)..=1e6;
/// The delay that grows with each attempt grows at most by this.
const MULTIPLIERS: std::ops::RangeInclusive<f64> = 1.0..=100.0;

/// How gently a platform is treated. By default nothing is tried again at once, because the engine
/// looks again anyway, and there is no limit of calls.
#[derive(Debug, Clone, PartialEq)]
pub struct Courtesy {
    /// How often one call is tried again.
    pub max_retries: u32,
    /// By what the delay grows with each attempt.
    pub multiplier: f64,
    /// The longest delay.
    pub max_delay: Duration,
    /// How many calls are sent; `None` sets no limit.
    pub rate: Option<Rate>,
    /// How often its machines are listed while nothing is expected; `None` takes the engine's own pace.
    pub poll: Option<Duration>,
}

impl Default for Courtesy {
    fn default() -> Courtesy {
        Courtesy {
            max_retries: 0,
            multiplier: 2.0,
            max_delay: Duration::from_secs(30),
            rate: None,
            poll: None,
        }
    }
}

impl Courtesy {
    /// The delay before an attempt, the first new one being number zero.
    pub fn delay(&self, attempt: u32) -> Duration {
        let exponent = i32::try_from(attempt).unwrap_or(i32::MAX);
        let growth = self
            .multiplier
            .clamp(*MULTIPLIERS.start(), *MULTIPLIERS.end())
            .powi(exponent);
        let delay = Duration::try_from_secs_f64(FIRST_DELAY.as_secs_f64() * growth);
        delay.unwrap_or(self.max_delay).min(self.max_delay)
    }
}

/// How many calls a platform is sent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// The time between two calls in the long run.
    pub every: Duration,
    /// How many may be sent at once after a quiet time.
    pub burst: u32,
}

impl Rate {
    /// So many calls a second, and so many at once; without the latter, those of one second.
    pub fn new(per_second: f64, burst: Option<u32>) -> Option<Rate> {
        let is_rate = per_second.is_finite() && per_second > 0.0;
        let per_second = is_rate.then(|| per_second.clamp(*RATES.start(), *RATES.end()))?;
        Some(Rate {
            every: Duration::try_from_secs_f64(1.0 / per_second).ok()?,
            burst: burst.unwrap_or(per_second.ceil() as u32).max(1),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_grow_up_to_the_longest_whatever_is_declared() {
        let courtesy = Courtesy {
            multiplier: 1.5,
            max_delay: Duration::from_secs(1),
            ..Courtesy::default()
        };
        let delays: Vec<u128> = (0..6)
            .map(|attempt| courtesy.delay(attempt).as_millis())
            .collect();
        assert_eq!(delays, [200, 300, 450, 675, 1000, 1000]);
        for multiplier in [f64::NAN, f64::INFINITY, -1.0, 1e300] {
            let wild = Courtesy {
                multiplier,
                ..courtesy.clone()
            };
            assert!(
                wild.delay(u32::MAX) <= Duration::from_secs(1),
                "{multiplier}"
            );
        }
    }

    #[test]
    fn a_rate_is_a_number_that_calls_can_be_sent_at() {
        let rate = Rate::new(10.5, None).unwrap();
        assert_eq!(rate.burst, 11);
        assert_eq!(
            Rate::new(0.5, Some(3)).unwrap().every,
            Duration::from_secs(2)
        );
        assert_eq!(Rate::new(1e-300, None).unwrap().every.as_secs(), 600);
        assert!(Rate::new(1e300, None).unwrap().every > Duration::ZERO);
        for none in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(Rate::new(none, None), None);
        }
    }
}
