//! What a person gets wrong, or does behind everybody's back: a condition and an event that name
//! the way out, nothing lost, and nothing of another owner touched.

use std::{collections::BTreeSet, time::Duration};

use k8s_openapi::api::core::v1::Secret;
use kube::{Api, api::DeleteParams};
use machinist_api::vitistack::{Machine, MachinePhase};
use machinist_core::machine::{Facts, MachineKey, PowerState};
use machinist_providers::{SimCloud, SimOptions, sim::Transition};
use serde_json::json;

use crate::{
    lab::{Declared, Life, in_virtual_time, simulated},
    world::{condition, phase_of},
};

/// Leads a life on a simulator like this one; ten minutes are enough for anything to come right.
fn with(options: SimOptions, work: impl AsyncFnOnce(&mut Life<'_>)) {
    in_virtual_time(async |lab| {
        let mut life = Life::begin(lab, simulated(options)).await;
        life.patience = Duration::from_secs(600);
        work(&mut life).await;
        life.end().await;
    });
}

/// The same with a machine that is there.
fn with_machine(work: impl AsyncFnOnce(&mut Life<'_>, &Declared)) {
    let options = SimOptions {
        transition: Transition::Looks(1),
        ..SimOptions::default()
    };
    with(options, async |life| {
        let declared = Declared::default();
        life.declare(&declared).await;
        life.until_as_declared(&declared).await.expect("made");
        work(life, &declared).await;
    });
}

fn meddle(life: &Life<'_>, change: impl FnOnce(&mut Facts)) {
    let cloud: &SimCloud = &life.platform;
    let id = cloud.snapshot()[0].id.clone();
    cloud.meddle(&id, |facts| {
        change(facts.expect("a machine"));
        true
    });
}

fn is(machine: &Machine, kind: &str, status: &str, reason: &str) -> bool {
    condition(machine, kind).is_some_and(|c| c.status == status && c.reason == reason)
}

/// Asserts that an event was posted that says these things.
async fn posted(life: &Life<'_>, about: &str, reason: &str, says: &[&str]) {
    let events = life.events(about).await;
    let found = events
        .iter()
        .any(|(why, note)| why == reason && says.iter().all(|words| note.contains(words)));
    assert!(found, "{reason} with {says:?} is not in {events:#?}");
}

fn images(names: &[&str]) -> Option<BTreeSet<String>> {
    Some(names.iter().map(|name| (*name).to_owned()).collect())
}

#[test]
fn a_spec_that_the_platform_refuses_says_what_it_takes() {
    let options = SimOptions {
        images: images(&["alpine"]),
        ..SimOptions::default()
    };
    with(options, async |life| {
        life.declare(&Declared::default()).await;
        let refused = |m: &Machine| is(m, "Stalled", "True", "Rejected");
        let machine = life.until("refused", refused).await;
        assert_eq!(phase_of(Some(&machine)), Some(MachinePhase::Failed));
        let says = ["no such image", "alpine"];
        let message = condition(&machine, "Stalled").expect("it").message;
        assert!(
            says.iter().all(|words| message.contains(words)),
            "{message}"
        );
        posted(life, "m", "CreateFailed", &says).await;
        assert_eq!(life.platform.count(), 0);
        // What was never made is let go at once.
        life.delete().await;
        life.until_gone().await.expect("gone");
    });
}

#[test]
fn an_image_that_vanished_leaves_what_runs_alone_and_is_waited_for() {
    with_machine(async |life, declared| {
        life.platform.set_images(images(&["alpine"]));
        tokio::time::sleep(Duration::from_secs(200)).await;
        life.until_as_declared(declared).await.expect("it runs on");
        assert_eq!(life.platform.made(), 1);
        // Only when the machine is gone too is the image missed.
        let id = life.platform.snapshot()[0].id.clone();
        life.platform.meddle(&id, |_| false);
        let refused = |m: &Machine| is(m, "Stalled", "True", "Rejected");
        life.until("refused", refused).await;
        posted(life, "m", "CreateFailed", &["no such image", "alpine"]).await;
        life.platform.set_images(None);
        life.until_as_declared(declared).await.expect("made anew");
    });
}

#[test]
fn a_machine_deleted_behind_our_back_is_made_anew_and_that_is_said() {
    with_machine(async |life, declared| {
        let id = life.platform.snapshot()[0].id.clone();
        life.platform.meddle(&id, |_| false);
        life.until("made anew", |m| {
            m.status.as_ref().and_then(|s| s.machine_id.as_deref()) == Some("sim-2")
        })
        .await;
        life.until_as_declared(declared).await.expect("one machine");
        posted(life, "m", "Vanished", &[id.as_str(), "made anew"]).await;
        assert_eq!(life.platform.made(), 2);
    });
}

#[test]
fn a_machine_stopped_behind_our_back_is_started() {
    with_machine(async |life, declared| {
        meddle(life, |facts| facts.power = PowerState::Stopped);
        life.until_as_declared(declared).await.expect("up again");
        posted(life, "m", "Started", &[]).await;
        assert_eq!(life.platform.made(), 1);
    });
}

#[test]
fn a_machine_resized_behind_our_back_is_resized_with_an_announced_restart() {
    with_machine(async |life, declared| {
        meddle(life, |facts| facts.cpus = Some(8));
        life.until_as_declared(declared).await.expect("as declared");
        posted(life, "m", "RestartNeeded", &["resize", "started again"]).await;
        posted(life, "m", "Resized", &[]).await;
    });
}

#[test]
fn a_machine_duplicated_behind_our_back_is_told_and_not_guessed_away() {
    with_machine(async |life, declared| {
        let id = life.platform.snapshot()[0].id.clone();
        life.platform.duplicate(&id);
        let told = |m: &Machine| is(m, "Stalled", "True", "Duplicates");
        life.until("told", told).await;
        posted(
            life,
            "m",
            "Duplicates",
            &["Remove all but one", "sim-1, sim-2"],
        )
        .await;
        tokio::time::sleep(Duration::from_secs(200)).await;
        assert_eq!(life.platform.count(), 2);
        // The way out.
        let twin = life.platform.snapshot()[1].id.clone();
        life.platform.meddle(&twin, |_| false);
        life.until_as_declared(declared).await.expect("one again");
    });
}

#[test]
fn a_tag_edited_by_hand_is_put_right_and_one_of_others_machine_is_not() {
    with_machine(async |life, declared| {
        let mut foreign = life.platform.snapshot()[0].clone();
        foreign.key = MachineKey::new(foreign.key.cluster(), "somebody-elses").expect("a key");
        life.platform.duplicate(&life.platform.snapshot()[0].id);
        let twin = life.platform.snapshot()[1].id.clone();
        life.platform.meddle(&twin, |facts| {
            let facts = facts.expect("a machine");
            facts.key = foreign.key.clone();
            facts.tags.insert("tag".into(), "theirs".into());
            true
        });
        let first = life.platform.snapshot()[0].id.clone();
        life.platform.meddle(&first, |facts| {
            let tags = &mut facts.expect("a machine").tags;
            tags.insert("tag".into(), "by hand".into());
            true
        });
        life.until("put right", |_| life.platform.snapshot()[0].tags.is_empty())
            .await;
        posted(life, "m", "Tagged", &[]).await;
        let theirs = &life.platform.snapshot()[1];
        assert_eq!(theirs.tags["tag"], "theirs");
        life.platform.meddle(&twin, |_| false);
        life.until_as_declared(declared).await.expect("as before");
    });
}

#[test]
fn a_provider_deleted_while_it_has_machines_says_which_hold_it() {
    with_machine(async |life, declared| {
        let providers = life.providers();
        let asked = providers.delete("cloud", &DeleteParams::default()).await;
        asked.expect("asked");
        tokio::time::sleep(Duration::from_secs(20)).await;
        posted(
            life,
            "cloud",
            "InUse",
            &["1 machines", "m among", "Delete them first"],
        )
        .await;
        let provider = life.providers().get("cloud").await.expect("it stays");
        let conditions = provider.status.expect("a status").conditions;
        assert!(
            conditions.iter().any(|c| c.reason == "InUse"),
            "{conditions:#?}"
        );
        life.until_as_declared(declared).await.expect("served on");
        life.delete().await;
        life.until_gone().await.expect("gone");
        let gone = life.providers().get_opt("cloud").await.expect("an answer");
        assert!(gone.is_none(), "the provider went after its last machine");
    });
}

#[test]
fn a_secret_that_is_gone_stops_the_work_and_not_the_machine() {
    with_machine(async |life, declared| {
        let secrets: Api<Secret> = life.secrets();
        let params = DeleteParams::default();
        secrets.delete("cloud-login", &params).await.expect("gone");
        let waits = |m: &Machine| {
            condition(m, "Ready").is_some_and(|c| {
                c.reason == "ProviderNotReady" && c.message.contains("Secret default/cloud-login")
            })
        };
        life.until("told", waits).await;
        posted(
            life,
            "cloud",
            "SecretNotFound",
            &["cloud-login", "create it"],
        )
        .await;
        assert_eq!(life.platform.snapshot()[0].power, PowerState::Running);
        life.rotate("not-to-be-seen-3").await;
        life.until_as_declared(declared).await.expect("back");
        assert_eq!(life.platform.made(), 1);
    });
}

#[test]
fn a_resize_that_the_platform_refuses_does_not_leave_the_machine_down() {
    let options = SimOptions {
        most_cpus: Some(8),
        transition: Transition::Looks(1),
        ..SimOptions::default()
    };
    with(options, async |life| {
        let mut declared = Declared::default();
        life.declare(&declared).await;
        life.until_as_declared(&declared).await.expect("made");
        life.patch(json!({"spec": {"cpu": {"cores": 64}}})).await;
        let told = |m: &Machine| {
            is(m, "Stalled", "True", "Rejected") && phase_of(Some(m)) == Some(MachinePhase::Running)
        };
        let machine = life.until("told and up", told).await;
        let message = condition(&machine, "Stalled").expect("it").message;
        assert!(message.contains("at most 8"), "{message}");
        posted(life, "m", "ResizeFailed", &["at most 8"]).await;
        let calls = life.platform.calls().len();
        // Neither time nor another engine stops it for the same refusal again.
        life.replace_engine();
        tokio::time::sleep(Duration::from_secs(300)).await;
        let later = &life.platform.calls()[calls..];
        let updates = later
            .iter()
            .filter(|c| c.verb == machinist_providers::sim::Verb::Update);
        assert_eq!(updates.count(), 0);
        declared.cores = 4;
        life.change(&declared).await;
        life.until_as_declared(&declared).await.expect("resized");
    });
}
