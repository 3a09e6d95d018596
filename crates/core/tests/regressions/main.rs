//! Public bugs of this field, each as a scenario that ends well, and that ends badly when the
//! rule that guards it is taken out. The engine's loop is modelled in a few lines, so that a rule can
//! be taken out of it; the real loop is proven with the same faults by the engine's own tests.
//! `docs/explanation/public-bugs.md` lists them all, and where each is held.
#![allow(clippy::expect_used, reason = "a failed assumption is a failed test")]

mod forgotten;
mod misread;
mod model;
mod owners;
#[path = "../support/mod.rs"]
mod support;
mod twice;

use std::collections::BTreeSet;

use model::{Rule, World};

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

/// The page that lists the bugs names every scenario, and none that is not there.
#[test]
fn the_list_of_bugs_is_complete() {
    let page = include_str!("../../../../docs/explanation/public-bugs.md");
    let code = [
        include_str!("forgotten.rs"),
        include_str!("misread.rs"),
        include_str!("owners.rs"),
        include_str!("twice.rs"),
        include_str!("../../../machinist/tests/engine/sweeper.rs"),
    ];
    // A name is a project and a number; what the test shows follows.
    let bug = |name: &str| {
        let digits = name.find(|c: char| c.is_ascii_digit())?;
        let rest = &name[digits..];
        let end = rest.find(|c: char| !c.is_ascii_digit());
        Some(name[..digits + end.unwrap_or(rest.len())].to_owned())
    };
    let tests = code.iter().flat_map(|code| code.lines());
    let tests =
        tests.filter_map(|line| line.trim().trim_start_matches("async ").strip_prefix("fn "));
    let held: BTreeSet<String> = tests
        .filter_map(|name| bug(name.split('(').next()?))
        .collect();
    let listed = page.lines().filter_map(|line| line.strip_prefix("| "));
    let listed = listed.flat_map(|row| row.split('`').skip(1).step_by(2));
    let listed: BTreeSet<String> = listed.map(str::to_owned).collect();
    assert_eq!(listed, held);
    assert!(held.len() > 30, "{held:?}");
}
