//! How many machines are in which phase, and for how long they were: for the metrics alone.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use jiff::Timestamp;
use kube::runtime::watcher;
use machinist_api::vitistack::machine::MachinePhase;
use machinist_core::machine::Uid;

use crate::{Metrics, packed::Packed};

/// The phase of each machine, by UID.
#[derive(Default)]
pub(crate) struct Phases(Mutex<HashMap<Uid, Known>>);

#[derive(Clone, Copy)]
struct Known {
    phase: MachinePhase,
    /// Nothing when it was in its phase before anybody here looked.
    since: Option<Timestamp>,
}

impl Phases {
    /// A machine came, changed or went; the phase that it was seen to enter, if it was.
    pub(crate) fn machine_event(
        &self,
        event: &watcher::Event<Packed>,
        now: Timestamp,
        metrics: &Metrics,
    ) -> Option<MachinePhase> {
        let (machine, since) = match event {
            watcher::Event::InitApply(machine) => (machine, None),
            watcher::Event::Apply(machine) => (machine, Some(now)),
            watcher::Event::Delete(machine) => {
                if let Some(before) = self.lock().remove(&machine.short_uid()) {
                    leave(before, now, metrics);
                }
                return None;
            }
            watcher::Event::Init | watcher::Event::InitDone => return None,
        };
        let phase = machine.phase()?;
        let mut known = self.lock();
        let before = known.get(&machine.short_uid());
        if before.is_some_and(|before| before.phase == phase) {
            return None;
        }
        if let Some(before) = before {
            leave(*before, now, metrics);
        }
        metrics.in_phase(phase.as_str(), 1);
        known.insert(machine.short_uid(), Known { phase, since });
        since.map(|_| phase)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Uid, Known>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn leave(before: Known, now: Timestamp, metrics: &Metrics) {
    let phase = before.phase.as_str();
    metrics.in_phase(phase, -1);
    if let Some(since) = before.since {
        // A clock may be set back meanwhile.
        let seconds = now.duration_since(since).as_secs_f64().max(0.0);
        metrics.left_phase(phase, seconds);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn machine(uid: &str, phase: &str) -> Packed {
        let machine = json!({
            "metadata": {"name": uid, "uid": uid}, "spec": {}, "status": {"phase": phase},
        });
        serde_json::from_value(machine).expect("a machine")
    }

    #[test]
    fn a_machine_is_counted_in_one_phase_and_timed_when_it_leaves() {
        let (phases, metrics) = (Phases::default(), Metrics::default());
        let at = |second| Timestamp::from_second(second).expect("a time");
        let see = |event, second| phases.machine_event(&event, at(second), &metrics);
        see(watcher::Event::InitApply(machine("old", "Running")), 100);
        see(watcher::Event::Apply(machine("new", "Creating")), 100);
        see(watcher::Event::Apply(machine("new", "Creating")), 120);
        see(watcher::Event::Apply(machine("new", "Running")), 130);
        see(watcher::Event::Delete(machine("old", "Running")), 140);
        let text = metrics.encode();
        for line in [
            r#"machinist_machines{phase="Creating"} 0"#,
            r#"machinist_machines{phase="Running"} 1"#,
            r#"machinist_machine_phase_duration_seconds_sum{phase="Creating"} 30"#,
            r#"machinist_machine_phase_duration_seconds_count{phase="Creating"} 1"#,
        ] {
            assert!(text.contains(line), "{line} is not in {text}");
        }
        let timed = r#"machinist_machine_phase_duration_seconds_count{phase="Running"}"#;
        assert!(!text.contains(timed), "since when is not known: {text}");
    }
}
