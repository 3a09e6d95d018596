//! What is done to a machine while something goes wrong, on any platform.

use std::time::Duration;

use machinist_providers::fault::{Fault, Verb};

use crate::lab::{Declared, FIRST_TOKEN, Life, Pace, Platform};

/// What the Secret holds after it was rotated.
const NEXT_TOKEN: &str = "not-to-be-seen-2";

/// What goes wrong with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Fail,
    Crash,
    Repeat,
    Late,
    Throttle,
    Stale,
}

pub(super) const KINDS: [Kind; 6] = [
    Kind::Fail,
    Kind::Crash,
    Kind::Repeat,
    Kind::Late,
    Kind::Throttle,
    Kind::Stale,
];

/// A thing that happens to a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scenario {
    Create,
    Resize,
    Power,
    Attach,
    CredentialsRotated,
    AdoptedAfterRestart,
    SpecChangedMidway,
    Delete,
}

pub(super) const SCENARIOS: [Scenario; 8] = [
    Scenario::Create,
    Scenario::Resize,
    Scenario::Power,
    Scenario::Attach,
    Scenario::CredentialsRotated,
    Scenario::AdoptedAfterRestart,
    Scenario::SpecChangedMidway,
    Scenario::Delete,
];

impl Scenario {
    pub(super) fn name(self) -> &'static str {
        match self {
            Scenario::Create => "create",
            Scenario::Resize => "resize",
            Scenario::Power => "power",
            Scenario::Attach => "attach",
            Scenario::CredentialsRotated => "credentials rotated",
            Scenario::AdoptedAfterRestart => "adopted after restart",
            Scenario::SpecChangedMidway => "spec changed mid-way",
            Scenario::Delete => "delete",
        }
    }
}

impl Kind {
    fn fault(self, pace: Pace) -> Fault {
        match self {
            Kind::Fail => Fault::Before,
            // It takes effect, and the process dies before it hears of that.
            Kind::Crash | Kind::Late => Fault::Delay(pace.late),
            Kind::Repeat => Fault::Repeat,
            Kind::Throttle => Fault::Throttle {
                retry_after: Some(Duration::from_secs(1)),
            },
            Kind::Stale => Fault::Stale,
        }
    }
}

/// A call of a scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum At {
    /// By its number, from zero.
    Call(u64),
    /// The first of this verb.
    First(Verb),
}

/// What is struck, and how.
pub(super) type Struck = Option<(At, Kind)>;

/// Leads one life through the scenario: the number of its calls, when all is well after it.
pub(super) async fn lead<P: Platform>(
    life: &mut Life<'_, P>,
    scenario: Scenario,
    struck: Struck,
) -> Result<u64, String> {
    let (begin, declared) = play(life, scenario, struck).await?;
    let made = |life: &Life<'_, P>| life.platform.script().count() - begin;
    let mut calls = None;
    if let Some(declared) = &declared {
        life.until_as_declared(declared).await?;
        calls = Some(made(life));
        keeps_secrets(life).await?;
        life.delete().await;
    }
    life.until_gone().await?;
    let calls = calls.unwrap_or_else(|| made(life));
    keeps_secrets(life).await?;
    // A lookup behind the times may have it asked for once more, to learn which one is to go.
    let most = match struck {
        Some((_, Kind::Stale)) => 2,
        _ => 1,
    };
    match life.platform.tally() {
        Some((made, peak)) if peak > 1 || made > most => {
            Err(format!("{made} were made, {peak} at a time"))
        }
        _ => Ok(calls),
    }
}

/// What the Secret holds is nowhere else.
async fn keeps_secrets<P: Platform>(life: &Life<'_, P>) -> Result<(), String> {
    let said = life.said().await;
    match [FIRST_TOKEN, NEXT_TOKEN]
        .iter()
        .find(|t| said.contains(**t))
    {
        Some(token) => Err(format!("{token} was said in {said}")),
        None => Ok(()),
    }
}

/// Plays a scenario; how many calls had been made when it began, and the declaration at its end.
async fn play<P: Platform>(
    life: &mut Life<'_, P>,
    scenario: Scenario,
    struck: Struck,
) -> Result<(u64, Option<Declared>), String> {
    let pause = life.platform.pace().pause;
    let mut declared = Declared::default();
    if matches!(scenario, Scenario::Create | Scenario::SpecChangedMidway) {
        let begin = strike(life, struck);
        life.declare(&declared).await;
        if scenario == Scenario::SpecChangedMidway {
            tokio::time::sleep(Duration::from_millis(30)).await;
            declared.cores = 2;
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
        Scenario::Create | Scenario::SpecChangedMidway => {}
        Scenario::Resize => declared.cores = 2,
        Scenario::Power => declared.runs = false,
        Scenario::Attach => {
            declared.data = Some(1);
            declared.second_nic = true;
            declared.tag = Some("a".to_owned());
        }
        Scenario::Delete => {
            life.delete().await;
            watch_over(life, struck).await;
            return Ok((begin, None));
        }
        Scenario::AdoptedAfterRestart => life.replace_engine(),
        Scenario::CredentialsRotated => {
            life.rotate(NEXT_TOKEN).await;
            // A Secret is looked at with each probe. Meanwhile something is to be done.
            declared.tag = Some("rotated".to_owned());
        }
    }
    if scenario != Scenario::AdoptedAfterRestart {
        life.change(&declared).await;
    }
    watch_over(life, struck).await;
    if scenario == Scenario::CredentialsRotated {
        life.until_as_declared(&declared).await?;
    }
    if scenario == Scenario::Power {
        life.until_as_declared(&declared).await?;
        declared.runs = true;
        life.change(&declared).await;
        tokio::time::sleep(pause).await;
    }
    Ok((begin, Some(declared)))
}

fn strike<P: Platform>(life: &Life<'_, P>, struck: Struck) -> u64 {
    let script = life.platform.script();
    let begin = script.count();
    if let Some((at, kind)) = struck {
        let fault = kind.fault(life.platform.pace());
        match at {
            At::Call(call) => script.fault_at(begin + call, fault),
            At::First(verb) => script.fault_next(verb, fault),
        }
    }
    begin
}

/// Gives the scenario its time; a process that is to die does so when the call took effect.
async fn watch_over<P: Platform>(life: &mut Life<'_, P>, struck: Struck) {
    if let Some((_, Kind::Crash)) = struck {
        let patience = life.platform.pace().patience / 4;
        let hit = async {
            loop {
                let call = life.platform.script().struck();
                if call.is_some_and(|call| call.took_effect) {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        // A call that the platform refused takes no effect; the process dies all the same.
        let _ = tokio::time::timeout(patience, hit).await;
        life.replace_engine();
    }
    tokio::time::sleep(life.platform.pace().pause).await;
}
