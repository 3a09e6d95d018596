//! Credentials that change while machines run: the next call is made with the new ones, and no
//! machine is looked at, written to or touched.

use std::{collections::BTreeMap, time::Duration};

use kube::{
    ResourceExt,
    api::{ListParams, Patch, PatchParams, PostParams},
};
use machinist_api::{conditions, vitistack::MachinePhase};
use machinist_providers::{SimOptions, sim::Verb};
use serde_json::json;

use crate::{
    lab::{Life, in_virtual_time, simulated},
    world::{phase_of, small_machine},
};

const FLEET: usize = 1000;
/// In virtual time.
const LIMIT: Duration = Duration::from_secs(600);

async fn declare(life: &Life<'_>, name: &str) {
    let api = life.machines();
    let machine = small_machine(name);
    let made = api.create(&PostParams::default(), &machine).await;
    made.expect("created");
}

async fn until_all_run(life: &Life<'_>) {
    let look = async {
        loop {
            let all = life.machines().list(&ListParams::default()).await;
            let mut all = all.expect("a list").items.into_iter();
            if all.all(|m| phase_of(Some(&m)) == Some(MachinePhase::Running)) {
                return;
            }
            // Seldom: a list of a thousand takes its time, and virtual time costs none.
            tokio::time::sleep(Duration::from_secs(20)).await;
        }
    };
    let done = tokio::time::timeout(LIMIT, look).await;
    done.expect("all machines run");
}

/// The version of every machine's object.
async fn versions(life: &Life<'_>) -> BTreeMap<String, Option<String>> {
    let all = life.machines().list(&ListParams::default()).await;
    let all = all.expect("a list").items.into_iter();
    all.map(|machine| (machine.name_any(), machine.resource_version()))
        .collect()
}

/// Reason and message of the provider's Ready condition.
async fn ready(life: &Life<'_>) -> (String, String) {
    let provider = life.providers().get("cloud").await.expect("a provider");
    let all = provider.status.map(|status| status.conditions);
    let all = all.unwrap_or_default();
    let ready = conditions::find(&all, "Ready").expect("it");
    (ready.reason.clone(), ready.message.clone())
}

#[test]
fn rotation_touches_none_of_a_thousand_machines_and_is_used_by_the_next_call() {
    in_virtual_time(async |lab| {
        let life = Life::begin(lab, simulated(SimOptions::default())).await;
        for number in 0..FLEET {
            declare(&life, &format!("m-{number}")).await;
        }
        until_all_run(&life).await;
        // What was just made is looked at for a while.
        tokio::time::sleep(Duration::from_secs(600)).await;
        let (before, calls) = (versions(&life).await, life.platform.calls().len());
        assert_eq!(before.len(), FLEET);
        life.rotate("not-to-be-seen-2").await;
        tokio::time::sleep(Duration::from_secs(3)).await;
        let later = life.platform.calls().split_off(calls);
        assert!(
            later.iter().any(|call| call.verb == Verb::Probe),
            "{later:?}"
        );
        let about_machines = later.iter().filter(|call| call.key.is_some()).count();
        assert_eq!(about_machines, 0, "no machine had a pass");
        let refused = later.iter().find(|call| !call.took_effect);
        assert!(refused.is_none(), "a call had the old token: {refused:?}");
        assert_eq!(versions(&life).await, before, "no machine was written");
        assert_eq!(ready(&life).await.0, "Connected");
        declare(&life, "new").await;
        until_all_run(&life).await;
        assert_eq!(life.platform.count(), FLEET + 1);
        let later = life.platform.calls().split_off(calls);
        assert!(later.iter().all(|call| call.took_effect));
    });
}

#[test]
fn a_secret_that_is_spoilt_is_told_by_its_key_and_taken_up_when_it_is_put_right() {
    in_virtual_time(async |lab| {
        let life = Life::begin(lab, simulated(SimOptions::default())).await;
        declare(&life, "m").await;
        until_all_run(&life).await;
        let params = PatchParams::default();
        let spoils = [
            (
                json!({"stringData": {"token": "two\nlines"}}),
                "SecretMalformed",
                "key token of Secret default/cloud-login",
            ),
            (
                json!({"data": {"token": null}}),
                "SecretKeyNotFound",
                "default/cloud-login has no key token",
            ),
        ];
        for (patch, reason, words) in spoils {
            let secrets = life.secrets();
            let patch = Patch::Merge(&patch);
            let patched = secrets.patch("cloud-login", &params, &patch).await;
            patched.expect("patched");
            tokio::time::sleep(Duration::from_secs(3)).await;
            let (told, message) = ready(&life).await;
            assert_eq!(told, reason, "{message}");
            assert!(message.contains(words), "{message}");
            assert!(!message.contains("two"), "{message}");
            assert_eq!(life.platform.count(), 1);
        }
        life.rotate("not-to-be-seen-3").await;
        tokio::time::sleep(Duration::from_secs(3)).await;
        assert_eq!(ready(&life).await.0, "Connected");
        until_all_run(&life).await;
        assert_eq!(life.platform.made(), 1);
    });
}
