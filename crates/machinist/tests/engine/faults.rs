//! The fault table: for every call of each scenario, everything that can go wrong with it, and
//! the verdict. `make faults` prints it whole; `cargo test` takes one cell in eight of it, because
//! each is a life of its own.

use std::time::Duration;

use machinist_core::provider::Lookup;
use machinist_providers::{
    SimOptions,
    sim::{Fault, Transition},
};
use serde_json::json;

use crate::lab::{Declared, Lab, Life, in_virtual_time};

/// One cell in so many is tried, unless all are asked for.
const SAMPLE: u64 = 8;

/// What goes wrong with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Fail,
    Crash,
    Repeat,
    Late,
    Throttle,
    Stale,
}

const KINDS: [Kind; 6] = [
    Kind::Fail,
    Kind::Crash,
    Kind::Repeat,
    Kind::Late,
    Kind::Throttle,
    Kind::Stale,
];

const SCENARIOS: [&str; 8] = [
    "create",
    "resize",
    "power",
    "attach",
    "credentials rotated",
    "adopted after restart",
    "spec changed mid-way",
    "delete",
];

impl Kind {
    fn fault(self) -> Fault {
        match self {
            Kind::Fail => Fault::Before,
            // It takes effect, and the process dies before it hears of that.
            Kind::Crash => Fault::Delay(Duration::from_secs(3000)),
            Kind::Repeat => Fault::Repeat,
            Kind::Late => Fault::Delay(Duration::from_secs(4000)),
            Kind::Throttle => Fault::Throttle {
                retry_after: Some(Duration::from_secs(1)),
            },
            Kind::Stale => Fault::Stale,
        }
    }
}

/// Lets the engine see what is declared before the next thing happens.
async fn pause() {
    tokio::time::sleep(Duration::from_secs(20)).await;
}

/// Plays a scenario; how many calls had been made when it began, and the declaration at its end.
async fn play(
    life: &mut Life<'_>,
    scenario: &str,
    struck: Option<(u64, Kind)>,
) -> Result<(u64, Option<Declared>), String> {
    let mut declared = Declared::default();
    if scenario == "create" || scenario == "spec changed mid-way" {
        let begin = strike(life, struck);
        life.declare(&declared).await;
        if scenario == "spec changed mid-way" {
            tokio::time::sleep(Duration::from_millis(30)).await;
            declared.cores = 3;
            declared.data = Some(2);
            life.change(&declared).await;
        }
        watch_over(life, struck).await;
        return Ok((begin, Some(declared)));
    }
    life.declare(&declared).await;
    life.until_as_declared(&declared).await?;
    let begin = strike(life, struck);
    match scenario {
        "resize" => declared.cores = 4,
        "power" => declared.runs = false,
        "attach" => {
            declared.data = Some(1);
            declared.second_nic = true;
            declared.tag = Some("a".to_owned());
        }
        "delete" => {
            life.delete().await;
            watch_over(life, struck).await;
            return Ok((begin, None));
        }
        "adopted after restart" => life.replace_engine(),
        // Another generation of the provider is another connection.
        _ => {
            let patch = json!({"spec": {"config": {"timeout": "50s"}}});
            let patch = kube::api::Patch::Merge(&patch);
            let patched = life.providers();
            let patched = patched.patch("cloud", &Default::default(), &patch).await;
            patched.map_err(|error| error.to_string())?;
        }
    }
    if ["resize", "power", "attach"].contains(&scenario) {
        life.change(&declared).await;
    }
    watch_over(life, struck).await;
    if scenario == "power" {
        life.until_as_declared(&declared).await?;
        declared.runs = true;
        life.change(&declared).await;
        pause().await;
    }
    Ok((begin, Some(declared)))
}

fn strike(life: &Life<'_>, struck: Option<(u64, Kind)>) -> u64 {
    let begin = life.cloud.calls().len() as u64;
    if let Some((call, kind)) = struck {
        life.cloud.fault_at(begin + call, kind.fault());
    }
    begin
}

/// Gives the scenario its time; a process that is to die does so when the call was made.
async fn watch_over(life: &mut Life<'_>, struck: Option<(u64, Kind)>) {
    if let Some((_, Kind::Crash)) = struck {
        for _ in 0..3000 {
            if life.cloud.calls().iter().any(|call| call.fault.is_some()) {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        life.replace_engine();
    }
    pause().await;
}

/// One cell of the table: the number of calls of the scenario, when all is well after it.
async fn cell(lab: &Lab, scenario: &str, struck: Option<(u64, Kind)>) -> Result<u64, String> {
    let eventual = matches!(struck, Some((_, Kind::Stale)));
    let options = SimOptions {
        latency: Duration::from_millis(20),
        transition: Transition::Looks(1),
        lookup: if eventual {
            Lookup::Eventual
        } else {
            Lookup::Consistent
        },
        ..SimOptions::default()
    };
    let mut life = Life::begin(lab, options).await;
    pause().await;
    let outcome = verdict(&mut life, scenario, struck).await;
    life.end().await;
    outcome
}

async fn verdict(
    life: &mut Life<'_>,
    scenario: &str,
    struck: Option<(u64, Kind)>,
) -> Result<u64, String> {
    let (begin, declared) = play(life, scenario, struck).await?;
    let calls = life.cloud.calls().len() as u64 - begin;
    if let Some(declared) = &declared {
        life.until_as_declared(declared).await?;
        life.delete().await;
    }
    life.until_gone().await?;
    let (made, peak) = (life.cloud.made(), life.cloud.peak_duplicates());
    // A lookup behind the times may have it asked for once more, to learn which one is to go.
    let most = if matches!(struck, Some((_, Kind::Stale))) {
        2
    } else {
        1
    };
    match peak > 1 || made > most {
        true => Err(format!("{made} were made, {peak} at a time")),
        false => Ok(calls),
    }
}

#[test]
fn every_fault_at_every_call_of_every_scenario() {
    let rows: Vec<(String, Vec<String>)> = std::thread::scope(|scope| {
        let row = |scenario: &'static str| {
            move || in_virtual_time(async |lab| table_row(lab, scenario).await)
        };
        let running: Vec<_> = SCENARIOS
            .map(|scenario| scope.spawn(row(scenario)))
            .into_iter()
            .collect();
        running
            .into_iter()
            .map(|row| row.join().expect("no panic"))
            .collect()
    });
    println!(
        "{:<28}{}",
        "scenario (calls)",
        KINDS.map(|kind| format!("{kind:?}  ")).concat()
    );
    let mut bad = Vec::new();
    for (line, failures) in rows {
        println!("{line}");
        bad.extend(failures);
    }
    assert!(bad.is_empty(), "{bad:#?}");
}

async fn table_row(lab: &Lab, scenario: &str) -> (String, Vec<String>) {
    let mut failures = Vec::new();
    let calls = match cell(lab, scenario, None).await {
        Ok(calls) => calls,
        Err(why) => {
            failures.push(format!("{scenario} without a fault: {why}"));
            0
        }
    };
    let mut line = format!("{:<28}", format!("{scenario} ({calls})"));
    let every = if std::env::var_os("MACHINIST_FAULTS_ALL").is_some() {
        1
    } else {
        SAMPLE
    };
    for (kind, offset) in KINDS.into_iter().zip(0..) {
        let (mut good, mut tried) = (0, 0);
        for call in (0..calls).filter(|call| (call + offset) % every == 0) {
            tried += 1;
            match cell(lab, scenario, Some((call, kind))).await {
                Ok(_) => good += 1,
                Err(why) => failures.push(format!("{scenario}, {kind:?} at call {call}: {why}")),
            }
        }
        let verdict = if good == tried { "ok" } else { "BAD" };
        line.push_str(&format!("{verdict} {good}/{tried}  "));
    }
    (line, failures)
}
