//! "I cannot tell you now" was read as "it is not there".

use crate::{
    guards,
    model::{Hitch, Rule},
};

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
fn cloud_provider_azure_5904_a_storm_of_throttles_removes_nothing() {
    guards(Rule::UnknownIsNotAbsent, |world| {
        world.tokenless = true;
        world.passes(&[]);
        world.passes(&[Hitch::Throttled; 5]);
    });
}

#[test]
fn autoscaler_6333_a_throttle_in_the_midst_of_a_create_makes_no_second_one() {
    guards(Rule::UnknownIsNotAbsent, |world| {
        world.tokenless = true;
        world.passes(&[Hitch::None, Hitch::CrashAfterCreate, Hitch::Throttled]);
    });
}
