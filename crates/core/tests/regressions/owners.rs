//! Machines that are not ours, or of which it is not known which one is.

use machinist_core::machine::{Facts, MachineKey, PowerState};

use crate::{
    guards,
    model::{Hitch, Rule, World},
    support::facts,
};

/// A machine of somebody else.
fn foreign(id: &str) -> Facts {
    let mut foreign = facts(id, PowerState::Running);
    foreign.key = MachineKey::new("cluster", "other").expect("a key");
    foreign
}

#[test]
fn crabbox_796_a_machine_of_another_owner_is_not_touched() {
    guards(Rule::Ownership, |world| {
        world.passes(&[]);
        world.machines.push(foreign("i-foreign"));
        world.delete();
        world.passes(&[]);
    });
}

#[test]
fn crabbox_813_what_is_there_without_our_key_is_not_taken_over() {
    guards(Rule::Ownership, |world| {
        world.machines.push(foreign("i-foreign"));
        world.passes(&[]);
        world.delete();
        world.passes(&[]);
    });
}

#[test]
fn crabbox_998_a_machine_of_another_cluster_is_not_ours() {
    guards(Rule::Ownership, |world| {
        let mut elsewhere = facts("i-elsewhere", PowerState::Running);
        let name = elsewhere.key.machine().to_owned();
        elsewhere.key = MachineKey::new("another-cluster", name).expect("a key");
        world.machines.push(elsewhere);
        world.passes(&[]);
        world.delete();
        world.passes(&[]);
    });
}

#[test]
fn capmox_96_a_destroy_that_comes_again_does_not_hit_who_has_the_number_now() {
    guards(Rule::Ownership, |world| {
        world.passes(&[]);
        world.delete();
        world.pass(Hitch::None);
        // The platform gives the number that became free to somebody else.
        world.machines.push(foreign("i-1"));
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
