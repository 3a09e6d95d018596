//! The fault table on QEMU, with guests that boot: `cargo test` takes the cells that matter most,
//! `make soak` takes all of them, in real time.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use async_trait::async_trait;
use machinist_core::{
    machine::Facts,
    provider::{Provider, ProviderResult, ProviderSpec},
};
use machinist_providers::{
    Accelerator, Qemu, QemuConfig,
    fault::{Faulty, Script, Verb},
};
use serde_json::{Value, json};

use super::{
    Row, cell, row,
    scenario::{At, Kind, SCENARIOS, Scenario, Struck},
    table,
};
use crate::{
    lab::{Pace, Platform, in_real_time},
    support::peers,
};

/// QEMU on this host, in a directory of its own.
struct Guests {
    root: tempfile::TempDir,
    image: PathBuf,
    script: Script,
    /// Whether a look may be behind the times.
    eventual: bool,
    /// A driver that nothing strikes, to look behind the engine's back.
    bare: Qemu,
}

impl Guests {
    fn new(image: &Path, struck: Struck) -> Guests {
        let root = tempfile::tempdir().expect("a directory");
        Guests {
            bare: Qemu::new(config(root.path())).expect("a driver"),
            image: image.to_owned(),
            script: Script::default(),
            eventual: matches!(struck, Some((_, Kind::Stale))),
            root,
        }
    }

    /// QEMU processes of this platform, seen from outside the driver.
    fn processes(&self) -> Vec<i32> {
        let entries = fs::read_dir("/proc").expect("a /proc").flatten();
        let ours = entries.filter(|entry| {
            let directory = fs::read_link(entry.path().join("cwd"));
            directory.is_ok_and(|directory| directory.starts_with(self.root.path()))
        });
        ours.filter_map(|entry| entry.file_name().to_string_lossy().parse().ok())
            .collect()
    }
}

/// Whatever still runs ends with the test, however that ends.
impl Drop for Guests {
    fn drop(&mut self) {
        for pid in self.processes() {
            if let Some(pid) = rustix::process::Pid::from_raw(pid) {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
        }
    }
}

fn config(root: &Path) -> QemuConfig {
    QemuConfig {
        accelerator: Accelerator::Tcg,
        node: "test-host".to_owned(),
        stop_grace: Duration::from_secs(1),
        ..QemuConfig::new(root)
    }
}

#[async_trait]
impl Platform for Guests {
    fn provider(&self) -> Value {
        json!({"type": "qemu", "region": "here", "config": {"timeout": "15s"}})
    }

    fn machine(&self) -> Value {
        json!({"spec": {
            "memory": 134_217_728_u64,
            "os": {"imageID": self.image},
            "providerConfig": {"name": "qemu"},
        }})
    }

    async fn connect(&self, _: &ProviderSpec) -> ProviderResult<Arc<dyn Provider>> {
        let driver = Qemu::new(config(self.root.path())).expect("a driver");
        let faulty = Faulty::new(Arc::new(driver), self.script.clone());
        Ok(Arc::new(match self.eventual {
            true => faulty.eventual(),
            false => faulty,
        }))
    }

    fn script(&self) -> &Script {
        &self.script
    }

    async fn machines(&self) -> Vec<Facts> {
        let key = self.script.calls().into_iter().find_map(|call| call.key);
        match key {
            Some(key) => self.bare.list(key.cluster()).await.unwrap_or_default(),
            None => Vec::new(),
        }
    }

    async fn leftovers(&self) -> Vec<String> {
        let entries = fs::read_dir(self.root.path().join("machines"));
        let names = entries.into_iter().flatten().flatten();
        let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let processes = self
            .processes()
            .into_iter()
            .map(|pid| format!("process {pid}"));
        names
            .filter(|name| name != ".lock")
            .chain(processes)
            .collect()
    }

    fn pace(&self) -> Pace {
        Pace {
            pause: Duration::from_millis(500),
            patience: Duration::from_secs(300),
            late: Duration::from_secs(20),
        }
    }
}

/// The guest, where there are guests.
fn guest() -> Option<PathBuf> {
    peers::program("qemu-system-x86_64")?;
    peers::peer("MACHINIST_GUEST_IMAGE")
}

#[test]
fn guests_survive_what_matters_most() {
    let Some(image) = guest() else { return };
    let _alone = peers::boot_guests();
    let cells = [
        (Scenario::Create, Verb::Create, Kind::Crash),
        (Scenario::Create, Verb::Create, Kind::Repeat),
        (Scenario::Attach, Verb::Update, Kind::Crash),
        (Scenario::Power, Verb::Update, Kind::Late),
        (Scenario::Resize, Verb::Update, Kind::Fail),
        (Scenario::Delete, Verb::Delete, Kind::Crash),
    ];
    let bad: Vec<String> = in_real_time(async |lab| {
        let mut bad = Vec::new();
        for (scenario, verb, kind) in cells {
            let struck = Some((At::First(verb), kind));
            let outcome = cell(lab, Guests::new(&image, struck), scenario, struck).await;
            println!("{} {verb:?} {kind:?}: {outcome:?}", scenario.name());
            bad.extend(
                outcome
                    .err()
                    .map(|why| format!("{}, {kind:?}: {why}", scenario.name())),
            );
        }
        bad
    });
    assert!(bad.is_empty(), "{bad:#?}");
}

/// All cells of it, the scenarios side by side: most of a cell is waiting for a guest or a limit.
#[test]
#[ignore = "hundreds of guests boot: make soak"]
fn guests_survive_every_fault_at_every_call() {
    let Some(image) = guest() else { return };
    let _alone = peers::boot_guests();
    let lead = |scenario| {
        let guests = |struck| Guests::new(&image, struck);
        let row = in_real_time(async |lab| row(lab, scenario, guests, 1).await);
        // The whole takes long; what is known is told.
        println!("{}", row.0);
        row
    };
    let rows: Vec<Row> = std::thread::scope(|scope| {
        let running: Vec<_> = SCENARIOS
            .map(|scenario| scope.spawn(move || lead(scenario)))
            .into();
        let joined = running.into_iter().map(|row| row.join().expect("no panic"));
        joined.collect()
    });
    table("qemu", rows);
}
