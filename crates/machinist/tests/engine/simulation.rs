//! Lives of a machine that a seed makes up: changes of the declaration, engines that die or meet,
//! an API server that is out of reach, clocks that jump, and a platform that fails in every way
//! that platforms do. At every step, and when quiet returns: one machine, as declared, no orphan.
//!
//! `MACHINIST_SIM_SEED=7` leads one life and prints what happened in it; `MACHINIST_SIM_SEEDS`
//! says how many are led.

use std::time::Duration;

use machinist_core::provider::Lookup;
use machinist_providers::{
    SimOptions,
    sim::{Fault, Transition, Verb},
};

use crate::lab::{ApiFault, Declared, Dice, Lab, Life, in_virtual_time, simulated};

/// How many lives `cargo test` leads.
const LIVES: u64 = 60;
/// The most lives that one API server sees.
const BATCH: u64 = 50;
/// After how many lives it is said how far it is, where there are more.
const NEWS: u64 = 1000;

/// To learn which machine is to go, it may have to be made once more.
const ANY: u64 = 1000;

fn from_env(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// How the platform of a life is.
#[derive(Clone, Copy)]
struct World {
    /// It knows its tokens, and its lookup may be behind the times; else the opposite, and then
    /// one engine at a time must do without the platform's help.
    knows_tokens: bool,
}

fn options(dice: &Dice, world: World) -> SimOptions {
    let transitions = [
        Transition::Immediate,
        Transition::Looks(2),
        Transition::After(Duration::from_secs(3)),
    ];
    SimOptions {
        latency: Duration::from_millis(dice.below(200)),
        transition: dice.pick(&transitions),
        idempotent: world.knows_tokens,
        lookup: match world.knows_tokens {
            true => Lookup::Eventual,
            false => Lookup::Consistent,
        },
        ..SimOptions::default()
    }
}

/// The platform and the way to the API server have dice of their own, so that what happens does
/// not depend on how often they are asked.
fn trouble(dice: &Dice, world: World, life: &Life<'_>) {
    let (own, api) = (
        Dice::new(dice.below(u64::MAX)),
        Dice::new(dice.below(u64::MAX)),
    );
    life.platform.set_chaos(Some(Box::new(move |_, verb| {
        if !own.chance(25) {
            return None;
        }
        let retry_after = Some(Duration::from_secs(own.below(5)));
        let mut faults = vec![
            Fault::Before,
            Fault::LostAnswer,
            Fault::Throttle { retry_after },
            Fault::Delay(Duration::from_millis(700)),
        ];
        // Past the limit of a call; a create has half an hour, which would only take time here.
        if verb != Verb::Create {
            faults.push(Fault::Delay(Duration::from_secs(100)));
        }
        if world.knows_tokens {
            faults.push(Fault::Repeat);
        }
        if world.knows_tokens && verb == Verb::Find {
            faults.extend([Fault::Stale; 4]);
        }
        Some(own.pick(&faults))
    })));
    life.wire.judge(Some(Box::new(move |_, _| {
        let slow = ApiFault::Slow(Duration::from_millis(api.below(3000)));
        let faults = [ApiFault::Lost, ApiFault::AnswerLost, slow];
        api.chance(12).then(|| api.pick(&faults))
    })));
    life.wire
        .lag(Duration::from_millis(dice.pick(&[0, 0, 300, 5000])));
}

fn calm(life: &Life<'_>) {
    life.platform.set_chaos(None);
    life.wire.judge(None);
    life.wire.lag(Duration::ZERO);
    life.wire.cut();
}

/// Something that happens; true when the machine itself was taken away behind everybody's back.
async fn happen(dice: &Dice, world: World, life: &mut Life<'_>, declared: &mut Declared) -> bool {
    let what = dice.below(13);
    life.wire.note(&format!("event {what}"));
    match what {
        0 => declared.runs = !declared.runs,
        1 => declared.cores = 1 + u32::try_from(dice.below(4)).unwrap_or_default(),
        // A disk may grow, or go, but not shrink; nor may one that comes back, because nobody may have
        // looked while it was not declared, and it is the same one then.
        2 => {
            declared.data = match declared.data {
                Some(size) if dice.chance(50) => Some(size + 1),
                Some(_) => None,
                None => Some(declared.largest),
            };
            declared.largest = declared.largest.max(declared.data.unwrap_or_default());
        }
        3 => declared.second_nic = !declared.second_nic,
        4 => declared.tag = dice.pick(&[None, Some("a".to_owned()), Some("b".to_owned())]),
        5 => declared.restart = Some(format!("2026-01-0{}T00:00:00Z", 1 + dice.below(9))),
        6 | 7 => life.replace_engine(),
        8 if world.knows_tokens && life.engines() < 2 => life.add_engine(),
        8 | 9 if life.engines() > 1 => life.kill_engine(),
        10 => life.jump_clock(dice.pick(&[-86_400, -60, 3600, 400_000])),
        11 => life.wire.cut(),
        12 => {
            let machines = life.platform.snapshot();
            let gone = dice.chance(50);
            if let Some(facts) = machines.first() {
                life.platform.meddle(&facts.id, |facts| {
                    if let Some(facts) = facts {
                        facts.power = machinist_core::machine::PowerState::Stopped;
                    }
                    !gone
                });
                return gone;
            }
        }
        _ => {}
    }
    if what <= 5 {
        life.change(declared).await;
    }
    false
}

/// Leads one life; what happened, and how it ended.
async fn lead(lab: &Lab, seed: u64) -> (Vec<String>, Result<(), String>) {
    let dice = Dice::new(seed);
    let world = World {
        knows_tokens: dice.chance(60),
    };
    // The watches' back-off rolls this one's dice.
    fastrand::seed(seed);
    let mut life = Life::begin(lab, simulated(options(&dice, world))).await;
    life.patience = Duration::from_secs(600);
    let outcome = live(&dice, world, &mut life).await;
    let mut log = life.wire.log();
    let calls = life.platform.calls();
    log.extend(calls.iter().map(|c| format!("{:?} {:?}", c.verb, c.fault)));
    life.end().await;
    (log, outcome)
}

async fn live(dice: &Dice, world: World, life: &mut Life<'_>) -> Result<(), String> {
    let mut declared = Declared::default();
    let mut lost = 0;
    trouble(dice, world, life);
    life.declare(&declared).await;
    for _ in 0..3 + dice.below(7) {
        tokio::time::sleep(Duration::from_millis(dice.pick(&[10, 400, 3000, 70_000]))).await;
        lost += u64::from(happen(dice, world, life, &mut declared).await);
        law(life, lost, 1)?;
    }
    if dice.chance(70) {
        calm(life);
        life.until_as_declared(&declared).await?;
        law(life, lost, 1)?;
        trouble(dice, world, life);
    }
    // An engine that lost its lease has ended by the time that anything is deleted: no platform
    // can tell a create that it was late with from one that is wanted.
    while life.engines() > 1 {
        life.kill_engine();
    }
    life.delete().await;
    for _ in 0..dice.below(4) {
        tokio::time::sleep(Duration::from_millis(dice.pick(&[10, 400, 3000, 70_000]))).await;
        life.replace_engine();
        law(life, lost, ANY)?;
    }
    calm(life);
    life.until_gone().await?;
    law(life, lost, ANY)
}

/// What must hold at every moment.
fn law(life: &Life<'_>, lost: u64, most: u64) -> Result<(), String> {
    if life.platform.peak_duplicates() > 1 {
        return Err("two machines carried one key".into());
    }
    let made = life.platform.made();
    match made > lost + most {
        true => Err(format!(
            "{made} machines were made, and {lost} were taken away"
        )),
        false => Ok(()),
    }
}

#[test]
fn lives_that_seeds_make_up_end_well() {
    if let Some(seed) = from_env("MACHINIST_SIM_SEED") {
        let (log, outcome) = in_virtual_time(async |lab| lead(lab, seed).await);
        println!("{}", log.join("\n"));
        assert_eq!(outcome, Ok(()), "seed {seed}");
        return;
    }
    let lives = from_env("MACHINIST_SIM_SEEDS").unwrap_or(LIVES);
    let first = from_env("MACHINIST_SIM_FIRST").unwrap_or(0);
    let next = std::sync::atomic::AtomicU64::new(0);
    let failed = std::sync::Mutex::new(Vec::new());
    let size = (lives / 8).clamp(1, BATCH);
    let batches = lives.div_ceil(size);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let batch = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    if batch >= batches {
                        return;
                    }
                    let seeds = first + batch * size..first + ((batch + 1) * size).min(lives);
                    let bad = in_virtual_time(async |lab| {
                        let mut bad = Vec::new();
                        for seed in seeds {
                            if let (_, Err(why)) = lead(lab, seed).await {
                                bad.push((seed, why));
                            }
                        }
                        bad
                    });
                    failed.lock().expect("no panic").extend(bad);
                    // Who leads many wants to know how far it is.
                    if batch.is_multiple_of(NEWS / BATCH) && lives > NEWS {
                        println!("some {} of {lives} lives were led", batch * size);
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().expect("no panic");
    for (seed, why) in &failed {
        println!("seed {seed}: {why}");
        println!(
            "  again: MACHINIST_SIM_SEED={seed} cargo test -p machinist --test engine lives_that -- --nocapture"
        );
    }
    assert!(
        failed.is_empty(),
        "{} of {lives} lives ended badly",
        failed.len()
    );
}

#[test]
fn the_same_seed_leads_the_same_life() {
    for seed in [3, 6] {
        let lead_once = || in_virtual_time(async |lab| lead(lab, seed).await);
        let (first, second) = (lead_once(), lead_once());
        let differs = first.0.iter().zip(&second.0).position(|(a, b)| a != b);
        assert_eq!(differs, None, "seed {seed} differs at line {differs:?}");
        assert_eq!(first, second, "seed {seed}");
    }
}
