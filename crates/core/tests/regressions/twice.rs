//! One object, and two machines: what was made was not known when it was asked for again.

use crate::{
    guards,
    model::{Hitch, Rule},
};

#[test]
fn capa_53_a_process_that_starts_anew_knows_what_the_last_one_made() {
    guards(Rule::LookFirst, |world| {
        world.tokenless = true;
        world.passes(&[]);
        world.known = None;
        world.passes(&[]);
    });
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
fn capa_1769_a_machine_that_is_not_found_for_a_moment_is_not_made_again() {
    guards(Rule::ProofBeforeRelease, |world| {
        (world.eventual, world.tokenless) = (true, true);
        // It was just made: the platform does not show it to everybody yet.
        world.passes(&[Hitch::None, Hitch::None, Hitch::StaleLook]);
    });
}

#[test]
fn capa_2915_a_healthy_machine_that_a_list_leaves_out_is_not_made_again() {
    guards(Rule::ProofBeforeRelease, |world| {
        (world.eventual, world.tokenless) = (true, true);
        // It has run for long.
        world.passes(&[]);
        world.passes(&[Hitch::StaleLook, Hitch::StaleLook]);
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
fn mcm_349_a_restart_in_the_midst_of_a_create_looks_first() {
    guards(Rule::LookFirst, |world| {
        world.tokenless = true;
        world.pass(Hitch::None);
        for _ in 0..2 {
            world.pass(Hitch::CrashAfterCreate);
        }
        world.passes(&[]);
    });
}

#[test]
fn karpenter_1448_a_panic_after_the_launch_launches_no_second_one() {
    guards(Rule::LookFirst, |world| {
        world.tokenless = true;
        world.pass(Hitch::None);
        world.pass(Hitch::CrashAfterCreate);
        // The program that comes next lives.
        world.passes(&[]);
    });
}

#[test]
fn karpenter_oci_97_a_launch_that_is_repeated_carries_the_same_token() {
    guards(Rule::Token, |world| {
        world.eventual = true;
        world.passes(&[Hitch::None, Hitch::CrashAfterCreate, Hitch::StaleLook]);
    });
}

#[test]
fn mapi_1535_a_clone_whose_task_was_not_written_down_is_not_asked_for_anew() {
    guards(Rule::Token, |world| {
        world.eventual = true;
        // The clone does not show before it is done.
        world.pass(Hitch::None);
        world.pass(Hitch::CrashAfterCreate);
        for _ in 0..3 {
            world.pass(Hitch::StaleLook);
            world.known = None;
        }
        world.passes(&[]);
    });
}

#[test]
fn crossplane_runtime_283_neither_an_old_object_nor_an_old_look_makes_a_second_one() {
    guards(Rule::Token, |world| {
        world.eventual = true;
        world.passes(&[Hitch::None, Hitch::None]);
        // The cache shows the object without the id of what was made.
        world.known = None;
        world.passes(&[Hitch::StaleLook, Hitch::StaleObject]);
    });
}

#[test]
fn upjet_aws_1482_what_was_forgotten_is_found_and_not_made_again() {
    guards(Rule::LookFirst, |world| {
        world.tokenless = true;
        world.passes(&[]);
        for _ in 0..2 {
            world.known = None;
            world.passes(&[]);
        }
    });
}

#[test]
fn terraform_aws_27543_a_repeated_request_is_the_same_request() {
    guards(Rule::Token, |world| {
        world.passes(&[Hitch::None, Hitch::TwoEngines, Hitch::TwoEngines]);
    });
}

#[test]
fn crossplane_3037_a_create_whose_end_is_unknown_needs_no_person() {
    guards(Rule::Token, |world| {
        world.eventual = true;
        // Nobody knows whether it was made, and the create is simply asked for again.
        world.passes(&[Hitch::None, Hitch::CrashAfterCreate, Hitch::StaleLook]);
        assert!(world.asked > 1 && world.known.is_some());
    });
}

#[test]
fn upjet_aws_1893_a_name_that_is_made_of_the_object_may_be_asked_for_again() {
    guards(Rule::Token, |world| {
        world.eventual = true;
        world.pass(Hitch::None);
        for _ in 0..3 {
            world.pass(Hitch::CrashAfterCreate);
            world.pass(Hitch::StaleLook);
        }
        world.passes(&[]);
    });
}

#[test]
fn capmox_727_no_handle_of_a_task_is_remembered() {
    // A process that knows nothing of what its predecessor asked for goes by what is there.
    guards(Rule::LookFirst, |world| {
        world.tokenless = true;
        world.passes(&[]);
        world.known = None;
        world.passes(&[]);
        let once = world.made == 1;
        world.delete();
        world.known = None;
        world.passes(&[]);
        world.wronged += u32::from(!once);
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
