//! One engine at a time: who holds the lease, who waits, and who may begin when.

use std::time::Duration;

use k8s_openapi::api::coordination::v1::Lease;
use kube::{
    Api,
    api::{Patch, PatchParams},
};
use machinist_engine::Election;
use serde_json::json;
use tokio::time::{Instant, timeout};

use crate::lab::{ApiFault, Lab, Wire, in_virtual_time};

const DURATION: Duration = Duration::from_secs(15);
/// In virtual time.
const LONG: Duration = Duration::from_secs(600);

fn candidate(lab: &Lab, wire: &Wire, identity: &str) -> Election {
    Election {
        client: lab.client(wire),
        namespace: "default".to_owned(),
        name: "engine".to_owned(),
        identity: identity.to_owned(),
        duration: DURATION,
    }
}

async fn lease(lab: &Lab) -> Lease {
    let api: Api<Lease> = Api::default_namespaced(lab.client(&Wire::new()));
    api.get("engine").await.expect("a lease")
}

async fn holder(lab: &Lab) -> Option<String> {
    lease(lab).await.spec.expect("a spec").holder_identity
}

#[test]
fn the_second_waits_until_the_first_gives_the_lease_back() {
    in_virtual_time(async |lab| {
        let wire = Wire::new();
        let first = candidate(lab, &wire, "one").win().await;
        let mut second = tokio::spawn(candidate(lab, &wire, "two").win());
        let early = timeout(10 * DURATION, &mut second).await;
        assert!(early.is_err(), "the first renews its lease");
        assert!(!first.is_lost());
        assert_eq!(holder(lab).await.as_deref(), Some("one"));
        let began = Instant::now();
        first.release().await;
        let second = timeout(LONG, second).await.expect("in time").expect("won");
        assert!(began.elapsed() < DURATION, "nothing to wait for");
        assert_eq!(holder(lab).await.as_deref(), Some("two"));
        let transitions = lease(lab)
            .await
            .spec
            .and_then(|spec| spec.lease_transitions);
        assert_eq!(transitions, Some(1));
        second.release().await;
        assert_eq!(holder(lab).await, None);
    });
}

#[test]
fn a_lease_that_nobody_renews_runs_out_by_the_clock_of_who_waits() {
    in_virtual_time(async |lab| {
        let dead = Wire::new();
        let first = candidate(lab, &dead, "one").win().await;
        // It is cut off for good: it must know before another begins.
        dead.judge(Some(Box::new(|_, _| Some(ApiFault::Lost))));
        let cut = Instant::now();
        let lost = tokio::spawn({
            let lost = first.lost();
            async move {
                lost.await;
                Instant::now()
            }
        });
        let second = candidate(lab, &Wire::new(), "two").win();
        let second = timeout(LONG, second).await.expect("in time");
        assert!(
            cut.elapsed() >= DURATION - Duration::from_secs(3),
            "no sooner"
        );
        let won = Instant::now();
        let lost = timeout(LONG, lost).await.expect("in time").expect("lost");
        assert!(lost < won, "the first knew before the second began");
        assert!(first.is_lost());
        // What is lost is not given back.
        dead.judge(None);
        first.release().await;
        assert_eq!(holder(lab).await.as_deref(), Some("two"));
        second.release().await;
    });
}

#[test]
fn a_holder_that_loses_some_answers_keeps_its_lease() {
    in_virtual_time(async |lab| {
        let wire = Wire::new();
        let first = candidate(lab, &wire, "one").win().await;
        let mut turn = 0;
        wire.judge(Some(Box::new(move |_, _| {
            turn += 1;
            match turn % 5 {
                0 => Some(ApiFault::Lost),
                2 => Some(ApiFault::AnswerLost),
                _ => None,
            }
        })));
        assert!(timeout(20 * DURATION, first.lost()).await.is_err());
        wire.judge(None);
        first.release().await;
    });
}

#[test]
fn somebody_who_takes_the_lease_by_hand_has_it() {
    in_virtual_time(async |lab| {
        let first = candidate(lab, &Wire::new(), "one").win().await;
        let api: Api<Lease> = Api::default_namespaced(lab.client(&Wire::new()));
        let patch = Patch::Merge(json!({ "spec": { "holderIdentity": "a person" } }));
        let patched = api.patch("engine", &PatchParams::default(), &patch).await;
        patched.expect("patched");
        timeout(DURATION, first.lost()).await.expect("it stops");
        assert_eq!(holder(lab).await.as_deref(), Some("a person"));
    });
}
