//! Which traces are recorded.

use super::context::{TraceContext, TraceId};

/// Which traces are recorded, decided when they begin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sampler {
    /// What is part of a trace is recorded as the trace is.
    pub parent_based: bool,
    /// How many of the others are: from 0 to 1.
    pub ratio: f64,
}

impl Sampler {
    /// The one that is meant when none is named: all, but for what others began and do not record.
    pub const DEFAULT: Sampler = Sampler {
        parent_based: true,
        ratio: 1.0,
    };

    pub(super) fn samples(&self, parent: Option<&TraceContext>, trace: TraceId) -> bool {
        match parent {
            Some(parent) if self.parent_based => parent.sampled,
            _ => self.takes(trace),
        }
    }

    /// As the other implementations of OpenTelemetry do it: by the trace's number, so that all who
    /// are part of a trace decide the same.
    fn takes(&self, trace: TraceId) -> bool {
        const ALL: f64 = (1_u64 << 63) as f64;
        let bound = self.ratio * ALL;
        self.ratio >= 1.0 || ((trace.low() >> 1) as f64) < bound
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(sampler: Sampler, parent: Option<&TraceContext>) -> usize {
        let traces = (0..4000).map(|_| TraceId::random());
        traces
            .filter(|trace| sampler.samples(parent, *trace))
            .count()
    }

    #[test]
    fn as_many_are_taken_as_are_asked_for() {
        let of = |ratio| Sampler {
            parent_based: false,
            ratio,
        };
        assert_eq!(taken(of(1.0), None), 4000);
        assert_eq!(taken(of(0.0), None), 0);
        let quarter = taken(of(0.25), None);
        assert!((600..1400).contains(&quarter), "{quarter} of 4000");
    }

    #[test]
    fn a_part_is_recorded_as_the_whole_is() {
        let parent = |flag: &str| -> TraceContext {
            let id = "4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7";
            format!("00-{id}-{flag}").parse().unwrap()
        };
        let none = Sampler {
            parent_based: true,
            ratio: 0.0,
        };
        assert_eq!(taken(none, Some(&parent("01"))), 4000);
        assert_eq!(taken(Sampler::DEFAULT, Some(&parent("00"))), 0);
        let alone = Sampler {
            parent_based: false,
            ratio: 1.0,
        };
        assert_eq!(taken(alone, Some(&parent("00"))), 4000);
    }
}
