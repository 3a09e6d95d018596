//! Many machines on one platform: calls do not grow with their number, and what nobody tells of is
//! seen all the same.

use std::time::Duration;

use kube::{
    ResourceExt,
    api::{ListParams, Patch, PatchParams, PostParams},
};
use machinist_api::vitistack::{Machine, MachinePhase};
use machinist_core::machine::PowerState;
use machinist_providers::{SimOptions, sim::Verb};
use serde_json::json;

use crate::{
    lab::{Life, in_virtual_time, simulated},
    world::{phase_of, small_machine},
};

const FLEET: usize = 100;
/// In virtual time.
const LIMIT: Duration = Duration::from_secs(120);

async fn declare(life: &Life<'_>, count: usize) {
    for number in 0..count {
        let machine = small_machine(&format!("m-{number}"));
        let api = life.machines();
        let made = api.create(&PostParams::default(), &machine).await;
        made.expect("created");
    }
}

async fn until_all_run(life: &Life<'_>) {
    let look = async {
        loop {
            let all = life.machines().list(&ListParams::default()).await;
            let all = all.expect("a list").items;
            let runs = |m: &Machine| phase_of(Some(m)) == Some(MachinePhase::Running);
            if all.iter().all(runs) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let done = tokio::time::timeout(LIMIT, look).await;
    done.expect("all machines run");
}

/// The store's revision, which every durable write moves by one.
async fn revision(life: &Life<'_>) -> usize {
    let all = life.machines().list(&ListParams::default()).await;
    let version = all.expect("a list").metadata.resource_version;
    version.expect("a version").parse().expect("a number")
}

/// How many looks there were.
fn looks(life: &Life<'_>) -> usize {
    let verbs = [Verb::Find, Verb::FindAll, Verb::List];
    verbs.map(|verb| count(life, verb)).iter().sum()
}

fn count(life: &Life<'_>, verb: Verb) -> usize {
    let calls = life.platform.calls();
    calls.iter().filter(|call| call.verb == verb).count()
}

#[test]
fn calls_do_not_grow_with_the_machines() {
    in_virtual_time(async |lab| {
        let options = SimOptions {
            latency: Duration::from_millis(50),
            concurrency: Some(100),
            ..SimOptions::default()
        };
        let mut life = Life::begin(lab, simulated(options)).await;
        let before = revision(&life).await;
        declare(&life, FLEET).await;
        until_all_run(&life).await;
        // Declared, bound, running, and two events; some of the first are said to be being made,
        // and the provider's status counts them.
        let writes = revision(&life).await - before;
        assert!(writes < FLEET * 11 / 2, "{writes} writes");
        assert_eq!(count(&life, Verb::Create), FLEET);
        assert_eq!(life.platform.peak_duplicates(), 1);
        // Another engine knows of nothing, and has to look for every machine.
        let before = looks(&life);
        life.replace_engine();
        tokio::time::sleep(Duration::from_secs(30)).await;
        let looks = looks(&life) - before;
        assert!(looks < FLEET / 2, "{looks} looks at a start");
        let (finds, lists) = (count(&life, Verb::Find), count(&life, Verb::List));
        let together = count(&life, Verb::FindAll);
        tokio::time::sleep(Duration::from_secs(600)).await;
        assert_eq!(count(&life, Verb::Find), finds, "nothing changed");
        assert_eq!(count(&life, Verb::FindAll), together, "nothing changed");
        let lists = count(&life, Verb::List) - lists;
        assert!((9..30).contains(&lists), "{lists} lists in ten minutes");
        assert_eq!(count(&life, Verb::Create), FLEET);
        assert_eq!(count(&life, Verb::Update), 0);
    });
}

#[test]
fn what_a_platform_does_not_tell_is_seen_by_the_next_list() {
    in_virtual_time(async |lab| {
        let options = SimOptions {
            pushes: false,
            ..SimOptions::default()
        };
        let life = Life::begin(lab, simulated(options)).await;
        declare(&life, 3).await;
        until_all_run(&life).await;
        tokio::time::sleep(Duration::from_secs(60)).await;
        let all = life.platform.snapshot();
        // One is stopped, one is gone, one is let be.
        life.platform.meddle(&all[0].id, |facts| {
            facts.expect("a machine").power = PowerState::Stopped;
            true
        });
        life.platform.meddle(&all[1].id, |_| false);
        tokio::time::sleep(Duration::from_secs(20)).await;
        until_all_run(&life).await;
        let now = life.platform.snapshot();
        assert!(now.iter().all(|facts| facts.power == PowerState::Running));
        assert!(now.iter().any(|facts| facts.id == all[0].id));
        assert!(now.iter().any(|facts| facts.id == all[2].id));
        let gone = all[1].key.machine();
        let lost = life.machines().list(&ListParams::default()).await;
        let lost = lost.expect("a list").items;
        let lost = lost.iter().find(|m| m.uid().as_deref() == Some(gone));
        assert!(lost.is_some(), "its object stays");
    });
}

/// Seconds until a stop behind our back is seen.
async fn seen_after(life: &Life<'_>) -> u64 {
    let id = life.platform.snapshot()[0].id.clone();
    life.platform.meddle(&id, |facts| {
        facts.expect("a machine").power = PowerState::Stopped;
        true
    });
    let began = tokio::time::Instant::now();
    while count_of(life, &[PowerState::Stopped]) > 0 {
        assert!(began.elapsed() < LIMIT, "not seen");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    began.elapsed().as_secs()
}

fn count_of(life: &Life<'_>, powers: &[PowerState]) -> usize {
    let all = life.platform.snapshot();
    all.iter().filter(|f| powers.contains(&f.power)).count()
}

#[test]
fn a_platform_that_must_be_polled_is_polled_as_its_provider_says() {
    in_virtual_time(async |lab| {
        let options = SimOptions {
            pushes: false,
            ..SimOptions::default()
        };
        let life = Life::begin(lab, simulated(options)).await;
        declare(&life, 1).await;
        until_all_run(&life).await;
        for (interval, soonest, latest) in [("3s", 0, 3), ("70s", 20, 70)] {
            let patch = json!({"spec": {"config": {"customSettings": {"pollInterval": interval}}}});
            let (api, params) = (life.providers(), PatchParams::default());
            let declared = api.patch("cloud", &params, &Patch::Merge(&patch)).await;
            declared.expect("declared");
            // Until it is in force, and the last of what the old pace brought is seen.
            tokio::time::sleep(Duration::from_secs(80)).await;
            until_all_run(&life).await;
            let seconds = seen_after(&life).await;
            assert!(
                (soonest..=latest).contains(&seconds),
                "{interval}: {seconds} s"
            );
        }
    });
}
