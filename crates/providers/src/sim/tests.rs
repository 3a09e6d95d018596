//! The simulator's own promises: faults strike where they were put, and are counted.

use std::time::Duration;

use machinist_core::machine::PowerState;

use super::*;
use crate::conformance::smallest_want;

fn key() -> MachineKey {
    MachineKey::new("cluster", "machine").unwrap()
}

#[tokio::test]
async fn a_lost_answer_has_its_effect_and_a_dropped_call_has_none() {
    let sim = Sim::new(SimCloud::new(SimOptions::default()));
    let want = smallest_want("one");
    sim.cloud().fault_at(0, Fault::Before);
    sim.cloud().fault_at(1, Fault::LostAnswer);
    assert!(sim.create(&key(), &want).await.is_err());
    assert_eq!(sim.cloud().count(), 0);
    assert!(sim.create(&key(), &want).await.is_err());
    assert_eq!(sim.cloud().count(), 1);
    sim.create(&key(), &want).await.unwrap();
    assert_eq!((sim.cloud().count(), sim.cloud().made()), (1, 1));
    let faults: Vec<_> = sim.cloud().calls().iter().map(|call| call.fault).collect();
    assert_eq!(faults, [Some(Fault::Before), Some(Fault::LostAnswer), None]);
}

#[tokio::test]
async fn without_idempotency_a_second_create_is_a_duplicate() {
    let cloud = SimCloud::new(SimOptions {
        idempotent: false,
        ..SimOptions::default()
    });
    let sim = Sim::new(cloud.clone());
    sim.create(&key(), &smallest_want("one")).await.unwrap();
    sim.create(&key(), &smallest_want("one")).await.unwrap();
    assert_eq!(sim.find(&key()).await.unwrap().len(), 2);
    assert_eq!(cloud.peak_duplicates(), 2);
}

#[tokio::test]
async fn a_stale_look_tells_what_was_before_the_last_change() {
    let sim = Sim::new(SimCloud::new(SimOptions::default()));
    sim.create(&key(), &smallest_want("one")).await.unwrap();
    sim.cloud().fault_next(Verb::Find, Fault::Stale);
    assert!(sim.find(&key()).await.unwrap().is_empty());
    assert_eq!(sim.find(&key()).await.unwrap().len(), 1);
    sim.cloud()
        .fault_next(Verb::Find, Fault::Throttle { retry_after: None });
    assert_eq!(sim.find(&key()).await.unwrap_err().reason(), "Throttled");
}

#[tokio::test(start_paused = true)]
async fn changes_take_their_time() {
    let minute = Duration::from_secs(60);
    let cloud = SimCloud::new(SimOptions {
        latency: Duration::from_secs(1),
        transition: Transition::After(minute),
        ..SimOptions::default()
    });
    let sim = Sim::new(cloud);
    let begun = tokio::time::Instant::now();
    let facts = sim.create(&key(), &smallest_want("one")).await.unwrap();
    assert_eq!(facts.power, PowerState::Creating);
    assert_eq!(begun.elapsed(), Duration::from_secs(1));
    tokio::time::advance(minute).await;
    assert_eq!(
        sim.find(&key()).await.unwrap()[0].power,
        PowerState::Running
    );
    sim.delete(&key(), &facts.id, None).await.unwrap();
    assert_eq!(
        sim.find(&key()).await.unwrap()[0].power,
        PowerState::Deleting
    );
    tokio::time::advance(minute).await;
    assert!(sim.find(&key()).await.unwrap().is_empty());
}

#[tokio::test]
async fn looks_are_counted() {
    let sim = Sim::new(SimCloud::new(SimOptions {
        transition: Transition::Looks(2),
        ..SimOptions::default()
    }));
    sim.create(&key(), &smallest_want("one")).await.unwrap();
    let mut seen = Vec::new();
    for _ in 0..3 {
        seen.push(sim.find(&key()).await.unwrap()[0].power);
    }
    assert_eq!(
        seen,
        [
            PowerState::Creating,
            PowerState::Creating,
            PowerState::Running
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_machine_that_is_asked_to_start_again_and_again_gets_there() {
    let sim = Sim::new(SimCloud::new(SimOptions {
        transition: Transition::After(Duration::from_secs(3)),
        ..SimOptions::default()
    }));
    let mut want = smallest_want("one");
    want.power = machinist_core::machine::Power::Off;
    let facts = sim.create(&key(), &want).await.unwrap();
    tokio::time::advance(Duration::from_secs(3)).await;
    for _ in 0..4 {
        sim.update(&key(), &facts.id, &Change::Start).await.unwrap();
        let seen = sim.find(&key()).await.unwrap()[0].power;
        assert_eq!(seen, PowerState::Starting);
        tokio::time::advance(Duration::from_millis(900)).await;
    }
    assert_eq!(
        sim.find(&key()).await.unwrap()[0].power,
        PowerState::Running
    );
}
