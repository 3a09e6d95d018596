//! A machine without an object: it was let go before it was known to be gone, or to be at all.

use crate::{
    guards,
    model::{Hitch, Rule},
};

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
fn karpenter_549_a_lookup_behind_the_times_leaks_nothing() {
    guards(Rule::ProofBeforeRelease, |world| {
        world.eventual = true;
        world.passes(&[]);
        world.delete();
        world.passes(&[Hitch::StaleLook, Hitch::StaleLook]);
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
fn karpenter_hetzner_53_who_died_after_the_create_left_a_finalizer() {
    guards(Rule::BindFirst, |world| {
        world.pass(Hitch::CrashAfterCreate);
        world.pass(Hitch::CrashAfterCreate);
        // Whoever waits for the machine gives up.
        world.delete();
        world.passes(&[]);
    });
}

#[test]
fn karpenter_hetzner_61_no_id_does_not_mean_that_nothing_was_made() {
    guards(Rule::LookFirst, |world| {
        world.pass(Hitch::None);
        world.pass(Hitch::CrashAfterCreate);
        // The object goes before anybody wrote down what was made.
        world.delete();
        world.passes(&[]);
    });
}
