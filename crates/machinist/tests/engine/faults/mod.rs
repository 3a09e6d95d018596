//! The fault table: for every call of each scenario, everything that can go wrong with it, and
//! the verdict. `make faults` prints it whole for the simulator; `cargo test` takes one cell in
//! eight of it, because each is a life of its own. Another platform is one more file that
//! implements [`Platform`](crate::lab::Platform) and calls [`table`].

mod qemu;
mod scenario;

use std::time::Duration;

use machinist_providers::{SimCloud, SimOptions, sim::Transition};
use scenario::{At, KINDS, Kind, SCENARIOS, Scenario, Struck, lead};

use crate::lab::{Lab, Life, Platform, in_virtual_time, lookup, simulated};

/// One cell in so many is tried, unless all are asked for.
const SAMPLE: u64 = 8;

/// One row of the table: its line, and what went wrong.
type Row = (String, Vec<String>);

fn simulator(struck: Struck) -> SimCloud {
    simulated(SimOptions {
        latency: Duration::from_millis(20),
        transition: Transition::Looks(1),
        lookup: lookup(matches!(struck, Some((_, Kind::Stale)))),
        ..SimOptions::default()
    })
}

/// One cell of the table: the number of calls of the scenario, when all is well after it.
async fn cell<P: Platform>(
    lab: &Lab,
    platform: P,
    scenario: Scenario,
    struck: Struck,
) -> Result<u64, String> {
    let mut life = Life::begin(lab, platform).await;
    tokio::time::sleep(life.platform.pace().pause).await;
    let outcome = lead(&mut life, scenario, struck).await;
    life.end().await;
    outcome
}

/// All cells of a scenario, each on a platform of its own.
async fn row<P: Platform>(
    lab: &Lab,
    scenario: Scenario,
    platform: impl Fn(Struck) -> P,
    every: u64,
) -> Row {
    let mut failures = Vec::new();
    let name = scenario.name();
    let calls = match cell(lab, platform(None), scenario, None).await {
        Ok(calls) => {
            assert!(calls > 1, "{name} makes {calls} calls, which shows nothing");
            calls
        }
        Err(why) => {
            failures.push(format!("{name} without a fault: {why}"));
            0
        }
    };
    let mut line = format!("{:<28}", format!("{name} ({calls})"));
    for (kind, offset) in KINDS.into_iter().zip(0..) {
        let (mut good, mut tried) = (0, 0);
        for call in (0..calls).filter(|call| (call + offset) % every == 0) {
            tried += 1;
            let struck = Some((At::Call(call), kind));
            match cell(lab, platform(struck), scenario, struck).await {
                Ok(_) => good += 1,
                Err(why) => {
                    let failure = format!("{name}, {kind:?} at call {call}: {why}");
                    println!("{failure}");
                    failures.push(failure);
                }
            }
        }
        let verdict = match tried {
            0 => "-".to_owned(),
            _ if tried == good => format!("ok {good}/{tried}"),
            _ => format!("BAD {good}/{tried}"),
        };
        line.push_str(&format!("{verdict:<14}"));
    }
    (line, failures)
}

/// Prints the table; fails when a cell did.
fn table(platform: &str, rows: Vec<Row>) {
    let kinds = KINDS.map(|kind| format!("{:<14}", format!("{kind:?}")));
    println!("{:<28}{}", format!("{platform} (calls)"), kinds.concat());
    let mut bad = Vec::new();
    for (line, failures) in rows {
        println!("{line}");
        bad.extend(failures);
    }
    assert!(bad.is_empty(), "{bad:#?}");
}

fn sample() -> u64 {
    match std::env::var_os("MACHINIST_FAULTS_ALL").is_some() {
        true => 1,
        false => SAMPLE,
    }
}

#[test]
fn every_fault_at_every_call_of_every_scenario() {
    let every = sample();
    let rows: Vec<Row> = std::thread::scope(|scope| {
        let lead = |scenario| {
            move || in_virtual_time(async |lab| row(lab, scenario, simulator, every).await)
        };
        let running: Vec<_> = SCENARIOS.map(|scenario| scope.spawn(lead(scenario))).into();
        let joined = running.into_iter().map(|row| row.join().expect("no panic"));
        joined.collect()
    });
    table("sim", rows);
}
