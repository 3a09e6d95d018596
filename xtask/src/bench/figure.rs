//! One figure: what was measured on both sides, and what was promised.

use std::fmt;

use serde_json::{Value, json};

/// What was measured, on Machinist and on its peer.
#[derive(Debug)]
pub(super) struct Figure {
    pub(super) name: &'static str,
    pub(super) unit: Unit,
    /// One value a round.
    pub(super) machinist: Vec<f64>,
    /// Empty when there is nothing to compare with.
    pub(super) peer: Vec<f64>,
    pub(super) target: Target,
}

/// In what the values are.
#[derive(Debug, Clone, Copy)]
pub(super) enum Unit {
    Seconds,
    Milliseconds,
    Microseconds,
    Mebibytes,
    /// A rate: more is better.
    PerSecond,
    /// A part of one processor.
    Percent,
    /// A number of things.
    Count,
}

/// What was promised.
#[derive(Debug, Clone, Copy)]
pub(super) enum Target {
    /// At most the peer's value divided by this.
    Fraction(f64),
    /// At least the peer's value times this.
    Times(f64),
    /// At most the peer's value times this.
    AtMostTimes(f64),
    /// At most this much more than the peer's value.
    More(f64),
    /// Below this, whatever anybody else does.
    Below(f64),
    /// Nothing: the figure explains another.
    Told,
}

impl Figure {
    pub(super) fn ours(&self) -> f64 {
        median(&self.machinist)
    }

    pub(super) fn theirs(&self) -> Option<f64> {
        (!self.peer.is_empty()).then(|| median(&self.peer))
    }

    /// Whether the promise is kept; `None` when none was made.
    pub(super) fn kept(&self) -> Option<bool> {
        let ours = self.ours();
        match self.target {
            Target::Fraction(part) => self.theirs().map(|theirs| ours * part <= theirs),
            Target::Times(times) => self.theirs().map(|theirs| ours >= theirs * times),
            Target::AtMostTimes(times) => self.theirs().map(|theirs| ours <= theirs * times),
            Target::More(more) => self.theirs().map(|theirs| ours - theirs <= more),
            Target::Below(limit) => Some(ours < limit),
            Target::Told => None,
        }
    }

    /// How Machinist compares with its peer, in words.
    pub(super) fn comparison(&self) -> String {
        match (self.theirs(), self.target) {
            (None, _) => "-".to_owned(),
            (Some(theirs), Target::More(_)) => {
                format!("{:+.1}{}", self.ours() - theirs, self.unit)
            }
            (Some(theirs), Target::Times(_)) => format!("{:.1}x", self.ours() / theirs),
            (Some(theirs), Target::AtMostTimes(_)) => format!("{:.2}x", self.ours() / theirs),
            (Some(theirs), _) => format!("1/{:.1}", theirs / self.ours()),
        }
    }

    /// What was promised, in words.
    pub(super) fn promise(&self) -> String {
        match self.target {
            Target::Fraction(part) => format!("at most 1/{part}"),
            Target::Times(times) => format!("at least {times}x"),
            Target::AtMostTimes(times) => format!("at most {times}x"),
            Target::More(more) => format!("at most {more}{} more", self.unit),
            Target::Below(limit) => format!("below {limit}{}", self.unit),
            Target::Told => "-".to_owned(),
        }
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "figure": self.name,
            "unit": self.unit.to_string().trim(),
            "machinist": self.ours(),
            "peer": self.theirs(),
            "comparison": self.comparison(),
            "target": self.promise(),
            "kept": self.kept(),
            "rounds": { "machinist": self.machinist, "peer": self.peer },
        })
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unit::Seconds => " s",
            Unit::Milliseconds => " ms",
            Unit::Microseconds => " µs",
            Unit::Mebibytes => " MiB",
            Unit::PerSecond => "/s",
            Unit::Percent => " %",
            Unit::Count => "",
        })
    }
}

/// The middle value; of two, the mean.
pub(super) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match (sorted.len() / 2, sorted.len() % 2) {
        (_, 0) if sorted.is_empty() => f64::NAN,
        (middle, 0) => f64::midpoint(sorted[middle - 1], sorted[middle]),
        (middle, _) => sorted[middle],
    }
}

/// The value below which so many percent of the values lie.
pub(super) fn percentile(values: &[f64], percent: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (sorted.len() as f64 * percent / 100.0).ceil() as usize;
    let found = sorted.get(rank.saturating_sub(1));
    found.copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(machinist: f64, peer: f64, target: Target) -> Figure {
        Figure {
            name: "a figure",
            unit: Unit::Milliseconds,
            machinist: vec![machinist],
            peer: vec![peer],
            target,
        }
    }

    #[test]
    fn one_slow_round_does_not_count() {
        assert_eq!(median(&[900.0, 1.0, 3.0]), 3.0);
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), 2.5);
    }

    #[test]
    fn a_promise_is_kept_up_to_its_limit() {
        let kept = |machinist, target| figure(machinist, 200.0, target).kept();
        assert_eq!(kept(10.0, Target::Fraction(20.0)), Some(true));
        assert_eq!(kept(10.1, Target::Fraction(20.0)), Some(false));
        assert_eq!(kept(300.0, Target::More(100.0)), Some(true));
        assert_eq!(kept(300.1, Target::More(100.0)), Some(false));
        assert_eq!(kept(260.0, Target::AtMostTimes(1.3)), Some(true));
        assert_eq!(kept(260.1, Target::AtMostTimes(1.3)), Some(false));
        assert_eq!(kept(40.0, Target::Below(40.0)), Some(false));
        assert_eq!(kept(1.0, Target::Told), None);
    }

    #[test]
    fn a_rate_is_better_when_it_is_higher() {
        let rate = |ours| figure(ours, 100.0, Target::Times(3.0));
        assert_eq!(rate(300.0).kept(), Some(true));
        assert_eq!(rate(299.0).kept(), Some(false));
        assert_eq!(rate(250.0).comparison(), "2.5x");
    }

    #[test]
    fn a_percentile_is_one_of_the_values() {
        let values: Vec<f64> = (1..=200).rev().map(f64::from).collect();
        assert_eq!(percentile(&values, 99.0), 198.0);
        assert_eq!(percentile(&values, 50.0), 100.0);
        assert_eq!(percentile(&[7.0], 99.0), 7.0);
    }

    #[test]
    fn a_comparison_reads_as_a_fraction_or_a_difference() {
        let words = |target| figure(50.0, 200.0, target).comparison();
        assert_eq!(words(Target::Fraction(20.0)), "1/4.0");
        assert_eq!(words(Target::More(100.0)), "-150.0 ms");
    }
}
