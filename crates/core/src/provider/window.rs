//! How a platform answered lately: counts of the calls of the last minutes, and what they say of its
//! health.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

/// Calls are counted by spans of this length.
const SPAN: Duration = Duration::from_secs(30);
/// How many spans count.
const SPANS: usize = 10;
/// Answers that come within this time are quick.
const QUICK: Duration = Duration::from_secs(1);
/// How many points slow answers cost at most, one for each second more.
const SLOWEST: f64 = 20.0;

/// The calls of the last minutes, in a few numbers. Time is passed in.
#[derive(Debug, Clone, Default)]
pub struct Window {
    spans: VecDeque<Span>,
}

#[derive(Debug, Clone, Copy)]
struct Span {
    began: Instant,
    calls: u64,
    failed: u64,
    looks: u32,
    took: Duration,
}

/// What the calls of a window say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lately {
    /// How many calls there were.
    pub calls: u64,
    /// How many of them failed.
    pub failed: u64,
    /// How long an answer to a look took on average, where one was answered.
    pub took: Option<Duration>,
}

impl Window {
    /// Takes in one call. `took` is how long the answer to a look took: what makes or changes
    /// something may rightly take long.
    pub fn record(&mut self, at: Instant, failed: bool, took: Option<Duration>) {
        self.forget(at);
        let fresh = self
            .spans
            .back()
            .is_some_and(|span| at.saturating_duration_since(span.began) < SPAN);
        if !fresh {
            self.spans.push_back(Span {
                began: at,
                calls: 0,
                failed: 0,
                looks: 0,
                took: Duration::ZERO,
            });
        }
        if let Some(span) = self.spans.back_mut() {
            span.calls += 1;
            span.failed += u64::from(failed);
            if let Some(took) = took {
                span.looks = span.looks.saturating_add(1);
                span.took = span.took.saturating_add(took);
            }
        }
    }

    /// What the calls up to now say; nothing when there were none.
    pub fn lately(&mut self, now: Instant) -> Option<Lately> {
        self.forget(now);
        let calls = self.spans.iter().map(|span| span.calls).sum();
        let looks: u32 = self.spans.iter().map(|span| span.looks).sum();
        let took: Duration = self.spans.iter().map(|span| span.took).sum();
        (calls > 0).then(|| Lately {
            calls,
            failed: self.spans.iter().map(|span| span.failed).sum(),
            took: took.checked_div(looks),
        })
    }

    fn forget(&mut self, now: Instant) {
        let limit = SPAN * SPANS as u32;
        while let Some(oldest) = self.spans.front()
            && now.saturating_duration_since(oldest.began) >= limit
        {
            self.spans.pop_front();
        }
    }
}

impl Lately {
    /// The part of the calls that failed, from 0 to 1.
    pub fn error_rate(&self) -> f64 {
        match self.calls {
            0 => 0.0,
            calls => self.failed as f64 / calls as f64,
        }
    }

    /// From 0 to 100: the part of the calls that did not fail, less up to twenty points for answers
    /// that take more than a second.
    pub fn score(&self) -> u8 {
        let slow = self.took.unwrap_or_default().saturating_sub(QUICK);
        let score = (1.0 - self.error_rate()) * 100.0 - slow.as_secs_f64().min(SLOWEST);
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
        window.record(began, true, Some(second));
        window.record(began + SPAN, false, Some(second));
        window.record(began + SPAN, false, None);
        let lately = window.lately(began + SPAN).unwrap();
        assert_eq!((lately.calls, lately.failed, lately.score()), (3, 1, 67));
        assert_eq!(lately.took, Some(second));
        // The first call is forgotten when its span is out of the window, and no earlier.
        let limit = SPAN * SPANS as u32;
        let before = window.lately(began + limit - second).unwrap();
        assert_eq!(before.failed, 1);
        let later = window.lately(began + limit).unwrap();
        assert_eq!((later.calls, later.failed, later.score()), (2, 0, 100));
        assert_eq!(window.lately(began + SPAN + limit), None);
    }

    #[test]
    fn slow_answers_cost_points_and_memory_does_not_grow_with_calls() {
        let began = Instant::now();
        let mut window = Window::default();
        for number in 0..100_000 {
            let at = began + Duration::from_millis(number * 10);
            window.record(at, false, Some(Duration::from_secs(11)));
        }
        assert!(window.spans.len() <= SPANS);
        let now = began + Duration::from_secs(1000);
        assert_eq!(window.lately(now).map(|lately| lately.score()), Some(90));
        let mut dead = Window::default();
        dead.record(began, true, Some(Duration::from_secs(3600)));
        assert_eq!(dead.lately(began).map(|lately| lately.score()), Some(0));
    }
}
