//! Public bugs of sweepers for orphans, on the real engine: each had machines removed that somebody
//! declared. Here the machine is named for removal from the beginning, as by a person who was wrong, so
//! that nothing but the rule that is told beside each test keeps it.

use std::time::Duration;

use kube::api::{Patch, PatchParams};
use machinist_api::names;
use machinist_core::machine::PowerState;
use machinist_providers::{SimOptions, sim::Transition};
use serde_json::json;

use crate::lab::{ApiFault, Declared, Life, Wire, in_virtual_time, simulated};

/// The first machine of the simulator.
const FIRST: &str = "sim-1";
/// Longer than the grace of an orphan and the sweeps in which it would be reported and removed.
const LONG: Duration = Duration::from_secs(1800);

/// Names the first machine as an orphan that is to go.
async fn condemn(life: &Life<'_>) {
    let named = json!({"metadata": {"annotations": {names::DELETE_ORPHANS_ANNOTATION: FIRST}}});
    let (providers, params) = (life.providers(), PatchParams::default());
    let asked = providers
        .patch("cloud", &params, &Patch::Merge(&named))
        .await;
    asked.expect("asked");
}

async fn is_spared(life: &Life<'_>) {
    let machines = life.platform.snapshot();
    let ids: Vec<&str> = machines.iter().map(|facts| facts.id.as_str()).collect();
    assert_eq!(ids, [FIRST]);
    let told = life.events("cloud").await;
    let swept = told.iter().any(|(reason, _)| reason.starts_with("Orphan"));
    assert!(!swept, "{told:#?}");
}

/// An engine began while the API server answered badly, took no objects for objects that are gone,
/// and removed every machine. Rule: who cannot ask for the objects sweeps nothing.
#[test]
fn mcm_657_an_engine_that_cannot_ask_for_objects_sweeps_nothing() {
    in_virtual_time(async |lab| {
        let mut life = Life::begin(lab, simulated(SimOptions::default())).await;
        let declared = Declared::default();
        life.declare(&declared).await;
        life.until_as_declared(&declared).await.expect("made");
        condemn(&life).await;
        // Providers can be read, and machines cannot.
        let lost = |path: &str| path.ends_with("/machines").then_some(ApiFault::Lost);
        life.wire.judge(Some(Box::new(move |_, path| lost(path))));
        life.replace_engine();
        tokio::time::sleep(LONG).await;
        is_spared(&life).await;
        life.wire.judge(None);
        life.until_as_declared(&declared).await.expect("as before");
        life.end().await;
    });
}

/// A sweeper whose view of the objects was behind met a machine that another engine had just made.
/// Rule: before anything is an orphan, the objects are read from the API server itself.
#[test]
fn mcm_provider_aws_127_a_view_that_is_behind_makes_no_orphan() {
    in_virtual_time(async |lab| {
        let mut life = Life::begin(lab, simulated(SimOptions::default())).await;
        condemn(&life).await;
        tokio::time::sleep(Duration::from_secs(10)).await;
        // The second engine hears of nothing new for longer than an orphan needs.
        let slow = Wire::new();
        slow.lag(LONG * 2);
        life.add_engine_over(&slow);
        tokio::time::sleep(Duration::from_secs(10)).await;
        let declared = Declared::default();
        life.declare(&declared).await;
        life.until_as_declared(&declared).await.expect("made");
        tokio::time::sleep(LONG).await;
        is_spared(&life).await;
        life.end().await;
    });
}

/// A sweeper met a machine that was still being made, and which its object did not know yet. Rule: what
/// an object is the owner of is told by the key alone, which is there before the machine.
#[test]
fn mcm_583_a_machine_that_is_being_made_is_not_swept() {
    in_virtual_time(async |lab| {
        let options = SimOptions {
            transition: Transition::After(LONG),
            ..SimOptions::default()
        };
        let mut life = Life::begin(lab, simulated(options)).await;
        life.patience = LONG * 2;
        condemn(&life).await;
        let declared = Declared::default();
        life.declare(&declared).await;
        tokio::time::sleep(LONG / 2).await;
        is_spared(&life).await;
        assert_ne!(life.platform.snapshot()[0].power, PowerState::Running);
        life.until_as_declared(&declared).await.expect("made");
        life.end().await;
    });
}
