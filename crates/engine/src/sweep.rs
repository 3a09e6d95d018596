//! Orphans: machines that carry a key of this cluster whose object is no more. What is one, and
//! what may be done about it, is decided here, without I/O.
//!
//! An orphan is reported first, after it was one for a while. It is removed only when a person
//! names it, and only a few at a time.

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use machinist_core::machine::{Facts, MachineId};
use tokio::time::Instant;

/// How long a machine must have been without an object before anything is said about it.
pub(crate) const GRACE: Duration = Duration::from_secs(600);
/// How often a provider is swept.
pub(crate) const SWEEP_EVERY: Duration = Duration::from_secs(60);
/// How many orphans are removed in one sweep.
const AT_A_TIME: usize = 1;

/// What was found at one provider so far.
#[derive(Debug, Default)]
pub(crate) struct Sweep {
    last: Option<Instant>,
    since: HashMap<MachineId, Instant>,
    reported: HashSet<MachineId>,
}

/// What a sweep leads to.
#[derive(Debug, PartialEq)]
pub(crate) struct Findings {
    /// Orphans that were not reported yet.
    pub(crate) report: Vec<Facts>,
    /// Orphans that somebody asked to have removed.
    pub(crate) remove: Vec<Facts>,
}

impl Sweep {
    /// Whether the next sweep is due; if so, it counts as begun.
    pub(crate) fn is_due(&mut self, now: Instant) -> bool {
        let due = self.last.is_none_or(|last| now >= last + SWEEP_EVERY);
        if due {
            self.last = Some(now);
        }
        due
    }

    /// Judges what a provider lists. `living` are the UIDs of all objects, read after the list:
    /// a machine whose object was there before it is not an orphan.
    pub(crate) fn judge(
        &mut self,
        listed: Vec<Facts>,
        living: &HashSet<String>,
        named: &[String],
        now: Instant,
    ) -> Findings {
        let orphans: Vec<Facts> = listed
            .into_iter()
            .filter(|facts| !living.contains(facts.key.machine()))
            .collect();
        let ids: HashSet<MachineId> = orphans.iter().map(|facts| facts.id.clone()).collect();
        self.since.retain(|id, _| ids.contains(id));
        self.reported.retain(|id| ids.contains(id));
        let mut findings = Findings {
            report: Vec::new(),
            remove: Vec::new(),
        };
        for orphan in orphans {
            let since = *self.since.entry(orphan.id.clone()).or_insert(now);
            if now < since + GRACE {
                continue;
            }
            // It is reported once before it can be removed.
            if self.reported.insert(orphan.id.clone()) {
                findings.report.push(orphan);
            } else if named.iter().any(|id| id == orphan.id.as_str())
                && findings.remove.len() < AT_A_TIME
            {
                findings.remove.push(orphan);
            }
        }
        findings
    }
}

#[cfg(test)]
mod tests {
    use machinist_core::machine::MachineKey;

    use super::*;

    fn facts(id: &str) -> Facts {
        Facts {
            id: MachineId::new(id),
            key: MachineKey::new("cluster", format!("uid-{id}")).unwrap(),
            ..crate::testing::facts(0, "cluster")
        }
    }

    fn ids(all: &[Facts]) -> Vec<&str> {
        all.iter().map(|facts| facts.id.as_str()).collect()
    }

    #[test]
    fn an_orphan_is_reported_after_its_grace_and_removed_only_when_named() {
        let mut sweep = Sweep::default();
        let start = Instant::now();
        let living = HashSet::from(["uid-a".to_owned()]);
        let named = ["a", "b"].map(str::to_owned);
        let mut at = |after, named: &[String]| {
            let listed = ["a", "b", "c"].map(facts).to_vec();
            sweep.judge(listed, &living, named, start + after)
        };
        let early = at(Duration::ZERO, &named);
        assert!(early.report.is_empty() && early.remove.is_empty());
        let first = at(GRACE, &named);
        assert_eq!(
            ids(&first.report),
            ["b", "c"],
            "reported before anything else"
        );
        assert!(first.remove.is_empty());
        assert!(at(GRACE, &[]).remove.is_empty(), "nobody asked");
        let told = at(GRACE, &named);
        // The living one is not touched, whatever is asked.
        assert_eq!((ids(&told.report), ids(&told.remove)), (vec![], vec!["b"]));
    }

    #[test]
    fn few_are_removed_at_a_time_and_an_object_that_returns_saves_its_machine() {
        let mut sweep = Sweep::default();
        let start = Instant::now();
        let listed = || ["b", "c"].map(facts).to_vec();
        let nobody = HashSet::new();
        let named = ["b", "c"].map(str::to_owned);
        sweep.judge(listed(), &nobody, &named, start);
        sweep.judge(listed(), &nobody, &named, start + GRACE);
        let told = sweep.judge(listed(), &nobody, &named, start + GRACE);
        assert_eq!(told.remove.len(), AT_A_TIME);
        let back = HashSet::from(["uid-b".to_owned(), "uid-c".to_owned()]);
        let saved = sweep.judge(listed(), &back, &named, start + GRACE);
        assert!(saved.remove.is_empty());
        // Its grace begins anew.
        let again = sweep.judge(listed(), &nobody, &named, start + GRACE);
        assert!(again.report.is_empty() && again.remove.is_empty());
    }

    #[test]
    fn sweeps_have_their_pace() {
        let mut sweep = Sweep::default();
        let start = Instant::now();
        assert!(sweep.is_due(start));
        assert!(!sweep.is_due(start + SWEEP_EVERY / 2));
        assert!(sweep.is_due(start + SWEEP_EVERY));
    }
}
