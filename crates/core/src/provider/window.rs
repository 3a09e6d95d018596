//! How a platform answered lately: the calls of a window of time, and what they say of its health.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

/// How far back calls count.
const SPAN: Duration = Duration::from_secs(10 * 60);
/// How many calls are remembered at most.
const CALLS: usize = 1000;

/// The calls of the last minutes. Time is passed in.
#[derive(Debug, Clone, Default)]
pub struct Window {
    calls: VecDeque<Call>,
}

#[derive(Debug, Clone, Copy)]
struct Call {
    at: Instant,
    took: Duration,
    answered: bool,
}

/// What the calls of a window say.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lately {
    /// How many calls there were.
    pub calls: usize,
    /// The part of them that the platform answered, from 0 to 1.
    pub answered: f64,
    /// How long an answer took on average.
    pub took: Duration,
}

impl Window {
    /// Takes in one call. A refusal is an answer; only a platform that says nothing, is too busy or
    /// does not know us has not answered.
    pub fn record(&mut self, at: Instant, took: Duration, answered: bool) {
        self.forget(at);
        if self.calls.len() == CALLS {
            self.calls.pop_front();
        }
        let call = Call { at, took, answered };
        self.calls.push_back(call);
    }

    /// What the calls up to now say; nothing when there were none.
    pub fn lately(&mut self, now: Instant) -> Option<Lately> {
        self.forget(now);
        let calls = self.calls.len();
        let number = u32::try_from(calls).ok().filter(|number| *number > 0)?;
        let answered = self.calls.iter().filter(|call| call.answered).count();
        let took: Duration = self.calls.iter().map(|call| call.took).sum();
        Some(Lately {
            calls,
            answered: answered as f64 / calls as f64,
            took: took / number,
        })
    }

    fn forget(&mut self, now: Instant) {
        while let Some(oldest) = self.calls.front()
            && now.saturating_duration_since(oldest.at) > SPAN
        {
            self.calls.pop_front();
        }
    }
}

impl Lately {
    /// From 0 to 100: the part of the calls that were answered, less up to twenty points for
    /// answers that take more than a second.
    pub fn score(&self) -> u8 {
        let slow = (self.took.as_secs_f64() - 1.0).clamp(0.0, 20.0);
        let score = self.answered * 100.0 - slow;
        score.clamp(0.0, 100.0).round() as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_minutes_count() {
        let began = Instant::now();
        let second = Duration::from_secs(1);
        let mut window = Window::default();
        assert_eq!(window.lately(began), None);
        window.record(began, second, false);
        window.record(began + second, second, true);
        let lately = window
            .lately(began + second)
            .map(|l| (l.calls, l.answered, l.score()));
        assert_eq!(lately, Some((2, 0.5, 50)));
        let later = began + SPAN + second;
        assert_eq!(window.lately(later).map(|l| l.score()), Some(100));
        assert_eq!(window.lately(later + SPAN), None);
    }

    #[test]
    fn slow_answers_cost_points_and_memory_is_bounded() {
        let began = Instant::now();
        let mut window = Window::default();
        for _ in 0..3 * CALLS {
            window.record(began, Duration::from_secs(11), true);
        }
        let lately = window.lately(began).map(|l| (l.calls, l.score()));
        assert_eq!(lately, Some((CALLS, 90)));
    }
}
