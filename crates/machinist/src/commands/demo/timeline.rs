//! Where the time went, from `apply` to a guest that is up.

use std::{
    fmt,
    time::{Duration, Instant},
};

/// The moments of one run.
pub(super) struct Timeline {
    pub(super) applied: Instant,
    pub(super) accepted: Instant,
    pub(super) started: Option<Instant>,
    pub(super) running: Instant,
    pub(super) up: Instant,
}

impl Timeline {
    /// Machinist's own part: from apply until it had started QEMU. What follows is QEMU's
    /// start and the guest's boot.
    fn overhead(&self) -> Duration {
        let started = self.started.unwrap_or(self.running);
        started.saturating_duration_since(self.applied)
    }
}

impl fmt::Display for Timeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let since = |moment: Instant| moment.saturating_duration_since(self.applied).as_secs_f64();
        let started = self.started.unwrap_or(self.running);
        writeln!(f, "  apply            0.000 s")?;
        writeln!(f, "  accepted     {:>9.3} s", since(self.accepted))?;
        writeln!(
            f,
            "  created      {:>9.3} s   QEMU process started",
            since(started)
        )?;
        writeln!(
            f,
            "  running      {:>9.3} s   seen in status.phase",
            since(self.running)
        )?;
        writeln!(
            f,
            "  guest up     {:>9.3} s   marker on the serial console",
            since(self.up)
        )?;
        writeln!(f)?;
        let part = |from: Instant, to: Instant| to.saturating_duration_since(from).as_secs_f64();
        writeln!(
            f,
            "  Machinist    {:>9.3} s   apply → QEMU process",
            self.overhead().as_secs_f64()
        )?;
        writeln!(
            f,
            "  QEMU         {:>9.3} s   process → running",
            part(started, self.running)
        )?;
        writeln!(
            f,
            "  guest        {:>9.3} s   running → up",
            part(self.running.max(started), self.up)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_add_up() {
        let applied = Instant::now();
        let at = |milliseconds| applied + Duration::from_millis(milliseconds);
        let timeline = Timeline {
            applied,
            accepted: at(5),
            started: Some(at(40)),
            running: at(140),
            up: at(5140),
        };
        let text = timeline.to_string();
        assert!(text.contains("Machinist        0.040 s"), "{text}");
        assert!(text.contains("QEMU             0.100 s"), "{text}");
        assert!(text.contains("guest            5.000 s"), "{text}");
    }
}
