//! The simulator passes the conformance suite, quick and slow.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use async_trait::async_trait;
use machinist_core::{machine::MachineKey, provider::Provider};
use machinist_providers::{
    Sim, SimCloud, SimOptions,
    conformance::{Fixture, run_all},
    sim::Transition,
};

struct Cloud(SimCloud);

#[async_trait]
impl Fixture for Cloud {
    async fn connect(&self) -> Arc<dyn Provider> {
        Arc::new(Sim::new(self.0.clone()))
    }

    async fn count(&self, key: &MachineKey) -> usize {
        self.0.count_of(key)
    }
}

async fn check(options: SimOptions) -> bool {
    let report = run_all(&Cloud(SimCloud::new(SimOptions {
        images: Some(BTreeSet::from(["debian".to_owned()])),
        ..options
    })))
    .await;
    println!("{report}");
    report.passed()
}

#[tokio::test]
async fn the_simulator_conforms() {
    assert!(check(SimOptions::default()).await);
}

#[tokio::test(start_paused = true)]
async fn a_slow_simulator_conforms() {
    let options = SimOptions {
        latency: Duration::from_millis(50),
        transition: Transition::After(Duration::from_secs(20)),
        ..SimOptions::default()
    };
    assert!(check(options).await);
    let options = SimOptions {
        transition: Transition::Looks(3),
        ..SimOptions::default()
    };
    assert!(check(options).await);
}

#[tokio::test]
async fn the_suite_notices_a_platform_without_idempotency() {
    let options = SimOptions {
        idempotent: false,
        ..SimOptions::default()
    };
    assert!(
        !check(options).await,
        "a suite that cannot fail proves nothing"
    );
}
