//! Public bugs of this field, each as a scenario that ends well, and that ends badly when the
//! rule that guards it is taken out. The engine's loop is modelled in a few lines, so that a rule can
//! be taken out of it; the real loop is proven with the same faults by the engine's own tests.
#![allow(clippy::expect_used, reason = "a failed assumption is a failed test")]

mod model;
mod support;

use machinist_core::machine::{MachineKey, PowerState};
use model::{Hitch, Rule, World};
use support::facts;

/// The scenario ends well with every rule, and badly without this one.
fn guards(rule: Rule, scenario: impl Fn(&mut World)) {
    for lacks in [None, Some(rule)] {
        let mut world = World::new(lacks);
        scenario(&mut world);
        let well = world.is_well();
        assert_eq!(
            well,
            lacks.is_none(),
            "without {lacks:?}: {} machines, {} made, {} of others removed, object {}",
            world.machines.len(),
            world.made,
            world.wronged,
            world.exists
        );
    }
}

#[test]
fn capa_1351_a_lost_answer_makes_no_second_machine() {
    guards(Rule::LookFirst, |world| {
        // On a platform that knows no tokens, looking is all that helps.
        world.tokenless = true;
        world.passes(&[Hitch::None, Hitch::CrashAfterCreate]);
    });
}

#[test]
fn capa_5794_a_crash_loop_makes_one_machine() {
    guards(Rule::Token, |world| {
        world.eventual = true;
        // Each restart looks before the platform shows what the last one made.
        world.passes(&[Hitch::None, Hitch::CrashAfterCreate]);
        for _ in 0..3 {
            world.known = None;
            world.pass(Hitch::StaleLook);
        }
        world.passes(&[]);
    });
}

#[test]
fn capa_6131_a_lost_provider_id_is_found_again_by_key() {
    guards(Rule::Token, |world| {
        world.eventual = true;
        world.passes(&[]);
        world.known = None;
        world.passes(&[Hitch::StaleLook]);
    });
}

#[test]
fn mcm_318_two_engines_after_a_lost_lease_make_one_machine() {
    guards(Rule::Token, |world| {
        world.passes(&[Hitch::None, Hitch::TwoEngines]);
    });
}

#[test]
fn terraform_aws_27543_a_repeated_request_is_the_same_request() {
    guards(Rule::Token, |world| {
        world.passes(&[Hitch::None, Hitch::TwoEngines, Hitch::TwoEngines]);
    });
}

#[test]
fn kubermatic_581_the_finalizer_is_there_before_the_machine() {
    guards(Rule::BindFirst, |world| {
        world.passes(&[Hitch::DeletedMeanwhile]);
        if world.exists && !world.deleting {
            world.delete();
            world.passes(&[]);
        }
    });
}

#[test]
fn virtrigaud_189_a_machine_whose_bind_was_lost_is_not_orphaned() {
    guards(Rule::BindFirst, |world| {
        world.pass(Hitch::CrashAfterCreate);
        world.delete();
        world.passes(&[]);
    });
}

#[test]
fn kubermatic_381_a_deleted_machine_is_not_made_again_from_a_stale_cache() {
    guards(Rule::FreshObject, |world| {
        world.passes(&[]);
        world.delete();
        world.pass(Hitch::None);
        // The machine is gone, and the cache still shows an object that wants it.
        for _ in 0..2 {
            world.pass(Hitch::StaleObject);
        }
        let again = world.made > 1;
        world.passes(&[]);
        world.wronged += u32::from(again);
    });
}

#[test]
fn caph_2099_a_rate_limit_is_not_a_deletion() {
    guards(Rule::UnknownIsNotAbsent, |world| {
        world.passes(&[]);
        world.passes(&[Hitch::Throttled]);
        // A token may make the second create harmless; that it was asked for is the bug.
        world.wronged += world.asked - 1;
    });
}

#[test]
fn packet_425_a_refused_look_does_not_let_the_object_go() {
    guards(Rule::UnknownIsNotAbsent, |world| {
        world.passes(&[]);
        world.delete();
        world.passes(&[Hitch::Throttled]);
    });
}

#[test]
fn karpenter_2734_a_machine_made_while_its_object_goes_is_removed() {
    guards(Rule::ProofBeforeRelease, |world| {
        world.eventual = true;
        world.passes(&[Hitch::None]);
        world.known = None;
        world.delete();
        world.passes(&[Hitch::StaleLook, Hitch::StaleLook]);
    });
}

#[test]
fn karpenter_549_a_lookup_behind_the_times_leaks_nothing() {
    guards(Rule::ProofBeforeRelease, |world| {
        world.eventual = true;
        world.passes(&[]);
        world.delete();
        world.passes(&[Hitch::StaleLook, Hitch::StaleLook]);
    });
}

#[test]
fn crossplane_3037_a_create_whose_end_is_unknown_needs_no_person() {
    let mut world = World::new(None);
    world.passes(&[Hitch::None, Hitch::CrashAfterCreate]);
    assert!(world.is_well() && world.made == 1);
}

#[test]
fn capmox_727_no_handle_of_a_task_is_remembered() {
    // A process that knows nothing of what its predecessor asked for goes by what is there.
    let mut world = World::new(None);
    world.passes(&[]);
    world.known = None;
    world.passes(&[]);
    assert!(world.is_well() && world.made == 1);
    world.delete();
    world.known = None;
    world.passes(&[]);
    assert!(world.is_well());
}

#[test]
fn crabbox_796_a_machine_of_another_owner_is_not_touched() {
    guards(Rule::Ownership, |world| {
        world.passes(&[]);
        let mut foreign = facts("i-foreign", PowerState::Running);
        foreign.key = MachineKey::new("cluster", "other").expect("a key");
        world.machines.push(foreign);
        world.delete();
        world.passes(&[]);
    });
}

#[test]
fn capv_199_duplicates_are_not_guessed_away() {
    for lacks in [None, Some(Rule::NoGuess)] {
        let mut world = World::new(lacks);
        world.passes(&[]);
        world.machines.push(facts("i-twin", PowerState::Running));
        world.passes(&[]);
        assert_eq!(world.machines.len() == 2, lacks.is_none(), "{lacks:?}");
    }
}
