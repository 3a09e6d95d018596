//! The memory of idle processes, as the kernel accounts for it.

use std::{
    fs,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use tokio::time::sleep;

use super::{host::kibibytes, process::Process};

/// What a start leaves to be done is done after this.
const SETTLING: Duration = Duration::from_secs(5);
const BETWEEN: Duration = Duration::from_secs(1);
/// A garbage collector may never come to rest; after this the last look counts.
const PATIENCE: Duration = Duration::from_secs(30);
/// Looks that must agree, and by how much.
const LOOKS: usize = 3;
const AGREEMENT: f64 = 0.01;

/// Memory in MiB.
#[derive(Debug)]
pub(super) struct Memory {
    /// Every page that is in memory.
    pub(super) resident: f64,
    /// The same, with shared pages divided among those who share them.
    pub(super) proportional: f64,
}

/// The sum over the processes, once it no longer changes.
pub(super) async fn idle(processes: &mut [&mut Process]) -> Result<Memory> {
    sleep(SETTLING).await;
    let began = Instant::now();
    let mut looks: Vec<Memory> = Vec::new();
    loop {
        let mut sum = Memory {
            resident: 0.0,
            proportional: 0.0,
        };
        for process in &mut *processes {
            process.check()?;
            let memory = of(process.id())?;
            sum.resident += memory.resident;
            sum.proportional += memory.proportional;
        }
        looks.push(sum);
        let steady = looks.len() >= LOOKS && is_steady(&looks[looks.len() - LOOKS..]);
        if (steady || began.elapsed() > PATIENCE)
            && let Some(last) = looks.pop()
        {
            return Ok(last);
        }
        sleep(BETWEEN).await;
    }
}

fn is_steady(looks: &[Memory]) -> bool {
    let resident = looks.iter().map(|look| look.resident);
    let (least, most) = resident.fold((f64::INFINITY, 0.0_f64), |(least, most), value| {
        (least.min(value), most.max(value))
    });
    most - least <= most * AGREEMENT
}

fn of(pid: u32) -> Result<Memory> {
    let path = format!("/proc/{pid}/smaps_rollup");
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
    let mebibytes = |name: &str| {
        let value = kibibytes(&text, name).with_context(|| format!("{path} has no {name}"))?;
        anyhow::Ok(value as f64 / 1024.0)
    };
    Ok(Memory {
        resident: mebibytes("Rss")?,
        proportional: mebibytes("Pss")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_still_grows_is_not_steady() {
        let looks = |values: [f64; 3]| {
            values.map(|resident| Memory {
                resident,
                proportional: 0.0,
            })
        };
        assert!(is_steady(&looks([100.0, 100.5, 100.9])));
        assert!(!is_steady(&looks([100.0, 101.0, 103.0])));
    }

    #[test]
    fn this_process_has_memory() {
        let memory = of(std::process::id()).unwrap();
        assert!(memory.resident >= memory.proportional, "{memory:?}");
        assert!(memory.proportional > 0.0, "{memory:?}");
    }
}
