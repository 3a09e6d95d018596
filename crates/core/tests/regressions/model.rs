//! A model of the engine's loop in a few lines, out of which a rule can be taken.

use machinist_core::machine::{
    Absence, Facts, MachineId, MachineKey, PowerState, Seen, Situation, Step, plan,
};

use crate::support::{able, facts, want};

/// What keeps a bug away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rule {
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
pub(crate) enum Hitch {
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
pub(crate) struct World {
    pub(crate) lacks: Option<Rule>,
    /// The platform's lookup may be behind the times; then it knows its tokens.
    pub(crate) eventual: bool,
    /// The platform knows no tokens.
    pub(crate) tokenless: bool,
    pub(crate) exists: bool,
    pub(crate) deleting: bool,
    pub(crate) bound: bool,
    pub(crate) known: Option<MachineId>,
    pub(crate) machines: Vec<Facts>,
    pub(crate) made: u32,
    /// How often one was asked for.
    pub(crate) asked: u32,
    /// Machines of others that were removed.
    pub(crate) wronged: u32,
}

impl World {
    pub(crate) fn new(lacks: Option<Rule>) -> World {
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

    pub(crate) fn has(&self, rule: Rule) -> bool {
        self.lacks != Some(rule)
    }

    pub(crate) fn delete(&mut self) {
        self.deleting = true;
        // Without a finalizer an object goes at once.
        if !self.bound {
            self.exists = false;
        }
    }

    pub(crate) fn create(&mut self) {
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
    pub(crate) fn look(&self, hitch: Hitch) -> (Option<Vec<Facts>>, Absence) {
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
    pub(crate) fn pass(&mut self, hitch: Hitch) {
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
            refused: None,
            can: able(),
        });
        self.take(&step, hitch, seen.as_deref().unwrap_or_default());
    }

    pub(crate) fn take(&mut self, step: &Step, hitch: Hitch, seen: &[Facts]) {
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

    pub(crate) fn passes(&mut self, hitches: &[Hitch]) {
        hitches.iter().for_each(|hitch| self.pass(*hitch));
        (0..6).for_each(|_| self.pass(Hitch::None));
    }

    /// One machine for an object, none without, and nobody else's touched.
    pub(crate) fn is_well(&self) -> bool {
        let ours = self.machines.iter().filter(|m| m.key == key()).count();
        let right = match (self.exists, self.deleting) {
            (true, false) => ours == 1,
            (true, true) => false,
            (false, _) => ours == 0,
        };
        right && self.wronged == 0
    }
}

pub(crate) fn key() -> MachineKey {
    facts("i", PowerState::Running).key
}
