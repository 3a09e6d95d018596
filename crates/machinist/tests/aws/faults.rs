//! The fault table on EC2: for every call to its API in each scenario, everything that can go wrong
//! with it, and the verdict. `make faults` prints it whole; `cargo test` takes one cell of each
//! scenario, because each is a life of its own, in real time.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use crate::{
    cloud::{Fault, Moto},
    life::{Declared, Life},
    platform::moto,
};

/// How many lives are led at a time.
const AT_A_TIME: usize = 6;

/// What goes wrong with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Fail,
    Crash,
    Repeat,
    Late,
    Throttle,
    Stale,
    Error,
}

const KINDS: [Kind; 7] = [
    Kind::Fail,
    Kind::Crash,
    Kind::Repeat,
    Kind::Late,
    Kind::Throttle,
    Kind::Stale,
    Kind::Error,
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
            Kind::Crash => Fault::Delay(Duration::from_secs(3600)),
            Kind::Repeat => Fault::Repeat,
            // Longer than the limit of a call.
            Kind::Late => Fault::Delay(Duration::from_secs(5)),
            Kind::Throttle => Fault::Throttle,
            Kind::Stale => Fault::Stale,
            Kind::Error => Fault::ServerError,
        }
    }
}

/// One cell: how many calls the scenario made, when all is well after it.
async fn cell(moto: Arc<Moto>, scenario: &str, struck: Option<(u64, Kind)>) -> Result<u64, String> {
    let mut life = Life::begin(moto).await;
    let mut declared = Declared::default();
    let at_birth = ["create", "spec changed mid-way"].contains(&scenario);
    if !at_birth {
        life.declare(&declared).await;
        life.until_as_declared(&declared).await?;
    }
    let begin = life.platform.proxy.calls().len() as u64;
    if let Some((call, kind)) = struck {
        life.platform.proxy.fault_at(begin + call, kind.fault());
    }
    match scenario {
        "create" => life.declare(&declared).await,
        "spec changed mid-way" => {
            life.declare(&declared).await;
            declared.data = true;
            declared.kind = "t3.small";
            life.change(&declared).await;
        }
        "resize" => declared.kind = "t3.small",
        "power" => declared.runs = false,
        "attach" => {
            declared.data = true;
            declared.tag = Some("a");
        }
        "credentials rotated" => {
            life.rotate().await;
            // With the new ones something is to be done.
            declared.tag = Some("rotated");
        }
        "adopted after restart" => {
            life.end_engine().await;
            declared.tag = Some("adopted");
        }
        _ => life.delete().await,
    }
    if !at_birth && scenario != "delete" {
        life.change(&declared).await;
    }
    if scenario == "adopted after restart" {
        life.replace_engine().await;
    }
    if let Some((call, Kind::Crash)) = struck {
        crash(&mut life, begin + call).await;
    }
    if scenario != "delete" {
        life.until_as_declared(&declared).await?;
        if scenario == "credentials rotated" {
            life.until_rotated().await?;
        }
        if scenario == "power" {
            declared.runs = true;
            life.change(&declared).await;
            life.until_as_declared(&declared).await?;
        }
        if scenario == "attach" {
            declared.data = false;
            life.change(&declared).await;
            life.until_as_declared(&declared).await?;
        }
    }
    let made = |life: &Life| life.platform.proxy.calls().len() as u64 - begin;
    let mut calls = made(&life);
    if scenario != "delete" {
        life.delete().await;
    }
    life.until_gone().await?;
    if scenario == "delete" {
        calls = made(&life);
    }
    let made = life.platform.proxy.done("RunInstances");
    // A lookup behind the times may have it asked for once more, to learn which one is to go.
    let most = if matches!(struck, Some((_, Kind::Stale))) {
        2
    } else {
        1
    };
    match (made > most, life.tells_secrets().await) {
        (true, _) => Err(format!("{made} instances were made")),
        (_, true) => Err("a secret shows".to_owned()),
        (false, false) => Ok(calls),
    }
}

/// Ends the process as soon as the call was made; a scenario that makes no such call goes on.
async fn crash(life: &mut Life, call: u64) {
    for _ in 0..400 {
        let calls = life.platform.proxy.calls();
        let struck = calls.get(call as usize).filter(|call| call.fault.is_some());
        if struck.is_some_and(|call| call.outcome != crate::cloud::Outcome::Pending) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    life.replace_engine().await;
}

type Verdict = (&'static str, Kind, u64, Result<u64, String>);

/// Leads the lives of these cells, some at a time.
async fn lead(moto: &Arc<Moto>, cells: Vec<(&'static str, u64, Kind)>) -> Vec<Verdict> {
    let cells = Arc::new(Mutex::new(cells));
    let mut verdicts = Vec::new();
    let workers = (0..AT_A_TIME).map(|_| {
        let (cells, moto) = (cells.clone(), moto.clone());
        tokio::spawn(async move {
            let mut verdicts: Vec<Verdict> = Vec::new();
            loop {
                let next = cells.lock().expect("no panic").pop();
                let Some((scenario, call, kind)) = next else {
                    return verdicts;
                };
                let verdict = cell(moto.clone(), scenario, Some((call, kind))).await;
                verdicts.push((scenario, kind, call, verdict));
            }
        })
    });
    for worker in workers.collect::<Vec<_>>() {
        verdicts.extend(worker.await.expect("no panic"));
    }
    verdicts
}

#[tokio::test(flavor = "multi_thread")]
async fn every_fault_at_every_call_to_ec2() {
    let all = std::env::var_os("MACHINIST_FAULTS_ALL").is_some();
    let mut verdicts = Vec::new();
    print_head();
    if all {
        for scenario in SCENARIOS {
            // A new one each time: moto keeps whatever there ever was, and grows slow with it.
            let Some(moto) = moto() else {
                return;
            };
            let calls = cell(moto.clone(), scenario, None).await;
            let calls = calls.unwrap_or_else(|why| panic!("{scenario} without a fault: {why}"));
            assert!(
                calls > 1,
                "{scenario} makes {calls} calls, which shows nothing"
            );
            let cells = (0..calls).flat_map(|call| KINDS.map(|kind| (scenario, call, kind)));
            let of_scenario = lead(&moto, cells.collect()).await;
            print_row(scenario, Some(calls), &of_scenario);
            verdicts.extend(of_scenario);
        }
    } else {
        let Some(moto) = moto() else {
            return;
        };
        // Others each time would be a test that fails only sometimes.
        let calls = SCENARIOS.into_iter().zip([4, 2, 3, 5, 1, 0, 4, 1]);
        let kinds = KINDS.into_iter().cycle();
        let cells = calls
            .zip(kinds)
            .map(|((scenario, call), kind)| (scenario, call, kind));
        verdicts = lead(&moto, cells.collect()).await;
        for scenario in SCENARIOS {
            print_row(scenario, None, &verdicts);
        }
    }
    let bad = verdicts
        .into_iter()
        .filter_map(|(scenario, kind, call, verdict)| {
            let why = verdict.err()?;
            Some(format!("{scenario}, {kind:?} at call {call}: {why}"))
        });
    let bad: Vec<String> = bad.collect();
    assert!(bad.is_empty(), "{bad:#?}");
}

fn print_head() {
    let kinds = KINDS.map(|kind| format!("{:<13}", format!("{kind:?}")));
    println!("{:<30}{}", "aws: scenario (calls)", kinds.concat());
}

fn print_row(scenario: &str, calls: Option<u64>, verdicts: &[Verdict]) {
    let calls = calls.map(|calls| format!(" ({calls})")).unwrap_or_default();
    let cells = KINDS.map(|kind| {
        let of = verdicts.iter().filter(|v| v.0 == scenario && v.1 == kind);
        let of: Vec<_> = of.collect();
        let good = of.iter().filter(|verdict| verdict.3.is_ok()).count();
        let verdict = match of.len() {
            0 => "-".to_owned(),
            tried if tried == good => format!("ok {good}/{tried}"),
            tried => format!("BAD {good}/{tried}"),
        };
        format!("{verdict:<13}")
    });
    println!("{:<30}{}", format!("{scenario}{calls}"), cells.concat());
}
