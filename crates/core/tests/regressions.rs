//! Public bugs of this field, each as a scenario that ends well, and that ends badly when the
//! rule that guards it is taken out. The engine's loop is modelled here in a few lines, so that a
//! rule can be taken out of it; the real loop is proven with the same faults by the engine's own
//! tests.
#![allow(clippy::expect_used, reason = "a failed assumption is a failed test")]

mod support;

use machinist_core::machine::{
    Absence, Facts, MachineId, MachineKey, PowerState, Seen, Situation, Step, plan,
};
use support::{able, facts, want};

/// What keeps a bug away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// Finalizer and key are durable before the first call.
    BindFirst,
    /// What exists is looked for by key before anything is created.
    LookFirst,
    /// The platform's own token makes a create that is repeated the same create.
    Token,
    /// A throttle, a time-out or an error is not absence.
    UnknownIsNotAbsent,
    /// A step is taken on the object as it is now, not as a cache has it.
    FreshObject,
    /// An object goes only when its machine is proven to be gone.
    ProofBeforeRelease,
    /// What carries another key is not touched.
    Ownership,
    /// Two machines with one key are not guessed away.
    NoGuess,
}

/// What goes wrong in one pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hitch {
    None,
    /// The create takes effect, and the process dies before it hears of it.
    CrashAfterCreate,
    /// The look is refused for now.
    Throttled,
    /// The look is behind the times, and shows nothing.
    StaleLook,
    /// The pass is made on the object as it was when it was new.
    StaleObject,
    /// Another engine, which lost its lease, makes the same pass at the same time.
    TwoEngines,
    /// The object is deleted by hand between the decision to create and what follows from it.
    DeletedMeanwhile,
}

/// One object, one platform, and an engine that may lack a rule.
struct World {
    lacks: Option<Rule>,
    /// The platform's lookup may be behind the times; then it knows its tokens.
    eventual: bool,
    /// The platform knows no tokens.
    tokenless: bool,
    exists: bool,
    deleting: bool,
    bound: bool,
    known: Option<MachineId>,
    machines: Vec<Facts>,
    made: u32,
    /// How often one was asked for.
    asked: u32,
    /// Machines of others that were removed.
    wronged: u32,
}

impl World {
    fn new(lacks: Option<Rule>) -> World {
        World {
            lacks,
            eventual: false,
            tokenless: false,
            exists: true,
            deleting: false,
            bound: false,
            known: None,
            machines: Vec::new(),
            made: 0,
            asked: 0,
            wronged: 0,
        }
    }

    fn has(&self, rule: Rule) -> bool {
        self.lacks != Some(rule)
    }

    fn delete(&mut self) {
        self.deleting = true;
        // Without a finalizer an object goes at once.
        if !self.bound {
            self.exists = false;
        }
    }

    fn create(&mut self) {
        let ours = key();
        let there = self.machines.iter().any(|machine| machine.key == ours);
        self.asked += 1;
        if there && self.has(Rule::Token) && !self.tokenless {
            return;
        }
        self.made += 1;
        let id = format!("i-{}", self.made);
        self.machines.push(facts(&id, PowerState::Running));
    }

    /// What a look gives: what is there, and whether nothing there proves anything.
    fn look(&self, hitch: Hitch) -> (Option<Vec<Facts>>, Absence) {
        let ours = |machine: &&Facts| machine.key == key() || !self.has(Rule::Ownership);
        let there: Vec<Facts> = self.machines.iter().filter(ours).cloned().collect();
        match hitch {
            Hitch::Throttled if self.has(Rule::UnknownIsNotAbsent) => (None, Absence::Apparent),
            Hitch::Throttled => (Some(Vec::new()), Absence::Proven),
            Hitch::StaleLook => {
                let by_id = |id: &MachineId| there.iter().find(|m| m.id == *id).cloned();
                let strong = self.has(Rule::ProofBeforeRelease);
                match self.known.as_ref().filter(|_| strong) {
                    Some(id) => (Some(by_id(id).into_iter().collect()), Absence::Proven),
                    None if strong => (Some(Vec::new()), Absence::Apparent),
                    None => (Some(Vec::new()), Absence::Proven),
                }
            }
            _ if self.eventual && there.is_empty() && self.known.is_none() => {
                (Some(there), Absence::Apparent)
            }
            _ => (Some(there), Absence::Proven),
        }
    }

    /// One pass of one engine.
    fn pass(&mut self, hitch: Hitch) {
        if !self.exists {
            return;
        }
        let stale = hitch == Hitch::StaleObject && !self.has(Rule::FreshObject);
        let want = want();
        let (mut seen, absence) = self.look(hitch);
        if !self.has(Rule::LookFirst) && self.known.is_none() {
            // It goes by what it remembers, and it remembers nothing.
            seen = Some(Vec::new());
        }
        if !self.has(Rule::NoGuess)
            && let Some(machines) = seen.as_mut()
        {
            // "The oldest is the right one, and the others are leftovers."
            for extra in machines.split_off(machines.len().min(1)) {
                self.machines.retain(|machine| machine.id != extra.id);
                self.wronged += 1;
            }
        }
        let bound = self.bound || !self.has(Rule::BindFirst);
        let step = plan(Situation {
            deleting: self.deleting && !stale,
            bound,
            want: Some(&want),
            seen: seen.as_deref().map_or(Seen::Unknown, Seen::Machines),
            absence,
            can: able(),
        });
        self.take(&step, hitch, seen.as_deref().unwrap_or_default());
    }

    fn take(&mut self, step: &Step, hitch: Hitch, seen: &[Facts]) {
        match step {
            Step::Bind => self.bound = true,
            Step::Create | Step::Reclaim => {
                if hitch == Hitch::DeletedMeanwhile {
                    self.delete();
                }
                self.create();
                if hitch == Hitch::TwoEngines {
                    self.create();
                }
                if hitch == Hitch::CrashAfterCreate {
                    return;
                }
                // Only now does an engine without the rule think of its finalizer.
                self.bound |= self.exists;
                self.known = self.machines.last().map(|machine| machine.id.clone());
            }
            Step::Delete(id) => {
                let foreign = |m: &&Facts| m.id == *id && m.key != key();
                self.wronged += u32::from(self.machines.iter().any(|m| foreign(&m)));
                self.machines.retain(|machine| machine.id != *id);
            }
            Step::Release => self.exists = false,
            Step::Update(..) | Step::Wait(_) | Step::Stall(_) | Step::Settled => {
                if let [machine] = seen {
                    self.known = Some(machine.id.clone());
                }
            }
        }
    }

    fn passes(&mut self, hitches: &[Hitch]) {
        hitches.iter().for_each(|hitch| self.pass(*hitch));
        (0..6).for_each(|_| self.pass(Hitch::None));
    }

    /// One machine for an object, none without, and nobody else's touched.
    fn is_well(&self) -> bool {
        let ours = self.machines.iter().filter(|m| m.key == key()).count();
        let right = match (self.exists, self.deleting) {
            (true, false) => ours == 1,
            (true, true) => false,
            (false, _) => ours == 0,
        };
        right && self.wronged == 0
    }
}

fn key() -> MachineKey {
    facts("i", PowerState::Running).key
}

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
